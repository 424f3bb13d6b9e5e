"""Making all vectors anew, on request."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import asdict
from typing import Any

from pydantic import BaseModel, Field

from cloxy_hookspecs import (
    HostContext,
    OperationProvider,
    Reembedder,
    ReembedStatus,
    Route,
)
from cloxy_plugins.memory.models import Input, Nothing


class ReembedInput(Input):
    """Whether the asker's idea of the settings is the server's."""

    expected: dict[str, str] = Field(
        default_factory=dict,
        max_length=8,
        description="Texts of settings that choose the model, by name; others are refused.",
    )


class SpaceOutput(BaseModel):
    """Vectors of one model in the database."""

    model: str
    dim: int
    query_prefix: str
    passage_prefix: str
    state: str = Field(description="active, filling, dormant or leaving.")
    vectors: int
    backlog: int


class ReembedOutput(BaseModel):
    """How far it is."""

    run: int = Field(description="Number of the run since the start of the server; 0 for none.")
    state: str = Field(
        description="idle, loading, filling, paused, failed, indexing, switching, done, cancelled."
    )
    reason: str | None
    model: str
    done: int = Field(description="Passages that got a vector in this run.")
    total: int
    failed: int
    seconds: float
    rate_per_second: float
    eta_seconds: float | None
    spaces: list[SpaceOutput]


class CancelOutput(BaseModel):
    """Whether there was anything to stop."""

    cancelled: bool


class DropOutput(BaseModel):
    """Of how many models vectors are being removed."""

    dropped: int


def operations() -> Iterable[OperationProvider[Any, Any]]:
    """The operations on vectors."""
    yield OperationProvider(
        name="reembed-start",
        summary="Make all vectors anew with the model that is set now, behind everything else",
        requires=(Reembedder,),
        input=ReembedInput,
        output=ReembedOutput,
        effect="admin",
        doors=(Route("POST", "/reembed"),),
        create=create_start,
    )
    yield OperationProvider(
        name="reembed-status",
        summary="Tell how far the new vectors are",
        requires=(Reembedder,),
        input=Nothing,
        output=ReembedOutput,
        effect="read",
        doors=(Route("GET", "/reembed"),),
        create=create_status,
    )
    yield OperationProvider(
        name="reembed-cancel",
        summary="Stop making vectors anew, and remove those that were made",
        requires=(Reembedder,),
        input=Nothing,
        output=CancelOutput,
        effect="admin",
        doors=(Route("DELETE", "/reembed"),),
        create=create_cancel,
    )
    yield OperationProvider(
        name="reembed-drop-old",
        summary="Remove vectors that are kept and not used",
        requires=(Reembedder,),
        input=Nothing,
        output=DropOutput,
        effect="admin",
        doors=(Route("POST", "/reembed/drop_old"),),
        create=create_drop_old,
    )


def create_start(context: HostContext) -> Callable[[ReembedInput], Awaitable[ReembedOutput]]:
    """Make the operation that begins, or goes on."""
    reembedder = context.service(Reembedder)

    async def start(given: ReembedInput) -> ReembedOutput:
        return _output(await reembedder.start(given.expected))

    return start


def create_status(context: HostContext) -> Callable[[Nothing], Awaitable[ReembedOutput]]:
    """Make the operation that tells how far it is."""
    reembedder = context.service(Reembedder)

    async def status(_given: Nothing) -> ReembedOutput:
        return _output(await reembedder.status())

    return status


def create_cancel(context: HostContext) -> Callable[[Nothing], Awaitable[CancelOutput]]:
    """Make the operation that stops it."""
    reembedder = context.service(Reembedder)

    async def cancel(_given: Nothing) -> CancelOutput:
        return CancelOutput(cancelled=await reembedder.cancel())

    return cancel


def create_drop_old(context: HostContext) -> Callable[[Nothing], Awaitable[DropOutput]]:
    """Make the operation that removes what is kept and not used."""
    reembedder = context.service(Reembedder)

    async def drop_old(_given: Nothing) -> DropOutput:
        return DropOutput(dropped=await reembedder.drop_old())

    return drop_old


def _output(status: ReembedStatus) -> ReembedOutput:
    return ReembedOutput.model_validate(asdict(status))
