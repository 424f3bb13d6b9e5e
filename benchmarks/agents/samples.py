"""Compares all samples with independent counts, or damages them all.

The samples of each agent, as they were collected, are laid out as the agent has them on a disk,
each set in a folder of its own, and given to `check.py`, or with `--mutations` to `mutations.py`.

    python benchmarks/agents/samples.py SAMPLES [--agent NAME] [--mutations TIMES]

SAMPLES has one folder an agent. Sessions of Claude Code are counted by `../samples_check.py`, so
without `--mutations` they are left out. Imports of chats (`chatgpt-export`, `claude-ai-export`) are
no logs, and `windsurf` has no samples.
"""

import argparse
import json
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from scratch import scratch

HERE = Path(__file__).parent
AGENTS = {
    "aider": "aider",
    "amp": "amp",
    "antigravity": "antigravity",
    "claude-code": "claude_code",
    "cline-roo": "cline",
    "codex": "codex",
    "continue": "continue_dev",
    "copilot-cli": "copilot_cli",
    "copilot-vscode": "copilot_vscode",
    "crush": "crush",
    "cursor": "cursor",
    "factory-droid": "factory_droid",
    "gemini-cli": "gemini_cli",
    "goose": "goose",
    "kiro": "kiro",
    "opencode": "opencode",
    "qwen-code": "qwen_code",
    "zed": "zed",
}
AT = 1_780_000_000_000
SESSION_ID = re.compile(rb'"sessionId":"([^"]+)"')


def copied(source: Path, target: Path) -> None:
    """Copy a file or a folder to a place whose parents may be missing."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True)
    else:
        shutil.copy(source, target)


def each_folder(samples: Path, place: Path) -> Iterator[Path]:
    """Sets that lie as the agent has them."""
    for source in sorted(path for path in samples.iterdir() if path.is_dir()):
        copied(source, place / source.name)
        yield place / source.name


def as_one(samples: Path, place: Path) -> Iterator[Path]:
    """Samples that are one set as they lie."""
    copied(samples, place / samples.name)
    (place / samples.name / "SOURCES.tsv").unlink(missing_ok=True)
    yield place / samples.name


def aider(samples: Path, place: Path) -> Iterator[Path]:
    """Histories, a folder a repository; their names begin with a dot."""
    for path in sorted(samples.rglob("*aider.*history*")):
        before, _, name = path.name.partition("aider.")
        copied(
            path,
            place / "repositories" / (before.rstrip(".") or path.parent.name) / f".aider.{name}",
        )
    yield place / "repositories"


def antigravity(samples: Path, place: Path) -> Iterator[Path]:
    """Transcripts by conversation, and the database of one of them."""
    root = place / "conversations" / ".gemini" / "antigravity-cli"
    databases = {path.parent.name: path for path in samples.rglob("*.db")}
    for path in sorted(samples.rglob("*.jsonl")):
        database = databases.get(path.stem)
        name = database.stem if database else path.stem
        copied(path, root / "brain" / name / ".system_generated" / "logs" / "transcript.jsonl")
        if database:
            copied(database, root / "conversations" / database.name)
    yield place / "conversations"


def cline(samples: Path, place: Path) -> Iterator[Path]:
    """Tasks, in the storage of the extension."""
    for tasks in sorted(samples.rglob("tasks")):
        root = place / tasks.parent.name
        storage = root / "User" / "globalStorage" / "saoudrizwan.claude-dev"
        copied(tasks, storage / "tasks")
        yield root


def copilot_cli(samples: Path, place: Path) -> Iterator[Path]:
    """Event logs, a folder a session."""
    for path in sorted(samples.rglob("*.events.jsonl")):
        name = path.name.removesuffix(".events.jsonl")
        copied(path, place / "events" / "session-state" / name / "events.jsonl")
    yield place / "events"
    for tree in sorted(samples.glob("tree-*")):
        copied(tree, place / tree.name)
        yield place / tree.name


def gemini_cli(samples: Path, place: Path) -> Iterator[Path]:
    """Chats, by project; the name of a chat ends with the beginning of its session's id."""
    for path in sorted((samples / "irrlicht").glob("*.jsonl")):
        found = SESSION_ID.search(path.read_bytes())
        name = f"session-2026-06-12T10-55-{found[1][:8].decode() if found else path.stem}.jsonl"
        copied(path, place / "chats" / ".gemini" / "tmp" / path.stem / "chats" / name)
    yield place / "chats"
    for tree in sorted(samples.glob("tree-*")):
        copied(tree, place / tree.name / ".gemini")
        yield place / tree.name


def kiro(samples: Path, place: Path) -> Iterator[Path]:
    """Logs of the command line, and a database made of the values that were collected."""
    for path in sorted((samples / "irrlicht").iterdir()):
        copied(path, place / "logs" / ".kiro" / "sessions" / "cli" / path.name)
    yield place / "logs"
    root = place / "database"
    (root / "share" / "kiro-cli").mkdir(parents=True)
    with closing(sqlite3.connect(root / "share" / "kiro-cli" / "data.sqlite3")) as database:
        database.execute(
            "CREATE TABLE conversations_v2(key text, conversation_id text, value text,"
            " created_at integer, updated_at integer, primary key(key, conversation_id))"
        )
        for path in sorted((samples / "sqlite-fixture").iterdir()):
            value = path.read_text("utf-8")
            row = ("/home/dev1/p", json.loads(value)["conversation_id"], value, AT, AT)
            database.execute("INSERT INTO conversations_v2 VALUES (?, ?, ?, ?, ?)", row)
        database.commit()
    yield root


def opencode(samples: Path, place: Path) -> Iterator[Path]:
    """A store of files, and a database."""
    for name in ("tree-v1-json", "v1.17-sqlite"):
        copied(samples / name, place / name / "opencode")
        yield place / name


LAYOUTS: dict[str, Callable[[Path, Path], Iterator[Path]]] = {
    "aider": aider,
    "amp": as_one,
    "antigravity": antigravity,
    "cline-roo": cline,
    "copilot-cli": copilot_cli,
    "factory-droid": as_one,
    "gemini-cli": gemini_cli,
    "goose": as_one,
    "kiro": kiro,
    "opencode": opencode,
    "zed": as_one,
}


def shown(words: list[str], *, counting: bool) -> str:
    """What a run said, in a line, with all that is wrong."""
    if not counting:
        return "\n    ".join(words)
    totals = [line for line in words if line.startswith(("ingested:", "counted:"))]
    wrong = [line for line in words if "DIFFERS" in line or "drift:" in line]
    return "\n    ".join([f"{' / '.join(totals)} -> {words[-1]}", *wrong])


def main() -> int:
    """Run all; 1 when a count differs or a source crashed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("samples", type=Path)
    parser.add_argument("--agent", choices=AGENTS, help="only this one")
    parser.add_argument("--mutations", type=int, help="how often to damage each file")
    given = parser.parse_args()
    failed = False
    for folder, agent in AGENTS.items():
        counting = given.mutations is None
        if given.agent not in (None, folder) or (counting and folder == "claude-code"):
            continue
        place = scratch("samples")
        for root in LAYOUTS.get(folder, each_folder)(given.samples.resolve() / folder, place):
            tool = ["check.py"] if counting else ["mutations.py", "--times", str(given.mutations)]
            command = [sys.executable, str(HERE / tool[0]), agent, str(root), *tool[1:]]
            run = subprocess.run(command, check=False, capture_output=True, text=True)
            words = run.stdout.strip().splitlines() or run.stderr.strip().splitlines()[-1:] or [""]
            print(f"{folder} {root.name}: {shown(words, counting=counting)}", flush=True)
            failed = failed or run.returncode != 0
        shutil.rmtree(place)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
