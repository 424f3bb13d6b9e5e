"""The operations of memory: Cloxy's own REST endpoints, MCP tools, resources and prompts."""

from collections.abc import Iterable
from typing import Any

from cloxy_hookspecs import (
    ArchiveReader,
    Caller,
    DateReader,
    HealthReader,
    Ingestor,
    MemoryReader,
    MemoryWriter,
    OperationProvider,
    OriginPolicy,
    Progress,
    Recaller,
    Route,
    hookimpl,
)


@hookimpl
def cloxy_origins() -> Iterable[OriginPolicy]:
    """Texts that somebody asked to be remembered, and what was said in sessions of any agent."""
    yield OriginPolicy(
        name="note", kind="episodic", tier="working", immutable=False, deduplicates=True
    )
    # What was said stays as it was said, however often it was said.
    yield OriginPolicy(
        name="transcript", kind="episodic", tier="working", immutable=True, deduplicates=False
    )


@hookimpl
def cloxy_operations() -> Iterable[OperationProvider[Any, Any]]:
    """Everything that can be asked of memory."""
    from cloxy_plugins.memory import (
        doors,
        forgetting,
        ingesting,
        keeping,
        models,
        reading,
        recalling,
        reembedding,
        ruling,
        sources,
    )

    yield OperationProvider(
        name="memory-recall",
        summary="Find what was said",
        requires=(Recaller, DateReader),
        input=models.RecallInput,
        output=models.RecallOutput,
        effect="read",
        doors=(Route("POST", "/recall"), doors.RECALL, doors.DECISION, doors.RESUME),
        create=recalling.create_recall,
    )
    yield OperationProvider(
        name="memory-remember",
        summary="Store a text",
        requires=(MemoryWriter,),
        input=models.IngestTextInput,
        output=models.IngestTextOutput,
        effect="write",
        doors=(Route("POST", "/ingest_text"), doors.REMEMBER),
        create=keeping.create_remember,
    )
    yield OperationProvider(
        name="memory-forget",
        summary="Delete one memory and every copy of its text",
        requires=(MemoryWriter,),
        input=models.ForgetMemoryInput,
        output=models.DeletedOutput,
        effect="write",
        doors=(Route("DELETE", "/memory/{id}"), doors.FORGET),
        create=forgetting.create_forget_memory,
    )
    yield OperationProvider(
        name="memory-forget-source",
        summary="Delete the memories of a source, a session or a project",
        requires=(MemoryWriter,),
        input=models.ForgetInput,
        output=models.ForgetOutput,
        effect="write",
        doors=(Route("POST", "/forget"), doors.FORGET_SOURCE),
        create=forgetting.create_forget_many,
    )
    yield OperationProvider(
        name="memory-show",
        summary="Show one memory as it stands",
        requires=(ArchiveReader,),
        input=models.MemoryIdInput,
        output=models.MemoryOutput,
        effect="read",
        doors=(Route("GET", "/memory/{id}"), doors.MEMORY_PAGE),
        create=reading.create_memory,
    )
    yield OperationProvider(
        name="memory-session",
        summary="Show a conversation, a stretch at a time",
        requires=(ArchiveReader,),
        input=models.SessionInput,
        output=models.SessionOutput,
        effect="read",
        doors=(Route("GET", "/session/{id}"), doors.SESSION_PAGE, doors.SESSION_REST),
        create=reading.create_session,
    )
    yield OperationProvider(
        name="memory-status",
        summary="Tell how the server is and what it holds",
        requires=(HealthReader, MemoryReader),
        input=models.Nothing,
        output=models.StatusOutput,
        effect="read",
        doors=(doors.STATUS,),
        create=reading.create_status,
    )
    yield OperationProvider(
        name="memory-projects",
        summary="List projects",
        requires=(MemoryReader,),
        input=models.Nothing,
        output=models.ProjectsOutput,
        effect="read",
        doors=(Route("GET", "/projects"), doors.PROJECTS, doors.PROJECT_LIST),
        create=keeping.create_projects,
    )
    yield OperationProvider(
        name="memory-stats",
        summary="Count what is stored",
        requires=(MemoryReader,),
        input=models.Nothing,
        output=models.StatsOutput,
        effect="read",
        doors=(Route("GET", "/memory_stats"),),
        create=keeping.create_stats,
    )
    yield OperationProvider(
        name="memory-reindex",
        summary="Rebuild every index from the stored rows",
        requires=(MemoryWriter,),
        input=models.Nothing,
        output=models.ReindexOutput,
        effect="admin",
        doors=(Route("POST", "/reindex"), doors.REINDEX),
        create=keeping.create_reindex,
    )
    yield OperationProvider(
        name="ingest-pass",
        summary="Read the session logs now",
        requires=(Ingestor, Caller, Progress),
        input=models.IngestConvosInput,
        output=models.IngestConvosOutput,
        effect="write",
        doors=(Route("POST", "/ingest_convos"), doors.INGEST),
        create=ingesting.create_ingest,
    )
    yield OperationProvider(
        name="ingest-status",
        summary="Tell how the watcher is",
        requires=(Ingestor,),
        input=models.Nothing,
        output=models.IngestStatusOutput,
        effect="read",
        doors=(Route("GET", "/ingest_status"),),
        create=ingesting.create_ingest_status,
    )
    yield from reembedding.operations()
    yield from ruling.operations()
    yield from sources.operations()
