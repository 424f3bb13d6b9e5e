"""What somebody wants to be forgotten, and which memories that means."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import ColumnElement, Connection, func, or_, select

from cloxy_core.services.rules.naming import pick_projects
from cloxy_hookspecs import InputError, NotFoundError
from cloxy_hookspecs.tables import memories, passages, sessions


@dataclass(frozen=True, slots=True)
class Wanted:
    """One memory, or all of a source, of a session or of a project.

    Attributes:
        kind: what `name` names.
        name: an id, a source label or its beginning, a session's id, a path or a folder's name.
    """

    kind: Literal["memory", "source", "session", "project"]
    name: str


@dataclass(frozen=True, slots=True)
class Meant:
    """What was meant.

    Attributes:
        condition: over `memories` joined with `passages`.
        projects: rows of projects that are meant as a whole.
    """

    condition: ColumnElement[bool]
    projects: Sequence[int] = ()


def meant(connection: Connection, wanted: Wanted) -> Meant:
    """Find out what is meant.

    Raises:
        NotFoundError: there is no such memory, session or project.
        InputError: the source is empty, or the name fits several projects; the words name them.
    """
    if wanted.kind == "memory":
        return Meant(_memory(connection, int(wanted.name)))
    if wanted.kind == "source":
        return Meant(source_condition(wanted.name))
    if wanted.kind == "session":
        return Meant(_session(connection, wanted.name))
    ids = [project.id for project in pick_projects(connection, wanted.name)]
    return Meant(memories.c.project_id.in_(ids), ids)


def source_condition(prefix: str) -> ColumnElement[bool]:
    """Memories of a source label or below it, in whole `:` segments, case-sensitive.

    Raises:
        InputError: it is empty.
    """
    stem = prefix.strip().rstrip(":")
    if not stem:
        raise InputError(
            "the source prefix is empty", hint="name a source, for example `convo:<session>`"
        )
    below = stem + ":"
    column = memories.c.source
    # substr compares exactly; LIKE would ignore case and take `_` and `%` for wildcards.
    return or_(column == stem, func.substr(column, 1, len(below)) == below)


def _memory(connection: Connection, memory_id: int) -> ColumnElement[bool]:
    if connection.execute(select(memories.c.id).where(memories.c.id == memory_id)).first() is None:
        raise NotFoundError(
            f"there is no memory {memory_id}", hint="ids are shown by `cloxy recall`"
        )
    return passages.c.memory_id == memory_id


def _session(connection: Connection, key: str) -> ColumnElement[bool]:
    wanted = key.strip()
    if not wanted:
        raise InputError("the session is empty", hint="`cloxy recall --json` shows `session_id`")
    found = connection.execute(select(sessions.c.id).where(sessions.c.key == wanted)).scalars()
    ids = list(found)
    if not ids:
        raise NotFoundError(
            f"there is no session {wanted}", hint="`cloxy recall --json` shows `session_id`"
        )
    return memories.c.session_id.in_(ids)
