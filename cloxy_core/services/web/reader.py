"""From an address to text."""

import asyncio
import hashlib
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from cloxy_core.services.web.address import Address, parse
from cloxy_core.services.web.cache import PageCache
from cloxy_core.services.web.decoding import Decoded, decoded
from cloxy_core.services.web.headers import checked
from cloxy_core.services.web.hops import Fetched, Hops, Limits
from cloxy_core.services.web.pacing import Pacing
from cloxy_core.services.web.robots import Robots
from cloxy_hookspecs import (
    BlockedURLError,
    Clock,
    Extracted,
    Fetcher,
    FetchError,
    FetchMode,
    Guard,
    InputError,
    Network,
    PageSource,
    ReadPage,
    ReadRequest,
    UnsupportedMediaError,
)

MOST_BYTES = 500_000
MOST_SELECTOR = 200
TOTAL_SECONDS = 60.0
REFUSED = 400
KEPT = frozenset({200, 203})
"""Status of the pages that the cache keeps; others are parts of a page, or none."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What holds for every page.

    Attributes:
        user_agent: who asks.
        seconds: for one page, from the lookup of its name to its last byte.
        max_bytes: of a body, after unpacking.
        follows_robots: whether `robots.txt` is asked first.
    """

    user_agent: str
    seconds: float = TOTAL_SECONDS
    max_bytes: int = MOST_BYTES
    follows_robots: bool = False


class Extractor(Protocol):
    """Makes text of pages."""

    @property
    def binary_types(self) -> frozenset[str]:
        """Media types that are no text, and that it takes."""
        ...

    async def extract(
        self, source: PageSource, mode: FetchMode, selector: str | None
    ) -> tuple[Extracted, Mapping[str, int]]:
        """Text of a page, and what was taken out of the page before, with counts."""
        ...

    async def aclose(self) -> None:
        """End what it runs."""
        ...


class WebReader:
    """Reads pages of the public web."""

    def __init__(
        self,
        network: Network,
        guards: Sequence[Guard],
        fetchers: Mapping[str, Fetcher],
        extraction: Extractor,
        rules: Rules,
        clock: Clock,
    ) -> None:
        """Make the reader.

        Args:
            network: names and addresses.
            guards: in order; each may refuse.
            fetchers: by scheme.
            extraction: makes text of pages, in processes that may be killed.
            rules: what holds for every page.
            clock: the time.
        """
        self._extraction = extraction
        self._rules = rules
        self._clock = clock
        self._cache = PageCache()
        self._pacing = Pacing()
        self._hops = Hops(network, guards, fetchers, self._pacing, rules.user_agent)
        self._robots = Robots(self._hops, rules.user_agent) if rules.follows_robots else None

    @property
    def cached(self) -> int:
        """Pages in the cache."""
        return len(self._cache)

    async def read(self, request: ReadRequest) -> ReadPage:
        """Fetch a page, hop by hop behind the guards, and make text of it.

        Raises:
            BlockedURLError: the address, or one that it leads to, may not be read.
            InputError: the address, the selector or a header cannot be used.
            UnsupportedMediaError: it is no text.
            TooManyRedirectsError: more than five.
            FetchTimeoutError: it took too long.
            FetchBusyError: too many wait.
            FetchError: it could not be fetched, or the server refused (its status is told).
        """
        _check_mode(request)
        headers = checked(request.headers)
        address = parse(request.url)
        key = self._key(address, request, headers)
        kept = await self._kept(key)
        if kept is not None:
            return replace(kept, url=request.url, from_cache=True)
        limits = Limits(self._rules.seconds, self._rules.max_bytes)
        permit = None if self._robots is None else self._robots.permit
        async with self._pacing.page():
            fetched = await self._hops.follow(address, headers, limits, permit)
            page = await self._page(request, fetched)
        if page.status in KEPT:
            self._cache.put(key, page, fetched.hops)
        return page

    async def aclose(self) -> None:
        """End the processes that make text of pages."""
        await self._extraction.aclose()

    def _key(self, address: Address, request: ReadRequest, headers: Mapping[str, str]) -> Hashable:
        sent = tuple(sorted(headers.items()))
        how = (request.mode, request.selector, sent)
        return (address.url, *how, self._hops.policies, self._rules)

    async def _kept(self, key: Hashable) -> ReadPage | None:
        """A page from the cache, if every hop that led to it may still be asked.

        Raises:
            BlockedURLError: one may not: names move, and what may not be read is not shown either.
            FetchError: a name has no address any more.
        """
        kept = self._cache.get(key)
        if kept is None:
            return None
        try:
            async with Limits(self._rules.seconds, 0).kept():
                for hop in kept.hops:
                    await self._hops.vetted(parse(hop.url))
        except BlockedURLError:
            self._cache.drop(key)
            raise
        return kept.page

    async def _page(self, request: ReadRequest, fetched: Fetched) -> ReadPage:
        response = fetched.response
        if response.status >= REFUSED:
            raise FetchError(f"the server of the page answered {response.status}")
        others = self._extraction.binary_types
        found = await asyncio.to_thread(decoded, response.headers, response.body, others)
        made, removed = await self._made(request, found, fetched.final.url)
        return ReadPage(
            url=request.url,
            final_url=fetched.final.url,
            status=response.status,
            mode=request.mode,
            content=made.text,
            title=made.title,
            matches=made.matches,
            media_type=found.media_type,
            charset=found.charset,
            fetched_at=self._clock.now_ms(),
            from_cache=False,
            truncated=response.truncated,
            flags=made.flags,
            removed=removed,
            notes=made.notes,
            sha256=hashlib.sha256(response.body).hexdigest(),
        )

    async def _made(
        self, request: ReadRequest, found: Decoded, url: str
    ) -> tuple[Extracted, Mapping[str, int]]:
        if request.mode == "raw":
            if found.data:
                raise UnsupportedMediaError(
                    f"the page is of type {found.media_type}, which is no text",
                    hint="mode clean gives the text in it",
                )
            return Extracted(found.text), {}
        source = PageSource(url, found.media_type, found.text, found.data)
        return await self._extraction.extract(source, request.mode, request.selector)


def _check_mode(request: ReadRequest) -> None:
    """Refuse a selector that is missing, too long, or for another mode.

    Raises:
        InputError: so it is.
    """
    if request.mode == "extract" and not (request.selector or "").strip():
        raise InputError("mode extract needs a selector", hint='give one, such as "main h2"')
    if request.selector and len(request.selector) > MOST_SELECTOR:
        raise InputError(f"a selector has at most {MOST_SELECTOR} characters")
