"""What sources there are, and how each stands; implements `SourceCatalogue`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sqlalchemy import Connection, Select, func, select

from cloxy_core.runtime.workers import Workers
from cloxy_core.services.ingest.roots import is_there
from cloxy_core.services.ingest.service import IngestService
from cloxy_core.services.write.batch import Cursor
from cloxy_core.store.engine import Store
from cloxy_hookspecs import SourceProvider, SourceStatus
from cloxy_hookspecs.tables import memories, passages, sessions, sources

SHOWN = 20
GONE = "gone"


@dataclass(frozen=True, slots=True)
class Listed:
    """A source that a plugin brings.

    Attributes:
        record: what the plugin says of it.
        plugin: name of the plugin.
        roots: tells where it looks; None when it was not made.
        off: why it is not read; empty when it is.
    """

    record: SourceProvider
    plugin: str
    roots: Callable[[], Sequence[Path]] | None = None
    off: str = ""


class Catalogue:
    """Tells of every source."""

    def __init__(
        self, listed: Sequence[Listed], ingest: IngestService, store: Store, workers: Workers
    ) -> None:
        """Put it together.

        Args:
            listed: all sources.
            ingest: knows how far each was read.
            store: the database.
            workers: threads.
        """
        self._listed = sorted(listed, key=lambda each: (each.record.agent, each.record.name))
        self._ingest = ingest
        self._store = store
        self._workers = workers

    async def sources(self) -> Sequence[SourceStatus]:
        """All sources, by agent."""
        stored = await self._store.read(_counted)
        places = await self._workers.run("io", self._places)
        return [
            replace(
                self._status(each),
                places=places[each.record.name],
                messages=stored.messages.get(each.record.name, 0),
                sessions=stored.sessions.get(each.record.agent, 0),
            )
            for each in self._listed
        ]

    def section(self) -> Sequence[Mapping[str, object]]:
        """The part of `/health`: what needs no question to the database."""
        return [
            {
                "name": status.name,
                "agent": status.agent,
                "enabled": status.enabled,
                "why": status.why,
                "items": status.items,
                "last_success": status.last_success,
                "unknown": sum(status.unknown.values()),
                "bad_lines": status.bad_lines,
                "drift": len(status.drift),
                "failures": len(status.failures),
            }
            for status in map(self._status, self._listed)
        ]

    def _status(self, listed: Listed) -> SourceStatus:
        record = listed.record
        cursors = [c for c in self._ingest.cursors(record.name) if c.state != GONE]
        standing = self._ingest.standings[record.name]
        failures = [*standing.failures.items(), *map(_failure, filter(_failed, cursors))]
        return SourceStatus(
            name=record.name,
            agent=record.agent,
            title=record.title or record.agent,
            plugin=listed.plugin,
            enabled=not listed.off,
            why=listed.off or record.note,
            items=len(cursors),
            last_success=standing.last_success,
            unknown=dict(standing.unknown.most_common(SHOWN)),
            bad_lines=sum(cursor.bad_lines for cursor in cursors),
            drift=tuple(c.uri for c in cursors if c.state == "drift")[:SHOWN],
            failures=tuple(failures[:SHOWN]),
            passed_over=tuple(standing.passed_over.items())[:SHOWN],
            resume=record.resume,
        )

    def _places(self) -> Mapping[str, tuple[tuple[str, bool], ...]]:
        return {each.record.name: tuple(_places_of(each)) for each in self._listed}


def _places_of(listed: Listed) -> Sequence[tuple[str, bool]]:
    roots = () if listed.roots is None else listed.roots()
    return [(str(root), is_there(root)) for root in roots]


def _failed(cursor: Cursor) -> bool:
    return cursor.state == "failed"


def _failure(cursor: Cursor) -> tuple[str, str]:
    return (cursor.uri, cursor.error or "unreadable")


@dataclass(frozen=True, slots=True)
class _Stored:
    """Counts of what is stored: messages by source, sessions by agent."""

    messages: Mapping[str, int]
    sessions: Mapping[str, int]


def _counted(connection: Connection) -> _Stored:
    by_source = (
        select(sources.c.plugin, func.count())
        .select_from(passages)
        .join(memories, memories.c.id == passages.c.memory_id)
        .join(sources, sources.c.id == memories.c.source_id)
        .where(passages.c.part == 0)
        .group_by(sources.c.plugin)
    )
    by_agent = select(sessions.c.agent, func.count()).group_by(sessions.c.agent)
    return _Stored(_pairs(connection, by_source), _pairs(connection, by_agent))


def _pairs(connection: Connection, statement: Select[str, int]) -> Mapping[str, int]:
    rows = connection.execute(statement).all()
    return {str(name): int(count) for name, count in rows}
