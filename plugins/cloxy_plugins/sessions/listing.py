"""The list of sessions."""

from collections.abc import Awaitable, Callable, Iterable, Iterator
from functools import partial

from sqlalchemy import ColumnElement, Connection, RowMapping, Select, and_, func, or_, select

from cloxy_hookspecs import DateReader, Filters, HostContext, StorePort, Window
from cloxy_hookspecs.tables import memories, passages, projects, sessions
from cloxy_plugins.sessions.cursors import Place, mark_of, read_cursor, write_cursor
from cloxy_plugins.sessions.finding import SUBAGENT, relation_of
from cloxy_plugins.sessions.instants import iso
from cloxy_plugins.sessions.models import ListedOutput, SessionsInput, SessionsOutput

_last_said = func.coalesce(sessions.c.ended_at, sessions.c.started_at, 0)


def create_list(context: HostContext) -> Callable[[SessionsInput], Awaitable[SessionsOutput]]:
    """Make the operation."""
    dates = context.service(DateReader)
    clock, store = context.clock, context.store

    async def list_sessions(given: SessionsInput) -> SessionsOutput:
        zone = dates.zone(given.tz)
        window = dates.window(given.since, given.until, now=clock.now_ms(), zone=zone)
        mark = mark_of(given.words, given.project, given.agent, given.since, given.until, given.all)
        after = None if given.cursor is None else read_cursor(given.cursor, mark)
        return await store.read(
            partial(_page, store=store, given=given, window=window, after=after, mark=mark)
        )

    return list_sessions


def _page(
    connection: Connection,
    *,
    store: StorePort,
    given: SessionsInput,
    window: Window,
    after: Place | None,
    mark: str,
) -> SessionsOutput:
    statement = _statement(connection, store, given, window, after)
    found: list[RowMapping] = []
    with connection.execute(statement) as rows:
        for row in _titled(rows.mappings(), given.words):
            found.append(row)
            if len(found) > given.limit:
                break
    shown = found[: given.limit]
    counts = count_messages(connection, [row["id"] for row in shown])
    following = None
    if len(found) > given.limit:
        following = write_cursor(Place(shown[-1]["last"], shown[-1]["id"]), mark)
    return SessionsOutput(
        sessions=[_listed(row, counts.get(row["id"], 0)) for row in shown], next=following
    )


def _statement(
    connection: Connection,
    store: StorePort,
    given: SessionsInput,
    window: Window,
    after: Place | None,
) -> Select[tuple[object, ...]]:
    """Sessions of which something is stored, the newest first."""
    project = Filters(project=given.project or None)
    said = select(memories.c.id).where(
        memories.c.session_id == sessions.c.id,
        memories.c.state == "active",
        *store.filter_clause(connection, project),
    )
    conditions = [said.exists(), *_conditions(given, window)]
    if after is not None:
        same = and_(_last_said == after.at, sessions.c.id < after.id)
        conditions.append(or_(_last_said < after.at, same))
    return (
        select(sessions, projects.c.path, _last_said.label("last"))
        .outerjoin(projects, projects.c.id == sessions.c.project_id)
        .where(*conditions)
        .order_by(_last_said.desc(), sessions.c.id.desc())
    )


def _conditions(given: SessionsInput, window: Window) -> Iterator[ColumnElement[bool]]:
    columns = sessions.c
    if given.agent:
        yield columns.agent == given.agent.strip().lower()
    if not given.all:
        yield columns.program.is_(False)
        # Of old rows only the id tells whether it is a sub-agent's.
        yield or_(
            columns.relation != SUBAGENT,
            and_(
                columns.relation.is_(None),
                or_(
                    columns.parent_key.is_(None),
                    func.instr(columns.key, columns.parent_key + "/") != 1,
                ),
            ),
        )
    if window.since is not None:
        yield columns.ended_at >= window.since
    if window.until is not None:
        yield columns.started_at < window.until


def _titled(rows: Iterable[RowMapping], words: str | None) -> Iterator[RowMapping]:
    """Those whose title has all the words, upper and lower case alike."""
    wanted = (words or "").casefold().split()
    for row in rows:
        title = (row["title"] or "").casefold()
        if all(word in title for word in wanted):
            yield row


def count_messages(connection: Connection, ids: Iterable[int]) -> dict[int, int]:
    """How many messages are stored of sessions, by their rows."""
    statement = (
        select(memories.c.session_id, func.count())
        .select_from(passages.join(memories, memories.c.id == passages.c.memory_id))
        .where(
            memories.c.session_id.in_(list(ids)),
            memories.c.state == "active",
            passages.c.part == 0,
        )
        .group_by(memories.c.session_id)
    )
    rows = connection.execute(statement).all()
    return {int(session): int(count) for session, count in rows}


def _listed(row: RowMapping, messages: int) -> ListedOutput:
    return ListedOutput(
        id=row["key"],
        agent=row["agent"],
        title=row["title"],
        project=row["path"],
        branch=row["branch"],
        parent=row["parent_key"],
        relation=relation_of(row),
        program=bool(row["program"]),
        started_at=iso(row["started_at"]),
        ended_at=iso(row["ended_at"]),
        messages=messages,
    )
