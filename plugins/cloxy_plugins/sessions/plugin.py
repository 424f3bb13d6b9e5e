"""What the plugin brings: the list of sessions, and a look into one."""

from collections.abc import Iterable
from typing import Any

from cloxy_hookspecs import (
    DateReader,
    OperationProvider,
    Route,
    SourceCatalogue,
    hookimpl,
)


@hookimpl
def cloxy_operations() -> Iterable[OperationProvider[Any, Any]]:
    """Both operations, with their doors."""
    from cloxy_plugins.sessions import doors, listing, models, showing

    yield OperationProvider(
        name="session-list",
        summary="List sessions, the newest first",
        requires=(DateReader,),
        input=models.SessionsInput,
        output=models.SessionsOutput,
        effect="read",
        doors=(Route("GET", "/sessions"), doors.SESSIONS),
        create=listing.create_list,
    )
    yield OperationProvider(
        name="session-show",
        summary="Show a session, message by message",
        requires=(SourceCatalogue,),
        input=models.SessionInput,
        output=models.SessionOutput,
        effect="read",
        doors=(Route("GET", "/sessions/{key}"), doors.SESSION),
        create=showing.create_show,
    )
