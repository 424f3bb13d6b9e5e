"""Crush at work on its database: `crush_child.py PROJECT MESSAGES`.

It says as many messages and more, until it is told that they are enough, writing each answer anew
as it grows.
"""

import json
import sys
import time
from pathlib import Path

from agents.writer_loops import write_until_enough
from crush_kit import A, Store, finish, text


def say(connection, number):
    at = int(time.time())
    key, role = f"m{number}", ("user", "assistant")[number % 2]
    connection.execute(
        "INSERT INTO messages (id, session_id, role, parts, created_at, updated_at)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (key, A, role, json.dumps([text("growing")]), at, at),
    )
    for step in range(5):
        parts = [text(f"words {number} " + "and so on " * step)]
        ended = step == 4
        connection.execute(
            "UPDATE messages SET parts = ?, updated_at = ?, finished_at = ? WHERE id = ?",
            (
                json.dumps([*parts, finish()] if ended else parts),
                int(time.time()),
                int(time.time()) if ended else None,
                key,
            ),
        )


store = Store(Path(sys.argv[1])).session()
write_until_enough(store.path, int(sys.argv[2]), say)
