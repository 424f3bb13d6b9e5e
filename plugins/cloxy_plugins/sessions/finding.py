"""The one session that an id, or the beginning of one, means."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import Connection, RowMapping, func, select

from cloxy_hookspecs import ConflictError, NotFoundError
from cloxy_hookspecs.tables import projects, sessions

SHORTEST: Final = 6
"""Characters of an id's beginning that are enough."""

SUBAGENT: Final = "subagent"
_NAMED: Final = 5


def find_session(connection: Connection, key: str, agent: str | None) -> RowMapping:
    """The session of an id.

    Args:
        connection: a read transaction.
        key: the agent's own id, or the beginning of it.
        agent: name of the agent; None for any.

    Raises:
        NotFoundError: there is none.
        ConflictError: there are several.
    """
    statement = (
        select(sessions, projects.c.path)
        .outerjoin(projects, projects.c.id == sessions.c.project_id)
        .order_by(sessions.c.key, sessions.c.agent)
    )
    if agent:
        statement = statement.where(sessions.c.agent == agent.strip().lower())
    found = connection.execute(statement.where(sessions.c.key == key)).mappings().all()
    if not found and len(key) >= SHORTEST:
        begins = func.substr(sessions.c.key, 1, len(key)) == key
        found = _own(connection.execute(statement.where(begins)).mappings().all())
    if len(found) == 1:
        return found[0]
    if found:
        raise _several(found)
    hint = "`cloxy sessions` shows the ids"
    if len(key) < SHORTEST:
        hint += f"; of a longer id give {SHORTEST} characters at least"
    raise NotFoundError("there is no such session", hint=hint)


def relation_of(row: RowMapping) -> str | None:
    """What a session is to its parent; of old rows only the id tells."""
    relation, parent = row["relation"], row["parent_key"]
    if relation is None and parent and row["key"].startswith(f"{parent}/"):
        return SUBAGENT
    return str(relation) if relation else None


def _own(found: Sequence[RowMapping]) -> Sequence[RowMapping]:
    """Without the sub-agents of sessions that are there too."""
    keys = {(row["agent"], row["key"]) for row in found}
    return [row for row in found if not _is_below(row["agent"], row["key"], keys)]


def _is_below(agent: str, key: str, keys: set[tuple[str, str]]) -> bool:
    parts = key.split("/")
    return any((agent, "/".join(parts[:end])) in keys for end in range(1, len(parts)))


def _several(found: Sequence[RowMapping]) -> ConflictError:
    names = [f"{row['key']} of {row['agent']}" for row in found[:_NAMED]]
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    same = len({row["key"] for row in found}) == 1
    return ConflictError(
        f"that means several sessions: {', '.join(names)}{more}",
        hint="name the agent too" if same else "give more of the id",
    )
