"""The briefing: a short, fenced block about a project, for the start of a session."""

from collections.abc import Iterable
from typing import Any

from cloxy_hookspecs import (
    DateReader,
    Fence,
    OperationProvider,
    ProjectFinder,
    Recaller,
    Route,
    hookimpl,
)


@hookimpl
def cloxy_operations() -> Iterable[OperationProvider[Any, Any]]:
    """Yield the one operation."""
    from cloxy_plugins.briefing import brief, models

    yield OperationProvider(
        name="memory-brief",
        summary="Tell what matters of a project at the start of a session",
        requires=(Recaller, ProjectFinder, DateReader, Fence),
        input=models.BriefInput,
        output=models.BriefOutput,
        effect="read",
        doors=(Route("POST", "/brief"),),
        create=brief.create_brief,
    )
