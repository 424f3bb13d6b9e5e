"""Another process with an old database; locks are of no use within one.

Arguments: what to do, and the path. `hold` keeps it open until its input ends, and then writes a
row; `write` tries to write one at once and says how that ended; `upgrade` converts a folder.
"""

import sqlite3
import sys

from legacy.legacy_kit import upgrade

from cloxy_hookspecs.errors import CloxyError

INSERT = "INSERT INTO chunks (content, content_hash) VALUES ('written late', 'x')"


def hold(path):
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("SELECT count(*) FROM chunks").fetchall()
    print("open", flush=True)
    sys.stdin.read()
    connection.execute(INSERT)
    connection.close()


def write(path):
    try:
        sqlite3.connect(path, timeout=0, isolation_level=None).execute(INSERT)
    except sqlite3.Error as error:
        print(error)


def convert(path):
    try:
        upgrade(path)
    except CloxyError as error:
        print(type(error).__name__)


{"hold": hold, "write": write, "upgrade": convert}[sys.argv[1]](sys.argv[2])
