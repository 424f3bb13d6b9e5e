"""One memory, one conversation, and how the server is."""

import json
from collections.abc import Awaitable, Callable

from cloxy_hookspecs import (
    ArchiveReader,
    HealthReader,
    HostContext,
    StoredMemory,
)
from cloxy_plugins.memory.instants import iso
from cloxy_plugins.memory.keeping import create_stats
from cloxy_plugins.memory.models import (
    MemoryIdInput,
    MemoryOutput,
    Nothing,
    SessionInput,
    SessionOutput,
    StatusOutput,
)


def create_memory(
    context: HostContext,
) -> Callable[[MemoryIdInput], Awaitable[MemoryOutput]]:
    """Make the operation that shows one memory."""
    archive = context.service(ArchiveReader)

    async def read_memory(given: MemoryIdInput) -> MemoryOutput:
        return _memory(await archive.memory(given.id))

    return read_memory


def create_session(
    context: HostContext,
) -> Callable[[SessionInput], Awaitable[SessionOutput]]:
    """Make the operation that shows a stretch of a conversation."""
    archive = context.service(ArchiveReader)

    async def read_session(given: SessionInput) -> SessionOutput:
        stored = await archive.session(given.id, start=given.start, characters=given.characters)
        return SessionOutput(
            id=stored.key,
            agent=stored.agent,
            title=stored.title,
            project=stored.project,
            parent=stored.parent,
            started_at=iso(stored.started_at),
            ended_at=iso(stored.ended_at),
            memories=[_memory(one) for one in stored.memories],
            next=stored.next,
        )

    return read_session


def create_status(context: HostContext) -> Callable[[Nothing], Awaitable[StatusOutput]]:
    """Make the operation that tells how the server is, and counts."""
    health = context.service(HealthReader)
    stats = create_stats(context)

    async def status(given: Nothing) -> StatusOutput:
        # As JSON has it, with lists for tuples.
        told = json.loads(json.dumps(await health.report()))
        return StatusOutput(health=told, stats=await stats(given))

    return status


def _memory(stored: StoredMemory) -> MemoryOutput:
    return MemoryOutput(
        id=stored.id,
        uid=stored.uid,
        content=stored.content,
        source=stored.source,
        project=stored.project,
        session_id=stored.session,
        title=stored.title,
        roles=list(stored.roles),
        authors=list(stored.authors),
        ts_start=iso(stored.at_from),
        ts_end=iso(stored.at_to),
        metadata=dict(stored.metadata),
    )
