"""Counts what was said in the stores of Cursor, by other means than the plugin's.

Databases are copied and read with plain SQL, every value whole: a bubble with a text that its
conversation lists is a message, in old conversations one within it, in panes a bubble with a text.
Of chats of the command line every JSON blob counts that the root lists. Shares no code with the
plugin.

    python benchmarks/agents/cursor_count.py FOLDER
"""

import json
import re
import sqlite3
from collections import Counter
from pathlib import Path

from scratch import copied_database, scratch
from totals import main

ROLES = {1: "user", 2: "assistant", "user": "user", "ai": "assistant"}


def environment(folder):
    """Variables with which the sources find a folder that holds `User`, `chats` or `projects`."""
    place = scratch("cursor")
    for user in Path(folder).rglob("User"):
        (place / "user-data").symlink_to(user.resolve().parent)
        break
    agents = next((each.parent for each in Path(folder).rglob("chats")), place / "none")
    return {"VSCODE_PORTABLE": str(place), "CURSOR_CONFIG_DIR": str(agents.resolve())}


def tables(path):
    """A copy of a database, open."""
    return sqlite3.connect(copied_database(path))


def of_editor(path, totals):
    database = tables(path)
    names = {name for (name,) in database.execute("SELECT name FROM sqlite_master")}
    rows = {}
    if "cursorDiskKV" in names:
        rows = dict(database.execute("SELECT key, value FROM cursorDiskKV"))
    for key, value in rows.items():
        if not key.startswith("composerData:") or value is None:
            continue
        talk = json.loads(value)
        session = key.partition(":")[2]
        said = [
            json.loads(rows[name])
            for head in talk.get("fullConversationHeadersOnly") or []
            if rows.get(name := f"bubbleId:{session}:{head['bubbleId']}")
        ] or talk.get("conversation") or []  # fmt: skip
        add(totals, session, said)
    pane = "workbench.panel.aichat.view.aichat.chatdata"
    for (value,) in database.execute("SELECT value FROM ItemTable WHERE key = ?", (pane,)):
        for tab in json.loads(value)["tabs"]:
            add(totals, tab["tabId"], tab.get("bubbles", []))


def add(totals, session, bubbles):
    found = Counter(
        ROLES[each["type"]]
        for each in bubbles
        if (each.get("rawText") or each.get("text") or "").strip()
    )
    if found:
        totals[session] = dict(found)


def of_chat(path, totals):
    database = tables(path)
    (value,) = next(database.execute("SELECT value FROM meta"))
    root = json.loads(bytes.fromhex(value))["latestRootBlobId"]
    blobs = {name: bytes(data) for name, data in database.execute("SELECT id, data FROM blobs")}
    found = Counter()
    # A digest in the list of messages is marked by the bytes 0a 20.
    for name in re.findall(rb"\x0a\x20(.{32})", blobs[root], re.S):
        data = blobs.get(name.hex(), b"")
        message = json.loads(data) if data.startswith(b"{") else {}
        content = message.get("content") or []
        texts = [content] if isinstance(content, str) else [p.get("text") or "" for p in content]
        wrapped = all(text.startswith("<user_info>") for text in texts)
        if message.get("role") in ("user", "assistant") and any(texts) and not wrapped:
            found[message["role"]] += 1
    if found:
        totals[path.parent.name] = dict(found)


def count(folder):
    """Numbers of messages by session and role; sessions without a word left out."""
    totals = {}
    for path in sorted(Path(folder).rglob("*")):
        if path.name == "state.vscdb":
            of_editor(path, totals)
        elif path.name == "store.db":
            of_chat(path, totals)
    return totals


if __name__ == "__main__":
    main(count)
