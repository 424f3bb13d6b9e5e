"""What reads the web: guards, fetchers, sanitizers, extractors."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from cloxy_hookspecs.context import HostContext
from cloxy_hookspecs.providers.base import Provider
from cloxy_hookspecs.types.web import FetchMode, HopRequest, HopResponse, Target


class Guard(Protocol):
    """Judges where a fetch would go, before every hop and before a page comes from the cache."""

    def check(self, target: Target) -> None:
        """Say nothing when this may be asked.

        It is asked twice: before the name is looked up, without addresses, and then with them.

        Raises:
            BlockedURLError: it may not; the message gives no hint of what is there.
        """
        ...

    @property
    def policy(self) -> str:
        """A text that differs whenever verdicts may differ; pages are cached under it."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardProvider(Provider):
    """A guard; all that are enabled are asked, in order, and each may refuse.

    Attributes:
        order: smaller first.
        create: makes the guard.
    """

    order: int = 100
    create: Callable[[HostContext], Guard]


class Fetcher(Protocol):
    """Makes one request, to addresses that were judged, and follows nothing."""

    async def fetch(self, request: HopRequest) -> HopResponse:
        """One request and its answer, within the seconds and bytes that it names.

        Raises:
            FetchError: nobody answers, or what answers does not keep to the protocol.
            FetchTimeoutError: it took longer than `seconds`.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class FetcherProvider(Provider):
    """A fetcher.

    Attributes:
        scheme: `http` stands for `https` too.
        create: makes the fetcher.
    """

    scheme: str
    create: Callable[[HostContext], Fetcher]


@dataclass(frozen=True, slots=True, kw_only=True)
class SanitizerProvider(Provider):
    """Takes out of a page what a person would not see. Runs in a process that may be killed.

    Attributes:
        order: smaller first.
        media_types: of the sources that it takes; a `/` at the end takes a whole family, a `+` at
            the beginning every type with that suffix.
        target: `module:function`; the function takes a `PageSource` and returns a `Sanitized`.
    """

    order: int = 100
    media_types: tuple[str, ...] = ("text/html", "application/xhtml+xml")
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractorProvider(Provider):
    """Makes text of a page. Runs in a process that may be killed.

    Attributes:
        modes: what it can make; `raw` needs none.
        order: smaller first: the first that takes mode and media type and does not decline is used.
        media_types: of the sources that it takes; a `/` at the end takes a whole family, a `+` at
            the beginning every type with that suffix. One that is no text has to be told in full:
            its bodies come as `data`.
        target: `module:function`; the function takes a `PageSource`, the mode and the selector (or
            None) and returns an `Extracted`, or None to leave it to the next.
    """

    modes: tuple[FetchMode, ...]
    order: int = 100
    media_types: tuple[str, ...]
    target: str
