"""Count the messages of real session logs twice, and compare.

    python benchmarks/samples_check.py parse DIR

reads every `*.jsonl` below DIR with a plain reader of its own (below; it shares no code with
the plugin) and with the plugin's source and parser, and tells for each file what is missing,
too much, or twice within a session.

    python benchmarks/samples_check.py server DIR

starts the real server on a new data directory, lets it ingest DIR, twice, and compares what lies
in its database with the same plain reader, over all files together. Secrets and recalled blocks
are expected to be taken out. Both exit with 1 when anything differs.
"""

import argparse
import itertools
import json
import re
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

SKIPPED_FILES = re.compile(r"agent-(acompact|aprompt_suggestion|aside_question)-|^history\.jsonl$")
WRAPPER = (
    r"<(?P<{0}>ide_opened_file|ide_selection|system-reminder|user-prompt-submit-hook)"
    r"\b.*?</(?P={0})>"
)
LEADING = re.compile(r"\A\s*" + WRAPPER.format("a"), re.DOTALL)
TRAILING = re.compile(WRAPPER.format("b") + r"\s*\Z", re.DOTALL)
MACHINE = (
    "<local-command-",
    "<bash-stdout",
    "<task-notification",
    "[Request interrupted",
    "Caveat: The messages below",
)


def expected_human(text: str) -> str:
    """Rules 3 to 5 of the format: a person's words in a text of the user role."""
    changed = text
    while (shorter := LEADING.sub("", changed)) != changed:
        changed = shorter
    while (shorter := TRAILING.sub("", changed)) != changed:
        changed = shorter
    if changed != text:
        changed = changed.strip()
    if changed.lstrip().startswith(("<command-name>", "<command-message>")):
        arguments = re.search(r"<command-args>(.*?)</command-args>", changed, re.DOTALL)
        return arguments[1].strip() if arguments else ""
    shell = re.fullmatch(r"\s*<bash-input>(.*?)</bash-input>\s*", changed, re.DOTALL)
    if shell:
        return shell[1].strip()
    return "" if changed.lstrip().startswith(MACHINE) else changed


def blocks_of(content: object) -> list[dict]:
    """The blocks of a content; a plain text is one block."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [b for b in content if isinstance(b, dict)] if isinstance(content, list) else []


def joined(texts: list[str]) -> str:
    return "\n\n".join(text for text in texts if text.strip())


def expected_of_user(record: dict) -> str:
    """What a user line says, apart from summaries; empty for nothing."""
    blocks = blocks_of(record["message"].get("content"))
    origin = record.get("origin")
    kind = origin.get("kind") if isinstance(origin, dict) else None
    machine = kind == "task-notification" or record.get("promptSource") == "system"
    if machine or any(b.get("type") == "tool_result" for b in blocks):
        return ""
    texts = [b["text"] for b in blocks if b.get("type") == "text" and isinstance(b["text"], str)]
    words = joined([expected_human(text) for text in texts])
    pictures = [b for b in blocks if b.get("type") in ("image", "document")]
    if not words and pictures:
        return joined([f"[{b['type']}: {b['source']['media_type']}]" for b in pictures])
    return words


def expected_of(record: dict) -> tuple[str, str] | None:
    """Role and text that one record must give; None when it gives nothing."""
    message, kind = record.get("message"), record.get("type")
    attachment = record.get("attachment")
    if kind == "attachment" and isinstance(attachment, dict):
        prompt = attachment.get("commandMode") == "prompt"
        if attachment.get("type") != "queued_command" or not prompt:
            return None
        words = expected_of_user({"message": {"content": attachment["prompt"]}})
        return ("user", words) if words else None
    if kind == "system" and record.get("subtype") == "away_summary":
        return "summary", record.get("content") or record["summary"]
    if kind not in ("user", "assistant") or not isinstance(message, dict):
        return None
    texts = [
        b["text"]
        for b in blocks_of(message.get("content"))
        if b.get("type") == "text" and isinstance(b.get("text"), str)
    ]
    if kind == "assistant":
        if record.get("isApiErrorMessage") or message.get("model") == "<synthetic>":
            return None
        role, words = "assistant", joined(texts)
    elif record.get("isCompactSummary"):
        role, words = "summary", joined(texts)
    elif record.get("isMeta"):
        return None
    else:
        role, words = "user", expected_of_user(record)
    return (role, words) if words else None


def expected_session(record: dict, path: Path, last: str | None) -> tuple[str, str]:
    """The session of a record and the one that started it, which is often the same."""
    main = record.get("sessionId") or last or path.stem
    agent_file = path.stem.removeprefix("agent-") if path.stem.startswith("agent-") else None
    if not (record.get("isSidechain") or agent_file):
        return main, main
    agent = record.get("agentId") or agent_file
    return (f"{main}/agent-{agent}" if agent else f"{main}/sidechain"), main


def expected_messages(path: Path) -> dict[tuple[str, str], tuple[str, str]]:
    """Role and text by (session, uuid) that a file must give, each once."""
    expected: dict[tuple[str, str], tuple[str, str]] = {}
    last = None
    for number, line in enumerate(path.read_bytes().split(b"\n")):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if not isinstance(record, dict):
            continue
        said = expected_of(record)
        if said is None:
            continue
        session, last = expected_session(record, path, last)
        expected.setdefault((session, record.get("uuid") or f"line {number}"), said)
    return expected


def check_file(item, source, parser) -> tuple[Counter, list[str]]:
    """Compare one file; counts and complaints."""
    result = parser.parse(item, source.read(item, 0), {})
    expected = expected_messages(Path(item.uri))
    spoken = [m for m in result.messages if m.role != "note"]
    found = {(m.session, m.uid): (m.role, m.text) for m in spoken}
    twice = [k for k, n in Counter((m.session, m.uid) for m in spoken).items() if n > 1]
    made = {k: v for k, v in expected.items() if k[1].startswith("line ")}
    made_texts = Counter((k[0], *v) for k, v in made.items())
    made_found = Counter((k[0], *v) for k, v in found.items() if k[1].startswith("made-"))
    complaints = [f"twice: {key}" for key in twice]
    for key, said in expected.items():
        if key not in made and found.get(key) != said:
            complaints.append(f"missing or changed: {key} {said} / {found.get(key)}")
    complaints += [f"missing: {key}" for key in made_texts - made_found]
    for key, said in found.items():
        if not key[1].startswith("made-") and key not in expected:
            complaints.append(f"too much: {key} {said}")
    complaints += [f"too much: {key}" for key in made_found - made_texts]
    counts = Counter(m.role for m in result.messages)
    counts.update(f"by {m.author}" for m in result.messages)
    counts["bad lines"] = len(result.bad_lines)
    counts["unknown records"] = sum(result.unknown.values())
    if not result.messages:
        counts["silent" if result.silent else "DRIFT"] = 1
    return counts, complaints


def check_parser(folder: Path) -> int:
    """Compare the plugin's parser with the plain reader over all files below a folder."""
    from cloxy_core.services.logs.lines import LineLogs
    from cloxy_plugins.claude_code.parser import ClaudeCodeParser
    from cloxy_plugins.claude_code.source import trees_of

    source = LineLogs(trees_of([folder.resolve()]))
    parser = ClaudeCodeParser("/nowhere/at/all", lambda: int(time.time() * 1000))
    failures: list = []
    items = sorted(source.discover(failures), key=lambda item: item.uri)
    total: Counter = Counter()
    wrong = 0
    for item in items:
        counts, complaints = check_file(item, source, parser)
        total += counts
        wrong += len(complaints)
        print(Path(item.uri).relative_to(folder.resolve()), dict(counts))
        for complaint in complaints:
            print("   !!", complaint)
    found = {item.uri for item in items}
    for path in sorted(folder.resolve().rglob("*.jsonl")):
        if str(path) not in found and not SKIPPED_FILES.search(path.name):
            wrong += 1
            print("   !! not found by the source:", path)
    for failure in failures:
        print("   not looked at:", failure.uri, failure.reason)
    print(f"{len(items)} files, {dict(total)}; {wrong} differences")
    return 1 if wrong else 0


def stored_messages(database: Path) -> list[tuple[str, str, str, str]]:
    """Session, id, role and text of every stored message, its parts joined."""
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    rows = connection.execute(
        "SELECT s.key, p.message_uid, p.role, substr(m.content, p.char_start + 1,"
        " p.char_end - p.char_start) FROM passages p JOIN memories m ON m.id = p.memory_id"
        " JOIN sessions s ON s.id = p.session_id ORDER BY s.key, p.message_uid, p.part"
    ).fetchall()
    connection.close()
    return [
        (*key, "".join(row[3] for row in group))
        for key, group in itertools.groupby(rows, lambda row: row[:3])
    ]


def check_server(folder: Path) -> int:
    """Compare what a real server stores with the plain reader."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from server.live_server import LiveServer

    from cloxy_core.services.echo import strip_echo
    from cloxy_core.services.redaction import clean

    folder = folder.resolve()
    expected: dict[tuple[str, str], tuple[str, str]] = {}
    for path in sorted(folder.rglob("*.jsonl")):
        if not SKIPPED_FILES.search(path.name):
            for key, said in expected_messages(path).items():
                expected.setdefault(key, said)
    with (
        tempfile.TemporaryDirectory() as scratch,
        LiveServer(Path(scratch), CLOXY_WATCH_DIRS=str(folder)) as server,
    ):
        reports = [server.ask("POST", "/ingest_convos", {"force": f})[1] for f in (False, True)]
        stored = stored_messages(server.data / "memory.db")
    complaints = [f"second pass added {reports[1]['messages_added']}"] * bool(
        reports[1]["messages_added"]
    )
    counts = Counter((session, uid) for session, uid, _role, _text in stored)
    complaints += [f"twice: {key}" for key, number in counts.items() if number > 1]
    found = {(session, uid): (role, text) for session, uid, role, text in stored if role != "note"}
    made = Counter((key[0], *said) for key, said in found.items() if key[1].startswith("made-"))
    for key, (role, text) in expected.items():
        wanted = (role, clean(strip_echo(text)[0]).text)
        if not wanted[1].strip():
            continue
        if key[1].startswith("line "):
            if not made[key[0], *wanted]:
                complaints.append(f"missing: {key} {wanted}")
        elif found.get(key) != wanted:
            complaints.append(f"missing or changed: {key} {wanted} / {found.get(key)}")
    complaints += [
        f"too much: {key} {said}"
        for key, said in found.items()
        if key not in expected and not key[1].startswith("made-")
    ]
    for complaint in complaints:
        print("   !!", complaint)
    roles = Counter(role for _session, _uid, role, _text in stored)
    sessions = len({session for session, *_rest in stored})
    print(reports[0])
    print(f"{dict(roles)} in {sessions} sessions; {len(complaints)} differences")
    return 1 if complaints else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    parse = commands.add_parser("parse", help="compare the plugin's parser with a plain reader")
    parse.add_argument("folder", type=Path, metavar="DIR")
    parse.set_defaults(run=lambda options: check_parser(options.folder))
    server = commands.add_parser("server", help="compare a real server with a plain reader")
    server.add_argument("folder", type=Path, metavar="DIR")
    server.set_defaults(run=lambda options: check_server(options.folder))
    options = parser.parse_args()
    return options.run(options)


if __name__ == "__main__":
    sys.exit(main())
