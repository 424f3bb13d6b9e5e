"""Goose at work on its database: `goose_child.py FOLDER MESSAGES`.

It says as many messages and more, until it is told that they are enough, compacts the conversation
now and then, which writes all rows anew, and lets its log shrink. At the end it tells how many
messages it wrote, its summaries, its errors, and how often its log shrank.
"""

import json
import sqlite3
import sys
import threading
import time
from pathlib import Path

from goose_kit import AGENTS, BEHIND, FOLDED, SHOWN, A, Store, blocks

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


def main():
    folder, least = Path(sys.argv[1]), int(sys.argv[2])
    store = Store(folder)
    connection = sqlite3.connect(store.path, isolation_level=None, timeout=20)
    connection.execute("PRAGMA journal_mode=WAL")
    store.session()
    enough = threading.Thread(target=sys.stdin.readline, daemon=True)
    enough.start()
    print("ready", flush=True)
    said, summaries, errors, shrunk = 0, 0, 0, 0
    while said < least or enough.is_alive():
        said += 1
        role = ("user", "assistant")[said % 2]
        try:
            connection.execute(INSERT, row(f"{said}m", role, f"words {said}", SHOWN))
            if said % 50 == 0:
                summaries += 1
                compact(connection, said)
        except sqlite3.Error:
            errors += 1
        if said % 40 == 0:
            checkpoint = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            shrunk += not checkpoint.fetchone()[0]
        time.sleep(0.005)  # at the pace of a quick talker
    print(said, summaries, errors, shrunk, flush=True)
    # It stays open, as the program does.
    sys.stdin.readline()


main()
