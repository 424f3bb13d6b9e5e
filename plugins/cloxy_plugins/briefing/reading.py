"""What the store knows of a project: notes about it, and what was worked on last."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from cloxy_hookspecs.tables import memories, passages, sessions

NOTES = 8
SESSIONS = 3
REQUESTS = 2
"""Last requests of a person that are told of a session."""
LEAST_CHARACTERS = 20
"""Of a request that says anything; "yes, go on" does not."""
MOST_CHARACTERS = 600
"""Read of one text; less is shown."""


@dataclass(frozen=True, slots=True)
class Told:
    """A text of the project.

    Attributes:
        memory_id: where it stands.
        at: milliseconds since the epoch; None when nobody knows.
        text: its beginning.
        title: title of its session, or empty.
    """

    memory_id: int
    at: int | None
    text: str
    title: str = ""


def notes(connection: Connection, project_id: int) -> Sequence[Told]:
    """Texts that somebody asked to be remembered, the newest first."""
    rows = connection.execute(
        select(
            memories.c.id,
            memories.c.occurred_from,
            memories.c.created_at,
            func.substr(memories.c.content, 1, MOST_CHARACTERS).label("text"),
        )
        .where(
            memories.c.project_id == project_id,
            memories.c.origin == "note",
            memories.c.state == "active",
        )
        .order_by(memories.c.updated_at.desc(), memories.c.id.desc())
        .limit(NOTES)
    )
    return [Told(row.id, row.occurred_from or row.created_at, row.text) for row in rows]


def last_requests(connection: Connection, project_id: int, since: int) -> Sequence[Told]:
    """What a person asked for last, of the latest sessions, the newest first."""
    recent = connection.execute(
        select(sessions.c.id, sessions.c.title)
        .where(
            sessions.c.project_id == project_id,
            sessions.c.program.is_(False),
            sessions.c.ended_at >= since,
        )
        .order_by(sessions.c.ended_at.desc())
        .limit(SESSIONS)
    ).all()
    return [told for row in recent for told in _requests(connection, row.id, row.title or "")]


def _requests(connection: Connection, session_id: int, title: str) -> Sequence[Told]:
    length = passages.c.char_end - passages.c.char_start
    rows = connection.execute(
        select(
            passages.c.memory_id,
            passages.c.occurred_at,
            func.substr(
                memories.c.content, passages.c.char_start + 1, func.min(length, MOST_CHARACTERS)
            ).label("text"),
        )
        .select_from(passages.join(memories, memories.c.id == passages.c.memory_id))
        .where(
            memories.c.session_id == session_id,
            memories.c.state == "active",
            passages.c.role == "user",
            passages.c.author == "human",
            passages.c.part == 0,
            length >= LEAST_CHARACTERS,
        )
        .order_by(memories.c.ordinal.desc(), passages.c.ordinal.desc())
        .limit(REQUESTS)
    )
    return [Told(row.memory_id, row.occurred_at, row.text, title) for row in rows]
