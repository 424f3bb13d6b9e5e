"""Counts what was said in the stores of Kiro, by other means than the plugin's.

Whole files are looked at, by regular JSON only. A message of a log is counted once for its id, in
the session with the earliest log that has it; a conversation of a database is counted where no log
has its id. An answer of the editor is counted as what its run said, where there is a log of it.
Shares no code with the plugin.

    python benchmarks/agents/kiro_count.py FOLDER
"""

import json
import shutil
import sqlite3
from collections import Counter
from pathlib import Path

from scratch import scratch
from totals import main

ROLES = {"Prompt": "user", "AssistantMessage": "assistant", "Compaction": "summary"}
PAYLOADS = {"user": "user", "session_start": "user", "assistant": "assistant"}
MATTERS = frozenset(
    {"kind", "data", "content", "message_id", "summary", "payload", "type", "operationType", "chat"}
    | {"role", "history", "message", "text", "user", "assistant", "prompt", "conversation_id"}
    | {"Prompt", "ToolUseResults", "Response", "ToolUse", "CancelledToolUses", "latest_summary"}
    | {"executionId", "actions", "actionType", "output"}
)


def environment(folder):
    """Variables with which the sources find `.kiro`, `share` and `config` in a folder."""
    folder = Path(folder).resolve()
    return {
        "KIRO_HOME": str(folder / ".kiro"),
        "XDG_DATA_HOME": str(folder / "share"),
        "XDG_CONFIG_HOME": str(folder / "config"),
    }


def records(path):
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line.strip()]


def of_flat(path):
    """Id and role of each message of a log of the flat form."""
    for record in records(path):
        data = record["data"]
        if record["kind"] == "Compaction":
            yield data.get("message_id") or data["summary"], "summary"
        elif record["kind"] in ROLES:
            parts = [p for p in data["content"] if p["kind"] in ("text", "image")]
            if any(part["kind"] == "image" or part["data"].strip() for part in parts):
                yield data["message_id"], ROLES[record["kind"]]


def of_bucketed(path):
    """Id and role of each message of a log of the other form."""
    for record in records(path):
        payload = record["payload"]
        spoken = payload["type"] in PAYLOADS and payload.get("operationType") != "Reasoning"
        if spoken and payload["content"].strip():
            yield record["id"], PAYLOADS[payload["type"]]


def created(path):
    """When the session of a log was begun, as its card says."""
    card = (
        path.with_suffix(".json") if path.parent.name == "cli" else path.with_name("session.json")
    )
    facts = json.loads(card.read_text("utf-8")) if card.exists() else {}
    return facts.get("created_at") or facts.get("createdAt") or "9999"


def of_logs(folder, totals):
    logs = {path: path.stem for path in Path(folder).rglob("cli/*.jsonl")}
    logs |= {path: path.parent.name for path in Path(folder).rglob("messages.jsonl")}
    met = set()
    for path in sorted(logs, key=lambda path: (created(path), path.name)):
        key = logs[path]
        for uid, role in of_flat(path) if path.parent.name == "cli" else of_bucketed(path):
            if uid not in met:
                met.add(uid)
                totals.setdefault(key, Counter())[role] += 1
    return set(logs.values())


def of_store(path, logged, totals):
    place = scratch("kiro-count") / "copy"
    shutil.copyfile(path, place)
    database = sqlite3.connect(place)
    names = {name for (name,) in database.execute("SELECT name FROM sqlite_master")}
    for table in sorted(names & {"conversations", "conversations_v2"}):
        for (value,) in database.execute(f"SELECT value FROM {table}"):
            talk = json.loads(value)
            if talk["conversation_id"] in logged:
                continue
            found = totals.setdefault(talk["conversation_id"], Counter())
            for turn in talk["history"]:
                (asked,) = turn["user"]["content"].values()
                (answer,) = turn["assistant"].values()
                found["user"] += bool((asked.get("prompt") or "").strip())
                found["assistant"] += bool(answer["content"].strip())
            found["summary"] += bool(talk.get("latest_summary"))


def runs_of(store):
    """What each run below a folder of the editor's agent said, by its id."""
    found = {}
    for path in sorted(store.glob("*/*/*"), key=lambda path: path.stat().st_mtime_ns):
        if path.is_file() and "." not in path.name and path.parts[-3] != "workspace-sessions":
            log = json.loads(path.read_text("utf-8"))
            said = [each["output"]["message"] for each in log["actions"]
                    if each["actionType"] == "say"]  # fmt: skip
            found[log["executionId"]] = [text for text in said if text.strip()]
    return found


def of_editor(path, totals):
    history = json.loads(path.read_text("utf-8"))["history"]
    found = totals.setdefault(path.stem, Counter())
    runs = runs_of(path.parents[2])
    for turn in history:
        content = turn["message"]["content"]
        texts = [content] if isinstance(content, str) else [p.get("text", "") for p in content]
        whole = runs.pop(turn.get("executionId"), [])
        if whole and "".join(texts).strip() in ("", "On it."):
            texts = []
        if turn["message"]["role"] in ("user", "assistant"):
            found[turn["message"]["role"]] += any(map(str.strip, texts)) + len(whole)


def count(folder):
    """Numbers of messages by session and role; sessions without a word left out."""
    totals = {}
    logged = of_logs(folder, totals)
    for path in sorted(Path(folder).rglob("data.sqlite3")):
        of_store(path, logged, totals)
    for path in sorted(Path(folder).rglob("workspace-sessions/*/*.json")):
        if path.name != "sessions.json":
            of_editor(path, totals)
    found = {key: {role: n for role, n in numbers.items() if n} for key, numbers in totals.items()}
    return {key: numbers for key, numbers in found.items() if numbers}


if __name__ == "__main__":
    main(count)
