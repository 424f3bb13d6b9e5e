"""The keyword channel: an FTS5 index over passages, written by code in the rows' transaction."""

import json
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from sqlalchemy import ColumnElement, and_, func, literal_column, select, table, text, true
from sqlalchemy import column as sql_column

from cloxy_hookspecs import Found, Hit, IndexChange, IndexRow, Probe, StorePort
from cloxy_hookspecs.tables import memories, passages
from cloxy_plugins.fts5 import erasing
from cloxy_plugins.fts5.deadline import TimeLimitReachedError, time_limit
from cloxy_plugins.fts5.frequencies import Frequencies
from cloxy_plugins.fts5.query import choose, expression, read_terms
from cloxy_plugins.fts5.terms import index_parts, normal, shorten

if TYPE_CHECKING:
    from sqlalchemy import Connection

WEIGHTS = "1.0, 0.5, 0.4"
"""Of the columns body, context and parts."""

_OVERFETCH = 2
_SLICES = (0.1, 0.01)
_INFO = "cloxy_fts5_hits_of_all"

IndexedRow = tuple[int, str, str, str]
"""passage_id, body, context, parts."""


class KeywordIndex:
    """Finds passages by their words; see `query` for what a question may hold."""

    def __init__(self, store: StorePort, seconds: float) -> None:
        """Make the channel.

        Args:
            store: gives the conditions of filters.
            seconds: most time that one statement may take.
        """
        self._store = store
        self._seconds = seconds
        self._frequencies = Frequencies()

    def search(self, connection: "Connection", probe: Probe, limit: int) -> Found:
        """Passages that answer the probe; a score is BM25, turned so that higher is better."""
        terms = read_terms(probe.text, probe.literals)
        if not terms:
            return Found()
        notes: list[str] = []
        try:
            with time_limit(connection, self._seconds):
                choice = choose(terms, self._frequencies.reader(connection))
        except TimeLimitReachedError:
            return Found(notes=("keyword search ran out of time; use rarer words",))
        if not choice.terms:
            return Found()
        if terms.literals and not any(term in choice.terms for term in terms.literals):
            notes.append("no passage holds " + ", ".join(terms.literals) + "; other words matched")
        conditions = self._store.filter_clause(connection, probe.filters)
        hits = self._within_time(connection, expression(choice), conditions, limit, notes)
        return Found(hits, tuple(notes))

    def count(self, connection: "Connection") -> int:
        """Passages in the index."""
        return int(connection.exec_driver_sql("SELECT count(*) FROM fts_passages").scalar_one())

    def apply_in(self, connection: "Connection", changes: Sequence[IndexChange]) -> None:
        """Bring the index in line; the last change of a passage counts."""
        latest = {change.passage_id: change.row for change in changes}
        if not latest:
            return
        connection.info.pop(_INFO, None)
        wanted = [indexed(row) for row in latest.values() if row is not None]
        present = {row[0]: row for row in _stored(connection, latest)}
        added = [row for row in wanted if present.get(row[0]) != row]
        kept = {row[0] for row in wanted if present.get(row[0]) == row}
        _remove(connection, [row for row in present.values() if row[0] not in kept])
        _insert(connection, added)

    def clear_in(self, connection: "Connection") -> None:
        """Remove everything."""
        connection.info.pop(_INFO, None)
        erasing.make_readable(connection)
        connection.exec_driver_sql("INSERT INTO passages_fts(passages_fts) VALUES('delete-all')")
        connection.exec_driver_sql("DELETE FROM fts_passages")
        self._frequencies.forget()

    def scrub_in(self, connection: "Connection") -> None:
        """Drop what removed passages left in the index; see `erasing`."""
        erasing.scrub(connection)

    def _within_time(
        self,
        connection: "Connection",
        match: str,
        conditions: Sequence[ColumnElement[bool]],
        limit: int,
        notes: list[str],
    ) -> list[Hit]:
        """Search everything, or the newest part of it when that takes too long."""
        try:
            with time_limit(connection, self._seconds):
                return _best(connection, match, conditions, limit, 0)
        except TimeLimitReachedError:
            newest = _newest(connection)
        for share in _SLICES:
            try:
                with time_limit(connection, self._seconds):
                    hits = _best(connection, match, conditions, limit, int(newest * (1 - share)))
            except TimeLimitReachedError:
                continue
            notes.append(
                f"keyword search reached its time limit; only the newest {share:.0%} was searched"
            )
            return hits
        notes.append("keyword search ran out of time; use rarer words")
        return []


def indexed(row: IndexRow) -> IndexedRow:
    """What is stored and indexed for a passage."""
    text = shorten(normal(row.text))
    context = shorten(normal(f"{row.before}\n{row.after}"))
    header, header_parts = _indexed_header(row.header)
    parts = index_parts(text)
    return (
        row.passage_id,
        _storable(f"{header}\n{text}" if header else text),
        _storable(context),
        f"{header_parts} {parts}" if header_parts else parts,
    )


@lru_cache(maxsize=1024)
def _indexed_header(header: str) -> tuple[str, str]:
    """A header and its parts; the messages of a day in one session share it."""
    header = shorten(normal(header))
    return header, index_parts(header)


def _storable(text: str) -> str:
    """Without NUL, at which SQLite's tokenizer would stop."""
    return text.replace("\0", " ") if "\0" in text else text


def _best(
    connection: "Connection",
    match: str,
    conditions: Sequence[ColumnElement[bool]],
    limit: int,
    after: int,
) -> list[Hit]:
    """The best matches with a passage id above `after`.

    Filters usually let most of the best pass, so they are first tried on a few times as many
    as are wanted; joining all matches costs several times more.
    """
    fetched = limit * _OVERFETCH
    hits = _hits_of_all(connection, match, fetched, after)
    if not conditions:
        return hits[:limit]
    refused = _refused(connection, [hit.passage_id for hit in hits], conditions)
    passed = [hit for hit in hits if hit.passage_id not in refused]
    if len(passed) >= limit or len(hits) < fetched:
        return passed[:limit]
    return _hits(connection, match, conditions, limit, after)


def _hits_of_all(connection: "Connection", match: str, limit: int, after: int) -> list[Hit]:
    """The best matches without filters, found once a transaction.

    A question about a time is asked twice of one snapshot, within that time and of everything,
    and both begin with this.
    """
    asked = (connection.get_transaction(), match, limit, after)
    known, hits = connection.info.get(_INFO, (None, []))
    if asked[0] is None or known != asked:
        hits = _hits(connection, match, (), limit, after)
        connection.info[_INFO] = (asked, hits)
    return list(hits)


def _hits(
    connection: "Connection",
    match: str,
    conditions: Sequence[ColumnElement[bool]],
    limit: int,
    after: int,
) -> list[Hit]:
    """One ranked statement, filters joined in."""
    found = table("passages_fts", sql_column("rowid"))
    score: ColumnElement[float] = literal_column(f"bm25(passages_fts, {WEIGHTS})")
    statement = (
        select(found.c.rowid, score.label("score"))
        .where(text("passages_fts MATCH :match").bindparams(match=match))
        .order_by(text("score"))
        .limit(limit)
    )
    if after:
        statement = statement.where(found.c.rowid > after)
    if conditions:
        joined = found.join(passages, passages.c.id == found.c.rowid).join(
            memories, memories.c.id == passages.c.memory_id
        )
        statement = statement.select_from(joined).where(*conditions)
    return [Hit(passage_id, -value) for passage_id, value in connection.execute(statement)]


def _refused(
    connection: "Connection", ids: Sequence[int], conditions: Sequence[ColumnElement[bool]]
) -> set[int]:
    """Those of some passages that do not meet the conditions."""
    each = func.json_each(json.dumps(list(ids))).table_valued("value")
    statement = (
        select(passages.c.id)
        .join(memories, memories.c.id == passages.c.memory_id)
        .where(
            passages.c.id.in_(select(each.c.value)),
            # A condition on an unknown value is neither true nor false; it refuses.
            and_(*conditions).is_not(true()),
        )
    )
    return set(connection.execute(statement).scalars())


def _newest(connection: "Connection") -> int:
    """The highest passage id; ids grow with time of ingest."""
    highest = connection.exec_driver_sql("SELECT max(passage_id) FROM fts_passages").scalar()
    return int(highest or 0)


def _stored(connection: "Connection", ids: Iterable[int]) -> list[IndexedRow]:
    """Rows that are there already."""
    rows = connection.exec_driver_sql(
        "SELECT passage_id, body, context, parts FROM fts_passages"
        " WHERE passage_id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(ids)),),
    )
    return [(row[0], row[1], row[2], row[3]) for row in rows]


def _remove(connection: "Connection", rows: Sequence[IndexedRow]) -> None:
    """Take rows out; the index must be told the old text, since it holds only references."""
    if not rows:
        return
    connection.exec_driver_sql(
        "INSERT INTO passages_fts(passages_fts, rowid, body, context, parts)"
        " VALUES('delete', ?, ?, ?, ?)",
        list(rows),
    )
    erasing.part(connection)
    connection.exec_driver_sql(
        "DELETE FROM fts_passages WHERE passage_id = ?", [(row[0],) for row in rows]
    )


def _insert(connection: "Connection", rows: Sequence[IndexedRow]) -> None:
    """Put rows in that are not there."""
    if not rows:
        return
    connection.exec_driver_sql(
        "INSERT INTO fts_passages(passage_id, body, context, parts) VALUES(?, ?, ?, ?)", list(rows)
    )
    connection.exec_driver_sql(
        "INSERT INTO passages_fts(rowid, body, context, parts) VALUES(?, ?, ?, ?)", list(rows)
    )
