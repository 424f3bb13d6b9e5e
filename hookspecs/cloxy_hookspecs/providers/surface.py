"""Operations: one capability, many doors."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from cloxy_hookspecs.context import HostContext
from cloxy_hookspecs.providers.base import Provider
from cloxy_hookspecs.types.surface import Door, Effect

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
