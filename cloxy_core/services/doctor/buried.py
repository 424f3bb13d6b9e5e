"""The list of what was forgotten: does its key fit, and what does its index still have of it."""

import math
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection

from cloxy_core.runtime.wording import counted
from cloxy_core.services.doctor.findings import SHOWN_DETAILS, Examined, Problem
from cloxy_core.services.doctor.quarantine import FOLDER as QUARANTINE
from cloxy_core.services.holding import HOLD
from cloxy_core.services.write.tombstones import KEY_BYTES, key_mark
from cloxy_core.store.backup import backups
from cloxy_core.store.library import driver

PART: Final = "forgotten"
KEY_FILE: Final = "tombstones.key"
KEY_PROBLEM: Final = "forgotten-key"
# The plus keeps SQLite from searching, which a damaged index would lead astray.
_BURIED: Final = """
    SELECT rowid, scope, key_hmac FROM {schema}.tombstones INDEXED BY sqlite_autoindex_tombstones_1
    WHERE +scope IN ('key', 'uid', 'text', 'title', 'session', 'whole')
"""
Buried = tuple[int, str, bytes]

_MARKS: Final = "SELECT key_hmac FROM tombstones WHERE scope = 'key'"
_LAST: Final = "SELECT max(at) FROM tombstones"
_COUNT: Final = "SELECT count(*) FROM tombstones WHERE scope = 'uid'"


def examine_buried(connection: Connection, data: Path) -> Examined:
    """Whether what was forgotten is recognised: the key in its file is that of the list.

    Args:
        connection: a read transaction.
        data: the data directory; no key is made.
    """
    count = int(connection.exec_driver_sql(_COUNT).scalar_one())
    marks = {bytes(mark) for mark in connection.exec_driver_sql(_MARKS).scalars()}
    older = _older(connection, data)
    if not marks or marks == {mark_of(data)}:
        return Examined(PART, f"{counted(count, 'message')} known as forgotten", older)
    held = (data / HOLD).exists()
    problem = Problem(
        name=KEY_PROBLEM,
        severity="error",
        message=f"the key of what was forgotten is missing or another than before ({KEY_FILE}), "
        "so forgotten text can come back from session logs",
        repair="" if held else "lets no session log be read until you say so",
        remedy=f"put {data / KEY_FILE} back from a backup of the folder before the server starts, "
        "or delete the session logs that hold what was forgotten",
    )
    return Examined(PART, "", (problem, *older))


def _older(connection: Connection, data: Path) -> tuple[Problem, ...]:
    """Copies from before the last forgetting, which it did not reach."""
    (last,) = connection.exec_driver_sql(_LAST).one()
    kept = [*backups(data / "backups"), *sorted((data / QUARANTINE).glob("*/*"))]
    older = [path for path in kept if last and _changed_at(path) <= last]
    if not older:
        return ()
    problem = Problem(
        name="forgotten-kept",
        severity="note",
        message=f"{counted(len(older), 'file')} from before the last forgetting can still hold "
        "what was forgotten",
        count=len(older),
        details=tuple(map(str, older[:SHOWN_DETAILS])),
        remedy="delete them when you no longer need them",
    )
    return (problem,)


def _changed_at(path: Path) -> float:
    """Milliseconds; endless for a file that a running server has just removed."""
    try:
        return path.stat().st_mtime * 1000
    except OSError:
        return math.inf


def mark_of(data: Path) -> bytes | None:
    """What stands in the list for the key of a data directory; None without a whole key."""
    try:
        key = (data / KEY_FILE).read_bytes()
    except OSError:
        return None
    return key_mark(key) if len(key) == KEY_BYTES else None


def is_key_lost(connection: Any, mark: bytes | None) -> bool:  # noqa: ANN401 - the driver's
    """Whether things were forgotten with another key than the one of this mark."""
    marks = {bytes(row[0]) for row in connection.execute(_MARKS)}
    return bool(marks) and marks != {mark}


def buried_by_index(connection: Any, schema: str) -> list[Buried]:  # noqa: ANN401 - the driver's
    """What the index over the list of forgotten things holds, as far as it can be read.

    It repeats all of the list but the times, so it may still have what the list has lost.

    Args:
        connection: the driver's.
        schema: `main`, or the name of an attached database.
    """
    found: list[Buried] = []
    with suppress(driver.Error):
        for row, scope, key in connection.execute(_BURIED.format(schema=schema)):
            found.append((row, scope, key))
    return found


def bury_again(connection: Any, buried: Sequence[Buried], now: int) -> int:  # noqa: ANN401 - the driver's
    """Put into the list what it has no more; how much that was.

    Args:
        connection: the driver's.
        buried: of the index.
        now: stands for the lost time of each, milliseconds; a later one forgets more, not less.
            The mark of the key has none.
    """
    added = 0
    for row, scope, key in buried:
        values = (scope, key, 0 if scope == "key" else now)
        # With its old number where that is free, so that it no longer counts as missing.
        added += connection.execute(
            "INSERT OR IGNORE INTO main.tombstones (rowid, scope, key_hmac, at)"
            " VALUES (?, ?, ?, ?)",
            (row, *values),
        ).rowcount
        added += connection.execute(
            "INSERT OR IGNORE INTO main.tombstones (scope, key_hmac, at) VALUES (?, ?, ?)", values
        ).rowcount
    return added
