"""OpenCode at work on its database: `opencode_child.py FOLDER SECONDS`.

It says in a loop, writing each answer anew as it grows, and lets its log shrink now and then. At
the end it tells how many messages it wrote, how often its log could not shrink, and its errors.
"""

import json
import sqlite3
import sys
import time
from pathlib import Path

from opencode_kit import A, Store, text, uid


def main():
    folder, seconds = Path(sys.argv[1]), float(sys.argv[2])
    store = Store(folder)
    connection = sqlite3.connect(store.path, isolation_level=None, timeout=20)
    connection.execute("PRAGMA journal_mode=WAL")
    store.session(A)
    print("ready", flush=True)
    until, said, errors, busy, shrunk = time.monotonic() + seconds, 0, 0, 0, 0
    while time.monotonic() < until:
        at = int(time.time() * 1000)
        key, part = uid(at, said % 4096) + str(said), uid(at, said % 4096, "prt") + str(said)
        data = json.dumps({"role": ("user", "assistant")[said % 2], "time": {"created": at}})
        try:
            connection.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", (key, A, at, at, data))
            words = json.dumps(text("growing"))
            values = (part, key, A, at, at, words)
            connection.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", values)
            for step in range(5):
                now = int(time.time() * 1000)
                words = json.dumps(text(f"words {said} " + "and so on " * step))
                statement = "UPDATE part SET data = ?, time_updated = ? WHERE id = ?"
                connection.execute(statement, (words, now, part))
            said += 1
        except sqlite3.Error:
            errors += 1
        if said % 40 == 0:
            blocked, _pages, _done = connection.execute(
                "PRAGMA wal_checkpoint(TRUNCATE)"
            ).fetchone()
            busy += blocked
            shrunk += not blocked
        time.sleep(0.002)
    print(said, errors, busy, shrunk, flush=True)
    # It stays open, as the program does.
    sys.stdin.readline()


main()
