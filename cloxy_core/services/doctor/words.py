"""Words in the core's tables that are no text any more; reading such a row fails."""

import difflib
from collections.abc import Iterator

from sqlalchemy import JSON, Connection, String

from cloxy_core.runtime.wording import counted
from cloxy_core.services.doctor.findings import SHOWN_DETAILS, Examined, Problem
from cloxy_core.services.doctor.pieces import LABELS
from cloxy_hookspecs.tables import CORE_METADATA

PART = "words"
# Those are compared with their hashes, or looked at as JSON, and mended in another way.
_ELSEWHERE = {("memories", "content"), ("memories", "extra"), ("sources", "parser_state")}


def examine_words(connection: Connection) -> Examined:
    """Find names, labels and the like whose bytes are no UTF-8."""
    bad = [(table, column, row) for table, column, row, _ in _unreadable(connection)]
    if not bad:
        return Examined(PART, "all can be read")
    problem = Problem(
        name="unreadable-words",
        severity="error",
        message=f"{counted(len(bad), 'value')} are no text any more",
        count=len(bad),
        details=tuple(f"{table}.{column} of row {row}" for table, column, row in bad)[
            :SHOWN_DETAILS
        ],
        repair="makes them readable, with a mark in place of each damaged character",
    )
    return Examined(PART, "", (problem,))


def repair_words(connection: Connection) -> int:
    """Make them readable; a write transaction. How many were changed."""
    bad = list(_unreadable(connection))
    for table, column, row, data in bad:
        if table == "tombstones":
            _bury_in_every_way(connection, row)
            continue
        text = data.decode("utf-8", "replace")
        if (table, column) == ("passages", "role"):
            (text,) = difflib.get_close_matches(text, LABELS, n=1, cutoff=0.0)
        connection.exec_driver_sql(
            f'UPDATE OR REPLACE "{table}" SET "{column}" = ? WHERE rowid = ?',  # noqa: S608 - our names
            (text, row),
        )
    return len(bad)


def _bury_in_every_way(connection: Connection, row: int) -> None:
    """What was forgotten stays so: its hash counts for whatever can be forgotten.

    Only the mark of the key has no time.
    """
    connection.exec_driver_sql(
        "INSERT OR IGNORE INTO tombstones (scope, key_hmac, at) SELECT value, key_hmac, at"
        " FROM tombstones, json_each(CASE at WHEN 0 THEN '[\"key\"]'"
        ' ELSE \'["uid", "text", "title", "session", "whole"]\' END) WHERE tombstones.rowid = ?',
        (row,),
    )
    connection.exec_driver_sql("DELETE FROM tombstones WHERE rowid = ?", (row,))


def _unreadable(connection: Connection) -> Iterator[tuple[str, str, int, bytes]]:
    """Table, column, row and bytes of each."""
    for name, table in CORE_METADATA.tables.items():
        names = [
            column.name
            for column in table.columns
            if isinstance(column.type, (String, JSON)) and (name, column.name) not in _ELSEWHERE
        ]
        if not names or not connection.exec_driver_sql(f"PRAGMA table_info({name})").first():
            continue
        values = ", ".join(f'CAST("{column}" AS BLOB)' for column in names)
        rows = connection.exec_driver_sql(f'SELECT rowid, {values} FROM "{name}"').fetchall()  # noqa: S608 - our names
        for number, *row in rows:
            for column, data in zip(names, row, strict=True):
                if data is not None and not _is_text(data):
                    yield name, column, number, data


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
