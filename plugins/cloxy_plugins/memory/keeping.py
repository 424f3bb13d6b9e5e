"""Remembering and counting."""

from collections.abc import Awaitable, Callable

from cloxy_hookspecs import Draft, HostContext, MemoryReader, MemoryWriter
from cloxy_plugins.memory.instants import iso
from cloxy_plugins.memory.models import (
    IngestTextInput,
    IngestTextOutput,
    Nothing,
    ProjectOutput,
    ProjectsOutput,
    ReindexOutput,
    StatsOutput,
)

KEYWORD = "keyword"
DENSE = "dense"


def create_remember(
    context: HostContext,
) -> Callable[[IngestTextInput], Awaitable[IngestTextOutput]]:
    """Make the operation that stores a text."""
    writer = context.service(MemoryWriter)

    async def remember(given: IngestTextInput) -> IngestTextOutput:
        stored = await writer.remember(
            Draft(
                text=given.text,
                origin="note",
                source=given.source or "manual",
                project=given.project or None,
                metadata=given.metadata or {},
            )
        )
        return IngestTextOutput(
            chunks_stored=stored.added, total_chunks=len(stored.ids), ids=list(stored.ids)
        )

    return remember


def create_projects(context: HostContext) -> Callable[[Nothing], Awaitable[ProjectsOutput]]:
    """Make the operation that lists projects."""
    reader = context.service(MemoryReader)

    async def projects(_given: Nothing) -> ProjectsOutput:
        return ProjectsOutput(
            projects=[
                ProjectOutput(
                    project=summary.project,
                    chunks=summary.memories,
                    sessions=summary.sessions,
                    first_seen=iso(summary.first_seen),
                    last_seen=iso(summary.last_seen),
                )
                for summary in await reader.projects()
            ]
        )

    return projects


def create_stats(context: HostContext) -> Callable[[Nothing], Awaitable[StatsOutput]]:
    """Make the operation that counts."""
    reader = context.service(MemoryReader)
    database = str(context.paths.data / "memory.db")
    began = context.clock.now_ms()

    async def stats(_given: Nothing) -> StatsOutput:
        counted = await reader.stats()
        return StatsOutput(
            total_memories=counted.memories,
            with_embeddings=counted.embedded,
            vector_index_size=counted.indexes.get(DENSE, 0),
            keyword_index_size=counted.indexes.get(KEYWORD, 0),
            passages=counted.passages,
            indexes=dict(counted.indexes),
            sources=dict(counted.sources),
            redactions=dict(counted.redactions),
            embed_model=counted.embed_model,
            db_path=database,
            vector_engine="exact" if DENSE in counted.indexes else "none",
            keyword_engine="sqlite_fts5",
            cache_size=0,
            uptime=(context.clock.now_ms() - began) // 1000,
        )

    return stats


def create_reindex(context: HostContext) -> Callable[[Nothing], Awaitable[ReindexOutput]]:
    """Make the operation that rebuilds every index."""
    writer = context.service(MemoryWriter)

    async def reindex(_given: Nothing) -> ReindexOutput:
        sizes = await writer.reindex()
        return ReindexOutput(
            status="rebuilt",
            vector_index_size=sizes.get(DENSE, 0),
            keyword_index_size=sizes.get(KEYWORD, 0),
            indexes=dict(sizes),
        )

    return reindex
