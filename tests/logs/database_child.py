"""Another program that uses its database: `database_child.py PATH DOING`; says when it is ready.

It reads commands from its input, a line each, and answers each with a line.
"""

import sqlite3
import sys
import threading

path, doing = sys.argv[1:]


def say(*words):
    print(*words, flush=True)


def connect():
    return sqlite3.connect(path, isolation_level=None, timeout=20)


def insert(connection, rows=100):
    connection.execute("BEGIN IMMEDIATE")
    for _ in range(rows):
        connection.execute("INSERT INTO said (text) VALUES (hex(randomblob(200)))")
    connection.execute("COMMIT")


def prepared(mode):
    connection = connect()
    connection.execute(f"PRAGMA journal_mode={mode}")
    connection.execute("CREATE TABLE IF NOT EXISTS said (id INTEGER PRIMARY KEY, text TEXT)")
    insert(connection)
    return connection


def told_to_stop():
    """Set once a line has come."""
    told = threading.Event()

    def wait():
        sys.stdin.readline()
        told.set()

    threading.Thread(target=wait, daemon=True).start()
    return told


def main():
    if doing == "loop":
        connection = prepared("WAL")
        say("ready")
        told, emptied = told_to_stop(), 0
        while emptied <= 3 or not told.is_set():
            insert(connection, 20)
            if connection.execute("SELECT count(*) FROM said").fetchone()[0] % 100 == 0:
                busy, _pages, _done = connection.execute(
                    "PRAGMA wal_checkpoint(TRUNCATE)"
                ).fetchone()
                emptied += not busy
        say(emptied)
    elif doing == "reopen":
        prepared("WAL").close()
        say("ready")
        told, errors = told_to_stop(), 0
        while not told.is_set():
            try:
                connection = connect()
                insert(connection, 5)
                connection.close()
            except sqlite3.Error:
                errors += 1
        say(errors)
    elif doing == "rollback":
        connection = prepared("DELETE")
        say("ready")
        told, errors = told_to_stop(), 0
        connection.execute("PRAGMA busy_timeout=0")
        while not told.is_set():
            try:
                insert(connection, 20)
            except sqlite3.Error:
                errors += 1
        say(errors)
    else:
        connection = prepared("DELETE" if doing.startswith("delete") else "WAL")
        if doing == "exclusive":
            connection.execute("PRAGMA locking_mode=EXCLUSIVE")
        if doing in ("open", "exclusive", "delete-spilled"):
            connection.execute("PRAGMA cache_size=2")
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute("UPDATE said SET text = 'changed'")
            for _ in range(300):
                connection.execute("INSERT INTO said (text) VALUES (hex(randomblob(500)))")
        connection.execute("PRAGMA busy_timeout=0")
        say("ready")
        for line in sys.stdin:
            if line == "insert\n":
                insert(connection)
                say("done")
            elif line == "truncate\n":
                say(connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone())
            elif line == "commit\n":
                connection.execute("COMMIT")
                say("done")


main()
