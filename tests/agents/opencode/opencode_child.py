"""OpenCode at work on its database: `opencode_child.py FOLDER MESSAGES`.

It says as many messages and more, until it is told that they are enough, writing each answer anew
as it grows.
"""

import json
import sys
import time
from pathlib import Path

from agents.writer_loops import write_until_enough
from opencode_kit import A, Store, text, uid


def say(connection, number):
    at = int(time.time() * 1000)
    key, part = (uid(at, number % 4096, *kind) + str(number) for kind in ((), ("prt",)))
    data = json.dumps({"role": ("user", "assistant")[number % 2], "time": {"created": at}})
    connection.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", (key, A, at, at, data))
    values = (part, key, A, at, at, json.dumps(text("growing")))
    connection.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", values)
    for step in range(5):
        now = int(time.time() * 1000)
        words = json.dumps(text(f"words {number} " + "and so on " * step))
        statement = "UPDATE part SET data = ?, time_updated = ? WHERE id = ?"
        connection.execute(statement, (words, now, part))


store = Store(Path(sys.argv[1])).session(A)
write_until_enough(store.path, int(sys.argv[2]), say)
