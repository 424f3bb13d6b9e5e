"""Crush at work on its database: `crush_child.py PROJECT MESSAGES`.

It says as many messages and more, until it is told that they are enough, writing each answer anew
as it grows, and lets its log shrink now and then. At the end it tells how many messages it wrote,
its errors, and how often its log shrank.
"""

import json
import sqlite3
import sys
import threading
import time
from pathlib import Path

from crush_kit import A, Store, finish, text


def main():
    project, least = Path(sys.argv[1]), int(sys.argv[2])
    store = Store(project)
    connection = sqlite3.connect(store.path, isolation_level=None, timeout=20)
    connection.execute("PRAGMA journal_mode=WAL")
    store.session()
    enough = threading.Thread(target=sys.stdin.readline, daemon=True)
    enough.start()
    print("ready", flush=True)
    said, errors, shrunk = 0, 0, 0
    while said < least or enough.is_alive():
        at = int(time.time())
        values = (f"m{said}", A, ("user", "assistant")[said % 2], json.dumps([text("growing")]))
        try:
            connection.execute(
                "INSERT INTO messages (id, session_id, role, parts, created_at, updated_at)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (*values, at, at),
            )
            for step in range(5):
                parts = [text(f"words {said} " + "and so on " * step)]
                ended = step == 4
                connection.execute(
                    "UPDATE messages SET parts = ?, updated_at = ?, finished_at = ? WHERE id = ?",
                    (
                        json.dumps([*parts, finish()] if ended else parts),
                        int(time.time()),
                        int(time.time()) if ended else None,
                        values[0],
                    ),
                )
            said += 1
        except sqlite3.Error:
            errors += 1
        if said % 40 == 0:
            checkpoint = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            shrunk += not checkpoint.fetchone()[0]
        time.sleep(0.005)  # at the pace of a quick talker
    print(said, errors, shrunk, flush=True)
    # It stays open, as the program does.
    sys.stdin.readline()


main()
