"""The operations of memory: Cloxy's own REST endpoints."""

from collections.abc import Iterable
from typing import Any

from cloxy_hookspecs import (
    DateReader,
    Ingestor,
    MemoryReader,
    MemoryWriter,
    OperationProvider,
    OriginPolicy,
    Recaller,
    Route,
    hookimpl,
)


@hookimpl
def cloxy_origins() -> Iterable[OriginPolicy]:
    """Texts that somebody asked to be remembered."""
    yield OriginPolicy(
        name="note", kind="episodic", tier="working", immutable=False, deduplicates=True
    )


@hookimpl
def cloxy_operations() -> Iterable[OperationProvider[Any, Any]]:
    """Everything that can be asked of memory."""
    from cloxy_plugins.memory import ingesting, keeping, models, recalling

    yield OperationProvider(
        name="memory-recall",
        summary="Find what was said",
        requires=(Recaller, DateReader),
        input=models.RecallInput,
        output=models.RecallOutput,
        effect="read",
        doors=(Route("POST", "/recall"),),
        create=recalling.create_recall,
    )
    yield OperationProvider(
        name="memory-remember",
        summary="Store a text",
        requires=(MemoryWriter,),
        input=models.IngestTextInput,
        output=models.IngestTextOutput,
        effect="write",
        doors=(Route("POST", "/ingest_text"),),
        create=keeping.create_remember,
    )
    yield OperationProvider(
        name="memory-forget",
        summary="Delete one memory and every copy of its text",
        requires=(MemoryWriter,),
        input=models.MemoryIdInput,
        output=models.DeletedOutput,
        effect="write",
        doors=(Route("DELETE", "/memory/{id}"),),
        create=keeping.create_forget_memory,
    )
    yield OperationProvider(
        name="memory-forget-source",
        summary="Delete the memories of a source",
        requires=(MemoryWriter,),
        input=models.ForgetInput,
        output=models.ForgetOutput,
        effect="write",
        doors=(Route("POST", "/forget"),),
        create=keeping.create_forget_source,
    )
    yield OperationProvider(
        name="memory-projects",
        summary="List projects",
        requires=(MemoryReader,),
        input=models.Nothing,
        output=models.ProjectsOutput,
        effect="read",
        doors=(Route("GET", "/projects"),),
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
        doors=(Route("POST", "/reindex"),),
        create=keeping.create_reindex,
    )
    yield OperationProvider(
        name="ingest-pass",
        summary="Read the session logs now",
        requires=(Ingestor,),
        input=models.IngestConvosInput,
        output=models.IngestConvosOutput,
        effect="write",
        doors=(Route("POST", "/ingest_convos"),),
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
