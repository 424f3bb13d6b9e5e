"""Counts what was said in Zed's threads, by other means than the plugin's.

The database is copied and each document is unpacked at once: a `User` with a `Text` or an `Image`
is a message, an `Agent` with a `Text`, and so are summaries; of the older form, a message with a
segment of text. Text threads are cut where their turns begin. Shares no code with the plugin.

    python benchmarks/agents/zed_count.py FOLDER
"""

import json
import sqlite3
from collections import Counter
from pathlib import Path

from scratch import copied_database, scratch
from totals import main

try:
    from compression import zstd
except ImportError:
    from backports import zstd


def environment(folder):
    """Variables with which the sources find a folder that holds `threads` or `conversations`."""
    place = scratch("zed")
    for name in ("threads", "conversations"):
        for found in Path(folder).rglob(name):
            (place / "zed").mkdir(exist_ok=True)
            (place / "zed" / name).symlink_to(found.resolve())
    return {"XDG_DATA_HOME": str(place)}


def rows(path):
    """Rows of a copy of a database."""
    database = sqlite3.connect(copied_database(path))
    database.row_factory = sqlite3.Row
    return [dict(row) for row in database.execute("SELECT * FROM threads")]


def roles(document):
    """Roles of the messages of a document."""
    for message in document["messages"]:
        if "role" in message:
            texts = [message.get("text")]
            texts += [each["text"] for each in message.get("segments", [])
                      if each["type"] == "text"]  # fmt: skip
            carrier = message["role"] == "user" and message.get("tool_results")
            if message["role"] != "system" and not carrier and any(t and t.strip() for t in texts):
                yield message["role"]
        elif message != "Resume":
            ((kind, value),) = message.items()
            if kind == "Compaction":
                if "Summary" in value:
                    yield "summary"
            elif any(part.get("Text", "").strip() or "Image" in part for part in value["content"]):
                yield {"User": "user", "Agent": "assistant"}[kind]
    state = document.get("detailed_summary_state")
    if document.get("detailed_summary") or isinstance(state, dict):
        yield "summary"


def text_thread(document):
    """Roles of the turns of a text thread."""
    text, found = document["text"].encode(), []
    starts = [each["start"] for each in document["messages"]] + [len(text)]
    for number, each in enumerate(document["messages"]):
        about = each.get("metadata") or document["message_metadata"][str(each["id"])]
        found.append((about["role"], text[starts[number] : starts[number + 1]].strip()))
    while found and found[-1][0] == "user":
        found.pop()
    return [role for role, words in found if words and role != "system"]


def count(folder):
    """Numbers of messages by session and role; sessions without a word left out."""
    totals = {}
    for path in sorted(Path(folder).rglob("threads.db")):
        for row in rows(path):
            data = row["data"]
            document = json.loads(zstd.decompress(data) if row["data_type"] == "zstd" else data)
            found = Counter(roles(document))
            parent = row.get("parent_id")
            if found:
                totals[f"{parent}/{row['id']}" if parent else row["id"]] = dict(found)
    for path in sorted(Path(folder).rglob("*.zed.json")):
        document = json.loads(path.read_text())
        found = Counter(text_thread(document))
        if found:
            totals[document.get("id") or path.name.removesuffix(".zed.json")] = dict(found)
    return totals


if __name__ == "__main__":
    main(count)
