"""Goose at work on its database: `goose_child.py FOLDER MESSAGES`.

It says as many messages and more, until it is told that they are enough, and compacts the
conversation now and then, which writes all rows anew.
"""

import json
import sys
import time
from pathlib import Path

from agents.writer_loops import write_until_enough
from goose_kit import AGENTS, BEHIND, COMPACTED_EVERY, FOLDED, SHOWN, A, Store, blocks

INSERT = (
    "INSERT INTO messages (message_id, session_id, role, content_json, created_timestamp,"
    f" metadata_json) VALUES (?, '{A}', ?, ?, ?, ?)"
)


def row(number, role, words, meta):
    key = f"msg_{A}_{number}-{role}"
    return (key, role, json.dumps(blocks(words)), int(time.time()), json.dumps(meta))


def compact(connection, number):
    """Write the conversation anew, with a summary behind it."""
    kept = connection.execute(
        "SELECT message_id, role, content_json, created_timestamp, metadata_json FROM messages"
        " ORDER BY id"
    ).fetchall()
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("DELETE FROM messages")
    for *facts, meta in kept:
        shown = json.loads(meta)["userVisible"]
        hidden = {"userVisible": shown, "agentVisible": False}
        connection.execute(INSERT, (*facts, json.dumps(hidden if not shown else FOLDED)))
    connection.execute(INSERT, row(number, "user", f"summary {number}", AGENTS))
    connection.execute(INSERT, row(number, "assistant", BEHIND, AGENTS))
    connection.execute("COMMIT")


def say(connection, number):
    role = ("user", "assistant")[number % 2]
    connection.execute(INSERT, row(f"{number}m", role, f"words {number}", SHOWN))
    if (number + 1) % COMPACTED_EVERY == 0:
        compact(connection, number)


store = Store(Path(sys.argv[1])).session()
write_until_enough(store.path, int(sys.argv[2]), say)
