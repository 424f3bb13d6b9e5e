"""Counts what was said in Goose's stores, by other means than the plugin's.

The database is copied with its log and asked row by row, files are read line by line; a file whose
session speaks in the database does not count. Shares no code with the plugin.

    python benchmarks/agents/goose_count.py FOLDER
"""

import json
import sqlite3
from collections import Counter
from pathlib import Path

from scratch import copied_database, scratch
from totals import main

BEHIND = ("Your context was compacted", "The previous message contains a summary")


def environment(folder):
    """Variables with which a folder that holds `sessions` is found: it lies as Goose's data."""
    root = scratch("goose-root")
    (root / "data").symlink_to(folder)
    return {"GOOSE_PATH_ROOT": str(root)}


def speaks(content, role):
    """Whether blocks have words or pictures; what they say."""
    said = []
    for block in content:
        if block.get("type") == "image":
            said.append("[image]")
        if block.get("type") == "text" and block["text"].strip():
            words = block["text"]
            if role == "user" and words.lstrip().startswith("<info-msg>"):
                words = words.split("</info-msg>", 1)[1] if "</info-msg>" in words else ""
            said += [words] if words.strip() else []
    return "\n\n".join(said)


def tally(rows):
    """Numbers by role of `(id, role, content, metadata)`, in order."""
    said = []
    for uid, role, content, metadata in rows:
        if words := speaks(content, role):
            shown = (metadata or {}).get("userVisible", True)
            said.append((uid, role, words, shown))
    found = {}
    for number, (uid, role, words, shown) in enumerate(said):
        behind = said[number + 1] if number + 1 < len(said) else None
        own = uid if uid else f"row {number}"
        told = role == "user" and behind and behind[1] == "assistant"
        merged = role == "assistant" and not shown
        if (told and behind[2].startswith(BEHIND)) or (
            merged and any(f"\n{mark}" in words for mark in BEHIND)
        ):
            found[own, "summary"] = 1
        elif shown and not words.startswith(BEHIND):
            found[own, role] = 1
    return Counter(role for _uid, role in found)


def of_database(path):
    """Numbers by session, and sessions that have rows of messages."""
    database = sqlite3.connect(copied_database(path))
    columns = {row[1] for row in database.execute("PRAGMA table_info(messages)")}
    types = {row[1] for row in database.execute("PRAGMA table_info(sessions)")}
    kind = "session_type" if "session_type" in types else "'user'"
    sessions = database.execute(f"SELECT id, {kind} FROM sessions ORDER BY created_at, rowid")
    uid = "message_id" if "message_id" in columns else "NULL"
    data = "metadata_json" if "metadata_json" in columns else "NULL"
    totals, filled, heard = {}, set(), set()
    for session, kind in sessions.fetchall():
        rows, own = [], set()
        for key, role, content, metadata in database.execute(
            f"SELECT {uid}, role, content_json, {data} FROM messages"
            " WHERE session_id = ? ORDER BY id",
            (session,),
        ):
            filled.add(session)
            if key and (key, content) in heard:
                continue
            own.add((key, content))
            rows.append((key, role, json.loads(content), json.loads(metadata or "{}")))
        if kind != "hidden":
            heard |= own
            totals[session] = tally(rows)
    database.close()
    return totals, filled


def of_file(path):
    """Numbers of a file."""
    lines = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
    return tally(
        (line.get("id"), line["role"], line["content"], line.get("metadata"))
        for line in lines
        if "role" in line
    )


def count(folder):
    """Numbers of messages by session and role.

    Args:
        folder: one that holds the folder `sessions`.

    Returns:
        `{session: {"user": n, "assistant": n, "summary": n}}`, without sessions that say nothing.
    """
    place = Path(folder) / "sessions"
    totals, filled = {}, set()
    if (place / "sessions.db").exists():
        totals, filled = of_database(place / "sessions.db")
    for path in sorted(place.glob("*.jsonl")):
        if path.stem not in filled:
            totals[path.stem] = of_file(path)
    return {key: dict(numbers) for key, numbers in totals.items() if numbers}


if __name__ == "__main__":
    main(count)
