"""Keyword indexes against the passages, whichever plugin keeps them."""

from collections.abc import Sequence

from sqlalchemy import Connection
from sqlalchemy.exc import DatabaseError

from cloxy_core.runtime.wording import counted
from cloxy_core.services.doctor.findings import (
    SHOWN_IDS,
    Examined,
    Problem,
    Tell,
    listed,
)
from cloxy_core.services.indexing import CommitChannel
from cloxy_core.services.passage_rows import index_rows
from cloxy_core.store.connections import driver_connection
from cloxy_hookspecs import IndexChange, IndexRow

PART = "keyword index"
INDEX_PROBLEMS = ("full-text-damaged", "index-differs", "index-stray", "index-fails")
SLICE = 200
_REBUILD = "rebuilds the index from the passages"
_FULL_TEXT_TABLES = """
    SELECT name FROM sqlite_schema WHERE type = 'table'
    AND sql LIKE 'CREATE VIRTUAL TABLE%' AND sql LIKE '%using fts5%' ORDER BY name
"""
_ACTIVE = """
    SELECT count(*) FROM passages JOIN memories ON memories.id = passages.memory_id
    WHERE memories.state = 'active'
"""


def examine_full_text(connection: Connection) -> Examined:
    """Compare every full-text index with the text it stands for; a write transaction.

    Rank 1 is what makes FTS5 compare with the content. Of ordinary integrity checks none sees
    an index that is whole in itself and differs from its text.
    """
    problems = []
    tables = connection.exec_driver_sql(_FULL_TEXT_TABLES).scalars().all()
    for table in tables:
        name = '"' + table.replace('"', '""') + '"'
        statement = f"INSERT INTO {name}({name}, rank) VALUES('integrity-check', 1)"
        try:
            connection.exec_driver_sql(statement)
        except DatabaseError as error:
            problems.append(
                Problem(
                    name="full-text-damaged",
                    severity="error",
                    message=f"the full-text index {table} does not agree with its text",
                    details=(str(error.orig),),
                    repair=_REBUILD,
                )
            )
    agree = "agrees with its text" if len(tables) == 1 else "agree with their text"
    summary = f"{counted(len(tables), 'full-text index', 'full-text indexes')} {agree}"
    return Examined("full-text index", summary, tuple(problems))


def examine_index(connection: Connection, channel: CommitChannel, tell: Tell) -> Examined:
    """Compare an index with the passages, both ways; a write transaction that is rolled back.

    Applying what is there already must change nothing, so what does change was missing or
    wrong. An index that writes even then cannot be judged like this, and only its count is.
    """
    name = channel.record.channel
    active = int(connection.exec_driver_sql(_ACTIVE).scalar_one())
    try:
        before = channel.index.count(connection)
        wrong = _differing(connection, channel, tell)
        stray = channel.index.count(connection) - active
    except Exception as error:  # whatever a plugin's index does, the rest is looked at
        why = str(error.orig) if isinstance(error, DatabaseError) else type(error).__name__
        problem = Problem(
            name="index-fails",
            severity="error",
            message=f"the {name} index cannot be read",
            details=(why,),
            repair=_REBUILD,
        )
        return Examined(f"{name} index", "", (problem,))
    problems = []
    if wrong:
        problems.append(_differs(name, wrong))
    if stray > 0:
        problems.append(
            Problem(
                name="index-stray",
                severity="error",
                message=f"the {name} index holds {counted(stray, 'row')} of passages that are "
                "not there or not active",
                count=stray,
                repair=_REBUILD,
            )
        )
    return Examined(f"{name} index", f"{counted(before, 'passage')}, in step", tuple(problems))


def _differs(name: str, wrong: Sequence[int]) -> Problem:
    return Problem(
        name="index-differs",
        severity="error",
        message=f"the {name} index lacks or has other words for "
        f"{counted(len(wrong), 'passage')} ({listed(wrong)})",
        count=len(wrong),
        ids=tuple(wrong[:SHOWN_IDS]),
        repair=_REBUILD,
    )


def _differing(connection: Connection, channel: CommitChannel, tell: Tell) -> list[int]:
    """Passages whose rows change when they are applied; none of an index that always writes."""
    wrong: list[int] = []
    last = seen = 0
    while rows := index_rows(connection, after=last, limit=SLICE):
        last = rows[-1].passage_id
        seen += len(rows)
        tell(f"{channel.record.channel} index: {seen:,} passages")
        start = connection.begin_nested()
        if not _writes(connection, channel, rows):
            start.commit()
            continue
        always = _writes(connection, channel, rows)
        start.rollback()
        if always:
            return []
        wrong += [row.passage_id for row in rows if _writes(connection, channel, [row])]
    return wrong


def _writes(connection: Connection, channel: CommitChannel, rows: Sequence[IndexRow]) -> bool:
    """Whether applying rows changed anything."""
    driver = driver_connection(connection)
    before = driver.total_changes
    channel.index.apply_in(connection, [IndexChange(row.passage_id, row) for row in rows])
    return bool(driver.total_changes != before)
