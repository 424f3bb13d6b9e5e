"""Which agents' logs are read, and how that goes."""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from cloxy_hookspecs import (
    HostContext,
    OperationProvider,
    Route,
    SourceCatalogue,
    SourceStatus,
)
from cloxy_plugins.memory.instants import iso
from cloxy_plugins.memory.models import Nothing
from cloxy_plugins.memory.source_models import (
    PlaceOutput,
    SourceFailureOutput,
    SourceOutput,
    SourcesOutput,
)


def operations() -> Iterable[OperationProvider[Any, Any]]:
    """All of them, with their doors."""
    yield OperationProvider(
        name="source-list",
        summary="List the agents whose session logs can be read, and how that goes",
        requires=(SourceCatalogue,),
        input=Nothing,
        output=SourcesOutput,
        effect="read",
        doors=(Route("GET", "/sources"),),
        create=create_sources,
    )


def create_sources(context: HostContext) -> Callable[[Nothing], Awaitable[SourcesOutput]]:
    """Make the operation that lists the sources."""
    catalogue = context.service(SourceCatalogue)

    async def sources(_given: Nothing) -> SourcesOutput:
        return SourcesOutput(sources=[_source(each) for each in await catalogue.sources()])

    return sources


def _told(places: Iterable[tuple[str, str]]) -> list[SourceFailureOutput]:
    return [SourceFailureOutput(place=place, reason=reason) for place, reason in places]


def _source(status: SourceStatus) -> SourceOutput:
    return SourceOutput(
        name=status.name,
        agent=status.agent,
        title=status.title,
        plugin=status.plugin,
        enabled=status.enabled,
        found=any(exists for _path, exists in status.places),
        why=status.why,
        places=[PlaceOutput(path=path, exists=exists) for path, exists in status.places],
        items=status.items,
        messages=status.messages,
        sessions=status.sessions,
        last_success=iso(status.last_success),
        unknown=dict(status.unknown),
        bad_lines=status.bad_lines,
        drift=list(status.drift),
        failures=_told(status.failures),
        passed_over=_told(status.passed_over),
        resume=list(status.resume),
    )
