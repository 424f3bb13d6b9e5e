"""What a memory holds already of a batch."""

from collections.abc import Sequence

from sqlalchemy import Connection, Row, select

from cloxy_core.services.exchange.entries import MessageEntry, NoteEntry
from cloxy_core.services.write.rows import text_hash
from cloxy_core.services.write.tombstones import Tombstones
from cloxy_core.store.lookups import lookups
from cloxy_core.store.project_keys import project_key
from cloxy_hookspecs import Message
from cloxy_hookspecs.tables import memories, passages, projects, sessions


def stored_sessions(
    connection: Connection, agent: str, keys: Sequence[str]
) -> dict[str, Row[*tuple[object, ...]]]:
    """Sessions that are there: id, title, rank and branch, by key."""
    found: dict[str, Row[*tuple[object, ...]]] = {}
    wanted = list(dict.fromkeys(keys))
    for part in lookups(wanted):
        rows = connection.execute(
            select(
                sessions.c.id,
                sessions.c.key,
                sessions.c.title,
                sessions.c.title_rank,
                sessions.c.branch,
            ).where(sessions.c.agent == agent, sessions.c.key.in_(part))
        )
        found.update({row.key: row for row in rows})
    return found


def without_named_twins(
    connection: Connection, agent: str, entries: Sequence[MessageEntry]
) -> tuple[Sequence[MessageEntry], int]:
    """Leave out messages without an id that the session holds, without an id, as the same text.

    Returns:
        The others, and how many were left out.
    """
    nameless = [entry for entry in entries if not entry.named]
    if not nameless:
        return entries, 0
    there = stored_sessions(connection, agent, [entry.message.session for entry in nameless])
    known = {entry.line for entry in nameless if _is_there(connection, there, entry)}
    return [entry for entry in entries if entry.line not in known], len(known)


def living(
    tombstones: Tombstones, connection: Connection, entries: Sequence[MessageEntry]
) -> Sequence[MessageEntry]:
    """Those messages that were not forgotten here."""
    messages = [entry.message for entry in entries]
    alive = set(map(id, tombstones.alive(connection, messages)))
    return [entry for entry in entries if id(entry.message) in alive]


def _is_there(
    connection: Connection, there: dict[str, Row[*tuple[object, ...]]], entry: MessageEntry
) -> bool:
    session = there.get(entry.message.session)
    if session is None:
        return False
    twin = select(passages.c.id).where(
        passages.c.session_id == session.id,
        passages.c.message_uid.is_(None),
        passages.c.text_hash == text_hash(entry.message.text),
        passages.c.occurred_at.is_not_distinct_from(entry.message.at),
    )
    return connection.execute(twin.limit(1)).first() is not None


def stored_messages(
    connection: Connection, agent: str, messages: Sequence[Message]
) -> set[tuple[str, str]]:
    """Session key and id of those messages that are there (of at most 500 sessions)."""
    found: set[tuple[str, str]] = set()
    keys = sorted({message.session for message in messages})
    for part in lookups(messages):
        uids = [message.uid for message in part]
        rows = connection.execute(
            select(sessions.c.key, passages.c.message_uid)
            .join(sessions, sessions.c.id == passages.c.session_id)
            .where(
                sessions.c.agent == agent,
                sessions.c.key.in_(keys),
                passages.c.message_uid.in_(uids),
            )
        )
        found.update((row.key, row.message_uid) for row in rows)
    return found


def is_note_stored(connection: Connection, note: NoteEntry, default: str) -> bool:
    """Whether a note is there, by its id or as the same text in the same project.

    Args:
        connection: a transaction.
        note: the note.
        default: origin of notes that say none, or one that is not known here.
    """
    by_id = select(memories.c.id).where(memories.c.uid == note.uid).limit(1)
    if connection.execute(by_id).first() is not None:
        return True
    same = (
        select(memories.c.id)
        .outerjoin(projects, projects.c.id == memories.c.project_id)
        .where(
            memories.c.content_hash == text_hash(note.text),
            memories.c.origin.in_({note.origin or default, default}),
            memories.c.state == "active",
            projects.c.key.is_(None)
            if note.project is None
            else projects.c.key == project_key(note.project),
        )
    )
    return connection.execute(same.limit(1)).first() is not None


def as_message(note: NoteEntry) -> Message:
    """A note in the form in which what was forgotten is recognised."""
    return Message(
        uid=note.uid,
        session="",
        role="note",
        author="program",
        text=note.text,
        at=note.at,
        start=note.line,
        end=note.line + 1,
    )
