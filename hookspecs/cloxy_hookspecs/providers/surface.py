"""Operations: one capability, many doors; and endpoints, whose form is somebody else's."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from cloxy_hookspecs.context import HostContext
from cloxy_hookspecs.providers.base import Provider
from cloxy_hookspecs.types.surface import Door, Effect, EndpointAnswer, EndpointRequest

if TYPE_CHECKING:
    from pydantic import BaseModel

I = TypeVar("I", bound="BaseModel")  # noqa: E741 - input, as O is output
O = TypeVar("O", bound="BaseModel")  # noqa: E741


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationProvider(Provider, Generic[I, O]):
    """One capability.

    Attributes:
        input: pydantic model of what it takes.
        output: pydantic model of what it returns.
        create: makes the operation.
        effect: what it does to the store: for keys and for read-only hints.
        doors: where it can be reached.
    """

    input: type[I]
    output: type[O]
    create: Callable[[HostContext], Callable[[I], Awaitable[O]]]
    effect: Effect
    doors: tuple[Door, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointProvider(Provider):
    """A path whose form others prescribe, such as an API that clients of models speak.

    What is our own to shape is an operation. An endpoint reads the body and writes the answer by
    itself, also piece by piece. What it raises is told in the common error body.

    Attributes:
        method: HTTP method; GET answers HEAD too.
        path: path template; `{name}` stands for one segment, `{name:path}` for all that follow.
        effect: what it does to the store.
        large_body: whether its bodies may be as large as any; else the smaller limit holds.
        create: makes what answers. It is cancelled when the client goes away before there is an
            answer.
    """

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: str
    effect: Effect
    large_body: bool = False
    create: Callable[[HostContext], Callable[[EndpointRequest], Awaitable[EndpointAnswer]]]
