"""Cursors of files: how far each was read, and the bytes that could not be taken."""

from collections.abc import Sequence

from sqlalchemy import Connection, insert, select, update
from sqlalchemy import bindparam as parameter
from sqlalchemy.dialects.sqlite import insert as upsert

from cloxy_core.services.write.batch import Cursor, FileBatch
from cloxy_core.store.sequence import next_ids
from cloxy_hookspecs.tables import dead_letters, sources

COLUMNS = (
    "uri",
    "identity",
    "byte_offset",
    "size",
    "mtime_ns",
    "head",
    "head_len",
    "before_hash",
    "parser_state",
    "state",
    "error",
    "records",
    "messages",
    "bad_lines",
)
KEPT_LETTERS = 50


def read_cursors(connection: Connection, plugin: str) -> dict[str, Cursor]:
    """All cursors of a source, by address."""
    rows = connection.execute(
        select(sources.c.id, *(sources.c[name] for name in COLUMNS)).where(
            sources.c.plugin == plugin
        )
    ).mappings()
    return {row["uri"]: Cursor(**row) for row in rows}


def write_cursors(
    connection: Connection, batches: Sequence[FileBatch], now: int
) -> dict[tuple[str, str], int]:
    """Store the cursors of a transaction; their ids by (plugin, uri).

    Of several runs of one file, the cursor after the last is stored.
    """
    latest = list({_place(batch): batch for batch in batches}.values())
    fresh = [batch for batch in latest if batch.cursor.id is None]
    ids = dict(zip(map(_place, fresh), next_ids(connection, sources, len(fresh)), strict=True))
    if fresh:
        connection.execute(
            insert(sources),
            [{"id": ids[_place(batch)], **_values(batch, now)} for batch in fresh],
        )
    known = [batch for batch in latest if batch.cursor.id is not None]
    if known:
        connection.execute(
            _UPDATE, [{"cursor": batch.cursor.id, **_values(batch, now)} for batch in known]
        )
    ids.update({_place(batch): batch.cursor.id for batch in known if batch.cursor.id is not None})
    letters = [
        {
            "source_id": ids[_place(batch)],
            "byte_start": line.start,
            "byte_end": line.end,
            "reason": line.reason,
            "tries": 1,
            "at": now,
        }
        for batch in batches
        for line in batch.bad_lines[:KEPT_LETTERS]
    ]
    if letters:
        statement = upsert(dead_letters)
        connection.execute(
            statement.on_conflict_do_update(
                index_elements=["source_id", "byte_start"],
                set_={"reason": statement.excluded.reason, "tries": dead_letters.c.tries + 1},
            ),
            letters,
        )
    return ids


_UPDATE = (
    update(sources)
    .where(sources.c.id == parameter("cursor"))
    .values({name: parameter(name) for name in (*COLUMNS, "parser", "plugin", "updated_at")})
)


def _place(batch: FileBatch) -> tuple[str, str]:
    return batch.feed.plugin, batch.cursor.uri


def _values(batch: FileBatch, now: int) -> dict[str, object]:
    cursor = batch.cursor
    values: dict[str, object] = {name: getattr(cursor, name) for name in COLUMNS}
    values["parser_state"] = dict(cursor.parser_state)
    return {"plugin": batch.feed.plugin, "parser": batch.feed.parser, "updated_at": now, **values}
