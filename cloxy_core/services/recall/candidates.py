"""Candidates: what the channels found, read back from the store in one statement."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Connection, func, select

from cloxy_core.services.headers import index_header
from cloxy_core.services.passage_rows import PASSAGE_TEXT
from cloxy_hookspecs import Author, CandidateBatch, Role
from cloxy_hookspecs.tables import memories, passages, projects, sessions

T = TypeVar("T", int, str)

DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage with what is needed to judge it; times in milliseconds.

    Attributes:
        id: passage id.
        memory_id: memory that it is part of.
        role: whose turn it was.
        author: who wrote it.
        at: when it was said.
        char_start: character offset in the memory's content.
        char_end: character offset after it.
        text: verbatim text.
        text_hash: the same for equal texts.
        message_uid: the agent's own id of the message, the same in every copy.
        project: project path.
        title: title of the session.
        session: key of the session.
        parent: key of the session that it was copied from or started by.
        started_at: when the session began.
    """

    id: int
    memory_id: int
    role: Role
    author: Author
    at: int | None
    char_start: int
    char_end: int
    text: str
    text_hash: str
    message_uid: str | None
    project: str | None
    title: str | None
    session: str | None
    parent: str | None
    started_at: int | None


def load(connection: Connection, ids: Sequence[int]) -> Mapping[int, Candidate]:
    """Candidates by passage id; a passage that is gone is left out."""
    if not ids:
        return {}
    statement = (
        select(
            passages.c.id,
            passages.c.memory_id,
            passages.c.role,
            passages.c.author,
            passages.c.occurred_at,
            passages.c.char_start,
            passages.c.char_end,
            PASSAGE_TEXT,
            passages.c.text_hash,
            passages.c.message_uid,
            projects.c.path,
            sessions.c.title,
            sessions.c.key,
            sessions.c.parent_key,
            sessions.c.started_at,
        )
        .join(memories, memories.c.id == passages.c.memory_id)
        .outerjoin(sessions, sessions.c.id == passages.c.session_id)
        .outerjoin(projects, projects.c.id == memories.c.project_id)
        .where(among(passages.c.id, ids), memories.c.state == "active")
    )
    rows: Iterable[Sequence[Any]] = connection.execute(statement)
    return {row[0]: Candidate(*row) for row in rows}


def batch_of(candidates: Sequence[Candidate], base: Sequence[float], now: int) -> CandidateBatch:
    """Candidates as columns.

    Args:
        candidates: in the order of the columns.
        base: fused score of each.
        now: the asker's present, milliseconds.
    """
    return CandidateBatch(
        ids=[item.id for item in candidates],
        base=base,
        texts=[item.text for item in candidates],
        headers=[
            index_header(item.at, item.project, item.title, item.session, item.role)
            for item in candidates
        ],
        occurred_at=[item.at for item in candidates],
        age_days=[_age(item.at, now) for item in candidates],
        roles=[item.role for item in candidates],
        authors=[item.author for item in candidates],
    )


def among(column: ColumnElement[T], values: Sequence[T]) -> ColumnElement[bool]:
    """A condition for one of any number of values, with a single bound variable."""
    each = func.json_each(json.dumps(list(values))).table_valued("value")
    return column.in_(select(each.c.value))


def _age(at: int | None, now: int) -> float | None:
    return None if at is None else max(now - at, 0) / DAY_MS
