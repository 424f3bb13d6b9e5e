"""Forgetting in a restored database what was forgotten since its backup was made."""

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, delete, func, select, update
from sqlalchemy.dialects.sqlite import insert

from cloxy_core.services.doctor.building import reread_everything
from cloxy_core.services.doctor.forgotten import forget_again
from cloxy_core.services.indexing import Indexing
from cloxy_core.services.keeping.present import Grave, Present
from cloxy_core.services.write.removal import refresh
from cloxy_core.services.write.sessions import UNTOLD
from cloxy_core.services.write.tombstones import Tombstones
from cloxy_hookspecs.tables import (
    index_checkpoints,
    passages,
    sessions,
    sources,
    tombstones,
)


def take_over(connection: Connection, present: Present) -> None:
    """Take over what the replaced database knows; a write transaction.

    Args:
        connection: of the restored database.
        present: of the replaced one.
    """
    _merge(connection, present.graves)
    for table, last in present.sequences.items():
        # An id that was given stays that one's for ever.
        connection.exec_driver_sql(
            "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", (last, table)
        )
    for rule in present.rules:
        connection.exec_driver_sql(
            'INSERT OR REPLACE INTO project_rules ("key", path, ignored, keep_days, at)'
            " VALUES (?, ?, ?, ?, ?)",
            rule,
        )
    if present.rules:
        # A log says once where its session works, and the rules have to hear it.
        reread_everything(connection)
    # Indexes outside of the database follow another one; without this note they are built anew.
    connection.execute(delete(index_checkpoints))


def _merge(connection: Connection, graves: Sequence[Grave]) -> None:
    if not graves:
        return
    statement = insert(tombstones)
    later = func.max(tombstones.c.at, statement.excluded.at)
    connection.execute(
        statement.on_conflict_do_update(index_elements=["scope", "key_hmac"], set_={"at": later}),
        [{"scope": scope, "key_hmac": mark, "at": at} for scope, mark, at in graves],
    )


def bury_restored(
    connection: Connection,
    indexing: Indexing,
    buried: Tombstones,
    titles: Mapping[tuple[str, str], str],
    now: int,
) -> int:
    """Remove what the list names, and what tells of it; a write transaction.

    Args:
        connection: of the restored database.
        indexing: its indexes in SQL.
        buried: the list, with its key.
        titles: what the replaced database calls its sessions.
        now: milliseconds.

    Returns:
        Removed passages.
    """
    before = _sizes(connection)
    gone = forget_again(connection, indexing, buried, now)
    after = _sizes(connection)
    lost = [identifier for identifier, size in before.items() if after.get(identifier) != size]
    for identifier in lost:
        if identifier not in after:
            connection.execute(delete(sessions).where(sessions.c.id == identifier))
    _clear_titles(connection, indexing, buried, titles, set(lost))
    if gone:
        # What parsers noted may tell of it.
        buried.silence(connection, set(connection.execute(select(sources.c.id)).scalars()))
    return gone


def _sizes(connection: Connection) -> dict[int, int]:
    rows = connection.execute(
        select(passages.c.session_id, func.count())
        .where(passages.c.session_id.is_not(None))
        .group_by(passages.c.session_id)
    )
    return {row[0]: row[1] for row in rows}


def _clear_titles(
    connection: Connection,
    indexing: Indexing,
    buried: Tombstones,
    titles: Mapping[tuple[str, str], str],
    lost: set[int],
) -> None:
    """Take titles that may quote what was forgotten: the logs bring back what may stay.

    One that the replaced database has too was there after the forgetting.
    """
    rows = connection.execute(
        select(sessions.c.id, sessions.c.agent, sessions.c.key, sessions.c.title).where(
            sessions.c.title.is_not(None)
        )
    ).all()
    for row in rows:
        told = row.id in lost and titles.get((row.agent, row.key)) != row.title
        if not told and not buried.forbids(connection, row.key, row.title):
            continue
        connection.execute(
            update(sessions)
            .where(sessions.c.id == row.id)
            .values(title=None, title_rank=0, indexed_title=UNTOLD)
        )
        inside = select(passages.c.id).where(passages.c.session_id == row.id)
        refresh(connection, indexing, connection.execute(inside).scalars().all())
