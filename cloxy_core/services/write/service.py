"""Reading, writing and forgetting memories: the two ports."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

from sqlalchemy import Connection, func, select

from cloxy_core.services.echo import strip_echo
from cloxy_core.services.indexing import Indexing, passage_total
from cloxy_core.services.redaction import JsonValue, clean, redact_value
from cloxy_core.services.write.elsewhere import Cleaned, Elsewhere
from cloxy_core.services.write.erasing import Eraser
from cloxy_core.services.write.forgetting import Forgetter, Forgetting, Traces
from cloxy_core.services.write.notes import NoteWriter
from cloxy_core.services.write.retitling import retitle, stale_titles
from cloxy_core.services.write.wanted import Wanted
from cloxy_core.store.counters import count_up, read_counts
from cloxy_core.store.engine import Store
from cloxy_hookspecs import (
    CloxyError,
    Draft,
    Forgotten,
    InputError,
    MemoryStats,
    NotFoundError,
    ProjectSummary,
    StillHeld,
    Stored,
)
from cloxy_hookspecs.tables import embedding_spaces, embeddings, memories, projects


class MemoryService:
    """Implements `MemoryReader` and `MemoryWriter`."""

    def __init__(
        self,
        store: Store,
        indexing: Indexing,
        notes: NoteWriter,
        forgetter: Forgetter,
        eraser: Eraser,
        elsewhere: Elsewhere | None = None,
    ) -> None:
        self.eraser = eraser
        eraser.before = self._tidy
        self._elsewhere = elsewhere
        self._store = store
        self._indexing = indexing
        self._notes = notes
        self._forgetter = forgetter
        self._rebuilding = asyncio.Lock()

    async def projects(self) -> Sequence[ProjectSummary]:
        """All projects, last seen first."""
        return await self._store.read(_projects)

    async def stats(self) -> MemoryStats:
        """Counts of the whole store."""
        indexes = await self._indexing.counts()
        return await self._store.read(lambda connection: _stats(connection, indexes))

    async def total(self) -> int:
        """How many active memories there are."""
        return await self._store.read(
            lambda c: c.execute(select(func.count()).select_from(memories)).scalar_one()
        )

    async def remember(self, draft: Draft) -> Stored:
        """Redact, chunk, store and index a text, durably."""
        text, _echoes = strip_echo(draft.text)
        cleaned = clean(text)
        if not cleaned.text.strip():
            raise InputError(
                "nothing is left to remember",
                hint="the text is empty, or all of it is private or recalled memory",
            )
        metadata, more = _clean_metadata(draft)
        source = clean(draft.source)
        project = clean(draft.project) if draft.project else None
        counts = [cleaned.counts, more, source.counts, project.counts if project else {}]
        ready = replace(
            draft,
            text=cleaned.text,
            metadata=metadata,
            source=source.text.strip() or "manual",
            project=project.text if project else None,
        )

        def write(connection: Connection) -> Stored:
            for found in counts:
                count_up(connection, {f"redacted.{kind}": n for kind, n in found.items()})
            return self._notes.apply(connection, ready)

        stored = await self._store.write(write, durable=True)
        await self._indexing.drain()
        return stored

    async def forget(self, memory_id: int, *, dry_run: bool = False) -> Forgotten:
        """Remove a memory and every copy of its text, for good."""
        return await self._forget(Wanted("memory", str(memory_id)), dry_run=dry_run)

    async def forget_source(self, prefix: str, *, dry_run: bool = False) -> Forgotten:
        """Remove the memories under a source label, for good."""
        return await self._forget(Wanted("source", prefix), dry_run=dry_run)

    async def forget_session(self, session: str, *, dry_run: bool = False) -> Forgotten:
        """Remove a session, for good."""
        return await self._forget(Wanted("session", session), dry_run=dry_run)

    async def forget_project(
        self, project: str, *, dry_run: bool = False, missing_ok: bool = False
    ) -> Forgotten:
        """Remove a project, for good."""
        try:
            return await self._forget(Wanted("project", project), dry_run=dry_run)
        except NotFoundError:
            if not missing_ok:
                raise
            return Forgotten(0, 0)

    async def reindex(self) -> Mapping[str, int]:
        """Rebuild every index from the rows; passages by channel."""
        async with self._rebuilding:
            return await self._indexing.rebuild()

    async def settle(self) -> str | None:
        """Have removed passages leave the other indexes and the bytes of the files.

        Returns:
            Why bytes of them are still there, in words; None when they are not.
        """
        return await self.eraser.finish()

    async def _tidy(self) -> None:
        """Have titles that are gone, and removed passages, leave every index."""
        for session_id in await self._store.read(stale_titles):
            await retitle(self._store, self._indexing, session_id)
        await self._indexing.drain()

    async def _forget(self, wanted: Wanted, *, dry_run: bool) -> Forgotten:
        """Forget, then make it unreadable in every file of ours, and say where else it is.

        Other files first: should that fail, nothing was forgotten, and the same call does it all.
        """
        if dry_run:
            return await self._store.read(lambda c: self._forgetter.preview(c, wanted))
        traces = await self._store.read(lambda c: self._forgetter.traces(c, wanted))
        if not traces:
            return Forgotten(0, 0)
        cleaned = await self._elsewhere.clean(traces) if self._elsewhere else Cleaned()

        def write(connection: Connection) -> Forgetting:
            self.eraser.note(connection)
            return self._forgetter.forget(connection, wanted)

        with self.eraser.promised():
            try:
                done = await self._store.write(write, durable=True)
            except CloxyError as error:
                if not cleaned.removed:
                    raise
                raise _with_removed(error, cleaned.removed) from error
            pending = await self.settle()
        return replace(
            done.forgotten,
            pending=pending,
            still_in=tuple(dict.fromkeys((*cleaned.still_in, *await self._late(traces)))),
            backups_rewritten=cleaned.rewritten,
            backups_removed=cleaned.removed,
        )

    async def _late(self, traces: Traces) -> Sequence[StillHeld]:
        """Copies that a person made while it was forgotten."""
        if self._elsewhere is None:
            return ()
        try:
            return await self._elsewhere.still_in(traces)
        except CloxyError:
            # It is forgotten, which has to be told.
            return ()


def _with_removed(error: CloxyError, removed: Sequence[str]) -> CloxyError:
    """An error that also names the copies that had been removed before it."""
    told = f"copies that could not be rewritten without it were removed: {', '.join(removed)}"
    return type(error)(error.message, hint=f"{error.hint}, but {told}" if error.hint else told)


def _clean_metadata(draft: Draft) -> tuple[dict[str, object], Mapping[str, int]]:
    """Metadata without secrets, and how many there were, by kind."""
    try:
        cleaned, counts = redact_value(cast("JsonValue", dict(draft.metadata)))
    except ValueError as error:
        raise InputError(
            "the metadata cannot be stored", hint=f"{error}; leave out what is not needed"
        ) from error
    return dict(cleaned) if isinstance(cleaned, dict) else {}, counts


def _projects(connection: Connection) -> Sequence[ProjectSummary]:
    rows = connection.execute(
        select(
            projects.c.path,
            func.count(memories.c.id),
            func.count(func.distinct(memories.c.session_id)),
            func.min(memories.c.occurred_from),
            func.max(memories.c.occurred_to).label("last"),
        )
        .join(memories, memories.c.project_id == projects.c.id)
        .where(memories.c.state == "active")
        .group_by(projects.c.id)
        .order_by(func.max(memories.c.occurred_to).desc())
    )
    return [ProjectSummary(*row) for row in rows]


def _stats(connection: Connection, indexes: Mapping[str, int]) -> MemoryStats:
    stem = func.substr(memories.c.source, 1, func.instr(memories.c.source + ":", ":") - 1)
    rows = connection.execute(
        select(stem, func.count()).where(memories.c.state == "active").group_by(stem)
    )
    sources = {row[0]: row[1] for row in rows}
    active = embedding_spaces.c.active
    in_space = select(func.count()).select_from(embeddings).join(embedding_spaces).where(active)
    return MemoryStats(
        memories=sum(sources.values()),
        passages=passage_total(connection),
        indexes=indexes,
        sources=sources,
        redactions=read_counts(connection, "redacted."),
        embedded=connection.execute(in_space).scalar_one(),
        embed_model=connection.execute(select(embedding_spaces.c.model).where(active)).scalar()
        or "",
    )
