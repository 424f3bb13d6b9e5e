"""Looks at the health of the keyword index."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlalchemy.exc import DatabaseError

from cloxy_hookspecs import Finding, StorePort

if TYPE_CHECKING:
    from sqlalchemy import Connection

SMALL = 20_000
"""Passages up to which the index is also compared with the text of every row: that needs the
writer, and must not hold it for longer than a moment."""

REPAIR = "rebuild it with POST /reindex"


class KeywordIndexCheck:
    """Compares the index with its rows, and its rows with the passages."""

    def __init__(self, store: StorePort) -> None:
        self._store = store

    async def run(self) -> Sequence[Finding]:
        """One finding for each thing that is wrong, or one that all is well."""
        rows, findings = await self._store.read(_compare)
        if rows <= SMALL:
            findings += await self._store.write(_compare_text)
        if findings:
            return findings
        return [Finding("ok", f"keyword index: {rows:,} passages, in step")]


def _compare(connection: "Connection") -> tuple[int, list[Finding]]:
    """Rows of the index, and what is wrong with its structure and numbers."""
    findings = [
        Finding("error", f"keyword index is damaged ({verdict}); {REPAIR}")
        for verdict in _verdicts(connection)
        if verdict != "ok"
    ]
    rows = _count(connection, "SELECT count(*) FROM fts_passages")
    missing = _count(
        connection,
        "SELECT count(*) FROM passages p JOIN memories m ON m.id = p.memory_id"
        " WHERE m.state = 'active' AND p.id NOT IN (SELECT passage_id FROM fts_passages)",
    )
    stray = _count(
        connection,
        "SELECT count(*) FROM fts_passages WHERE passage_id NOT IN (SELECT id FROM passages)",
    )
    if missing:
        findings.append(
            Finding("error", f"keyword index: {missing:,} passages cannot be found; {REPAIR}")
        )
    if stray:
        findings.append(
            Finding("error", f"keyword index: {stray:,} rows belong to no passage; {REPAIR}")
        )
    return rows, findings


def _verdicts(connection: "Connection") -> Sequence[str]:
    """What SQLite says of the index's structure; some damage it reports, some it fails over."""
    try:
        # A search brings this connection's picture of the index up to date; an old one looks
        # damaged.
        connection.exec_driver_sql(
            "SELECT rowid FROM passages_fts WHERE passages_fts MATCH '\"a\"' LIMIT 1"
        ).all()
        return connection.exec_driver_sql("PRAGMA integrity_check(passages_fts)").scalars().all()
    except DatabaseError as error:
        return [str(error.orig)]


def _compare_text(connection: "Connection") -> list[Finding]:
    """What is wrong between the index and the text that it stands for."""
    try:
        connection.exec_driver_sql(
            "INSERT INTO passages_fts(passages_fts, rank) VALUES('integrity-check', 1)"
        )
    except DatabaseError:
        return [Finding("error", f"keyword index does not agree with its text; {REPAIR}")]
    return []


def _count(connection: "Connection", statement: str) -> int:
    return int(connection.exec_driver_sql(statement).scalar_one())
