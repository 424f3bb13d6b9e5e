"""Migrations and checks; settings and origin policies are values themselves."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from cloxy_hookspecs.context import HostContext
from cloxy_hookspecs.providers.base import Provider

if TYPE_CHECKING:
    from sqlalchemy import Connection


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """One step of an owner's schema, never edited after release.

    Attributes:
        owner: `core`, or the plugin's name; a third party's tables begin with it.
        number: 1, 2, … without gaps for each owner.
        summary: what it does.
        apply: changes the schema; runs in one transaction with the note that it ran.
    """

    owner: str
    number: int
    summary: str
    apply: Callable[["Connection"], None]


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found.

    Attributes:
        severity: `ok`, `warning` or `error`.
        message: in words, with what to do.
    """

    severity: Literal["ok", "warning", "error"]
    message: str


class Check(Protocol):
    """Looks at the health of something. Reads only; runs behind the server."""

    async def run(self) -> Sequence[Finding]:
        """What was found; one `ok` finding when all is well."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckProvider(Provider):
    """A check for `status`."""

    create: Callable[[HostContext], Check]
