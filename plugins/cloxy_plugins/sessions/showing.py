"""A look into one session."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Final

from sqlalchemy import Connection, RowMapping, func, select

from cloxy_hookspecs import HostContext, InputError, SourceCatalogue
from cloxy_hookspecs.tables import sessions
from cloxy_plugins.sessions.finding import SUBAGENT, find_session, relation_of
from cloxy_plugins.sessions.instants import iso
from cloxy_plugins.sessions.messages import (
    LEAD,
    number_of,
    placed_messages,
    stretch,
    with_texts,
)
from cloxy_plugins.sessions.models import ChildOutput, SessionInput, SessionOutput
from cloxy_plugins.sessions.resuming import resume, resume_commands

MOST_CHILDREN: Final = 200


def create_show(context: HostContext) -> Callable[[SessionInput], Awaitable[SessionOutput]]:
    """Make the operation."""
    catalogue = context.service(SourceCatalogue)
    store = context.store
    commands: Mapping[str, Sequence[str]] | None = None

    async def show(given: SessionInput) -> SessionOutput:
        nonlocal commands
        if commands is None:
            # They do not change while the server runs, and the question counts much else.
            commands = resume_commands(await catalogue.sources())
        return await store.read(partial(_show, given=given, commands=commands))

    return show


def _show(
    connection: Connection, *, given: SessionInput, commands: Mapping[str, Sequence[str]]
) -> SessionOutput:
    key = given.key if given.rest is None else f"{given.key}/{given.rest}"
    row = find_session(connection, key, given.agent)
    placed = placed_messages(connection, row["id"])
    here = None if given.around is None else number_of(placed, given.around)
    start = given.start if here is None else max(1, here - LEAD)
    if start > max(1, len(placed)):
        raise InputError(
            f"the session has {len(placed)} messages, so none has the number {start}",
            hint="begin with a smaller number",
        )
    shown, following = stretch(placed, start, given.limit, given.characters)
    relation = relation_of(row)
    command = () if relation == SUBAGENT else commands.get(row["agent"], ())
    return SessionOutput(
        id=row["key"],
        agent=row["agent"],
        title=row["title"],
        project=row["path"],
        cwd=row["cwd"],
        branch=row["branch"],
        parent=row["parent_key"],
        relation=relation,
        program=bool(row["program"]),
        started_at=iso(row["started_at"]),
        ended_at=iso(row["ended_at"]),
        children=_children(connection, row),
        resume=resume(command, row["key"], row["cwd"] or row["path"]),
        total=len(placed),
        messages=with_texts(connection, shown, own=given.own),
        here=here,
        next=following,
    )


def _children(connection: Connection, row: RowMapping) -> list[ChildOutput]:
    """Sessions that grew out of this one, the oldest first."""
    rows = connection.execute(
        select(
            sessions.c.key,
            sessions.c.parent_key,
            sessions.c.relation,
            sessions.c.title,
            sessions.c.started_at,
        )
        .where(sessions.c.agent == row["agent"], sessions.c.parent_key == row["key"])
        .where(sessions.c.id != row["id"])
        .order_by(func.coalesce(sessions.c.started_at, 0), sessions.c.id)
        .limit(MOST_CHILDREN)
    ).mappings()
    return [
        ChildOutput(
            id=child["key"],
            relation=relation_of(child),
            title=child["title"],
            started_at=iso(child["started_at"]),
        )
        for child in rows
    ]
