"""Makes a real database of Cloxy 5.1 by running the published program, for trying the upgrade.

    python tools/make_5_1_database.py --cloxy V51/bin/cloxy --models CACHE --data OUT

`--cloxy` is the command of Cloxy 5.1 in an environment of its own, `--models` a model cache of
fastembed that holds `--model`, `--data` an empty folder. Session logs of Claude Code are made up,
read in by 5.1, some notes are stored and one is deleted again, so that ids have a gap. Nothing is
downloaded, and nothing but the standard library is needed. See docs/how-to/upgrade.md.
"""

import argparse
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from datetime import UTC, datetime, timedelta
from pathlib import Path

PATIENCE_SECONDS = 900.0
NOTES = (
    ("decision", "We keep the queue in SQLite, not in Redis: one file less to look after."),
    ("manual", "Die Prüfung läuft nachts um 03:30 – Äpfel, Öl und 東京 stehen auf der Liste."),
    ("manual", "The staging host is 10.0.0.7 and answers on port 9055 with --no-verify."),
    ("manual", "This note is deleted again, so that the ids have a gap in them."),
)
SUBJECTS = (
    "the retry budget of the billing worker",
    "why the import of the ledger was slow",
    "how migrations are rolled back",
    "the flaky test of the scheduler",
    "the colours of the dashboard",
    "where the audit log is kept",
)
PHRASES = (
    "I looked at the stack trace again.",
    "The lock was held for the whole request.",
    "We should bound the number of open files.",
    "It only happens when the cache is cold.",
    "The fix is to commit before the callback.",
    "Let us write a test that fails first.",
    "The index was never used by the planner.",
)


def main() -> int:
    """Make the logs, run 5.1 over them, and stop it."""
    asked = _arguments()
    asked.data.mkdir(parents=True, exist_ok=True)
    if any(asked.data.iterdir()):
        print(f"{asked.data} is not empty", file=sys.stderr)
        return 1
    # Absolute, since the program under test runs in another folder.
    data, cloxy = asked.data.absolute(), str(Path(shutil.which(asked.cloxy) or asked.cloxy))
    logs = (asked.logs or data.with_name(data.name + "-logs")).absolute()
    make_logs(logs, asked.sessions, asked.turns, asked.seed)
    port = _free_port()
    process = subprocess.Popen(  # noqa: S603 - the program that was asked for
        [str(Path(cloxy).absolute()), "start"],
        env=_environment(asked, data, logs, port),
        cwd=data,
        stdin=subprocess.DEVNULL,
    )
    try:
        _fill(f"http://127.0.0.1:{port}", process)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)
    print(json.dumps({"database": str(data / "memory.db"), "logs": str(logs)}))
    return 0


def make_logs(folder: Path, sessions: int, turns: int, seed: int) -> None:
    """Write session logs in the form of Claude Code, spread over 120 days."""
    chance = random.Random(seed)  # noqa: S311 - made-up text
    begin = datetime.now(UTC).replace(microsecond=0) - timedelta(days=120)
    for number in range(sessions):
        project = f"/home/ada/code/project-{number % 5}"
        key = f"{seed:08x}-0000-4000-8000-{number:012x}"
        at = begin + timedelta(days=120 * number / max(sessions, 1))
        lines = [_title(chance.choice(SUBJECTS), key)]
        parent = None
        for turn in range(turns):
            at += timedelta(seconds=chance.randint(5, 600))
            uid = f"{number:08x}-{turn:04x}-4000-8000-000000000000"
            lines.append(_message(chance, uid, parent, key, project, at, turn))
            parent = uid
        place = folder / project.replace("/", "-")
        place.mkdir(parents=True, exist_ok=True)
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        log = place / f"{key}.jsonl"
        log.write_text(text, encoding="utf-8")
        os.utime(log, (at.timestamp(), at.timestamp()))


def _title(subject: str, key: str) -> dict[str, object]:
    return {"type": "ai-title", "aiTitle": f"About {subject}", "sessionId": key}


def _message(
    chance: random.Random,
    uid: str,
    parent: str | None,
    key: str,
    project: str,
    at: datetime,
    turn: int,
) -> dict[str, object]:
    role = "assistant" if turn % 2 else "user"
    words = " ".join(chance.choices(PHRASES, k=chance.randint(1, 9)))
    text = f"Turn {turn} of {key[-4:]}, on {chance.choice(SUBJECTS)}. {words}"
    if turn == 5:
        # Longer than what is stored in one piece.
        text = "\n".join(f"{n}. {text}" for n in range(12))
    content: object = text if role == "user" else [{"type": "text", "text": text}]
    return {
        "type": role,
        "uuid": uid,
        "parentUuid": parent,
        "sessionId": key,
        "cwd": project,
        "gitBranch": "main",
        "version": "2.0.0",
        "isSidechain": False,
        "userType": "external",
        "timestamp": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "message": {"role": role, "content": content},
    }


def _fill(url: str, process: "subprocess.Popen[bytes]") -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not _answers(url):
        if process.poll() is not None or time.monotonic() > end:
            raise SystemExit("Cloxy 5.1 did not start; see its words above")
        time.sleep(0.2)
    print(json.dumps(_ask(url, "/ingest_convos", {})), flush=True)
    last = 0
    for source, text in NOTES:
        stored = _ask(url, "/ingest_text", {"text": text, "source": source})
        last = stored["ids"][-1]
    _ask(url, f"/memory/{last}", None, "DELETE")
    print(json.dumps(_ask(url, "/memory_stats", None)), flush=True)


def _answers(url: str) -> bool:
    try:
        _ask(url, "/health", None)
    except (urllib.error.URLError, OSError):
        return False
    return True


def _ask(url: str, path: str, body: object, method: str | None = None) -> dict[str, list[int]]:
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(url + path, data, headers, method=method)  # noqa: S310 - our own loopback address
    with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:  # noqa: S310 - the same
        found: dict[str, list[int]] = json.load(answer)
    return found


def _environment(asked: argparse.Namespace, data: Path, logs: Path, port: int) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CLOXY_")}
    return kept | {
        "HOME": str(data),
        "CLOXY_DATA_DIR": str(data),
        "CLOXY_HOST": "127.0.0.1",
        "CLOXY_PORT": str(port),
        "CLOXY_WATCH": "0",
        "CLOXY_WATCH_DIRS": str(logs),
        "CLOXY_EMBED_MODEL": asked.model,
        "CLOXY_EMBED_DIM": str(asked.dim),
        "FASTEMBED_CACHE_PATH": str(asked.models.absolute()),
        "HF_HUB_OFFLINE": "1",
    }


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    add = parser.add_argument
    add("--cloxy", required=True, help="the command of Cloxy 5.1")
    add("--models", required=True, type=Path, help="fastembed's model cache")
    add("--data", required=True, type=Path, help="an empty folder for the database")
    add("--logs", type=Path, help="where the session logs are made; beside --data")
    add("--model", default="sentence-transformers/all-MiniLM-L6-v2", help="name of the model")
    add("--dim", default=384, type=int, help="its dimension")
    add("--sessions", default=40, type=int, help="sessions to make up")
    add("--turns", default=12, type=int, help="messages of each session")
    add("--seed", default=1, type=int, help="of the made-up text")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
