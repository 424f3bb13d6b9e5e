"""What a caller demands of results, as conditions in SQL."""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, and_, false, or_, select

from cloxy_core.store.project_keys import key_matches
from cloxy_hookspecs.tables import memories, passages, projects
from cloxy_hookspecs.types.recall import Filters, Window

_SEPARATOR = ":"
_AFTER_SEPARATOR = chr(ord(_SEPARATOR) + 1)


def filter_clause(connection: Connection, filters: Filters) -> Sequence[ColumnElement[bool]]:
    """Conditions over `passages` joined with `memories`, to be joined with AND.

    Args:
        connection: For the table of projects, which is small and is compared in Python.
        filters: What is demanded. A project that nobody has worked in is no error: the condition
            is then false.
    """
    conditions: list[ColumnElement[bool]] = []
    if filters.project is not None and filters.project.strip():
        conditions.append(_in_project(connection, filters.project))
    conditions += _in_window(filters.window)
    if filters.source:
        conditions.append(_from_source(filters.source))
    if filters.roles:
        conditions.append(passages.c.role.in_(filters.roles))
    if filters.authors:
        conditions.append(passages.c.author.in_(filters.authors))
    return conditions


def _in_project(connection: Connection, wanted: str) -> ColumnElement[bool]:
    rows = connection.execute(select(projects.c.id, projects.c.key)).all()
    ids = [identifier for identifier, key in rows if key_matches(wanted, key)]
    return memories.c.project_id.in_(ids) if ids else false()


def _in_window(window: Window) -> list[ColumnElement[bool]]:
    """Half open; what has no time is outside, since a comparison with NULL is not true."""
    conditions: list[ColumnElement[bool]] = []
    if window.since is not None:
        conditions.append(passages.c.occurred_at >= window.since)
    if window.until is not None:
        conditions.append(passages.c.occurred_at < window.until)
    return conditions


def _from_source(prefix: str) -> ColumnElement[bool]:
    """The label itself, or one that goes on behind a `:`; exact case, and the index is used."""
    whole = prefix.rstrip(_SEPARATOR)
    column = memories.c.source
    return or_(
        column == whole,
        and_(column >= whole + _SEPARATOR, column < whole + _AFTER_SEPARATOR),
    )
