"""From an address to an answer: every hop judged, dialled as it was judged, and followed."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Final, Protocol, TypeAlias

from cloxy_core.services.web.address import Address, join
from cloxy_hookspecs import (
    BlockedURLError,
    Fetcher,
    FetchError,
    FetchTimeoutError,
    Guard,
    HopRequest,
    HopResponse,
    Network,
    Target,
    TooManyRedirectsError,
)

MOST_REDIRECTS: Final = 5
FOLLOWED: Final = frozenset({301, 302, 303, 307, 308})


class Turns(Protocol):
    """Turns to ask a host."""

    def host(self, name: str, *, breath: bool = True) -> AbstractAsyncContextManager[None]:
        """A turn to ask a host."""
        ...


Permit: TypeAlias = Callable[[Address], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Limits:
    """What following one address may take.

    Attributes:
        seconds: from the lookup of the first name to the last byte.
        max_bytes: of a body, after unpacking.
    """

    seconds: float
    max_bytes: int

    @asynccontextmanager
    async def kept(self) -> AsyncIterator[Callable[[], float]]:
        """Give the seconds that are left, and end what goes on longer.

        Raises:
            FetchTimeoutError: so it did.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + self.seconds
        try:
            async with asyncio.timeout_at(end):
                yield lambda: end - loop.time()
        except TimeoutError as error:
            raise FetchTimeoutError(
                f"the page was not there within {self.seconds:g} seconds",
                hint="try again, or set CLOXY_FETCH_DEADLINE",
            ) from error


@dataclass(frozen=True, slots=True)
class Fetched:
    """An answer, and every hop that led to it."""

    hops: tuple[Target, ...]
    response: HopResponse

    @property
    def final(self) -> Target:
        """Where the answer came from."""
        return self.hops[-1]


class Hops:
    """Asks servers that every guard lets through."""

    def __init__(
        self,
        network: Network,
        guards: Sequence[Guard],
        fetchers: Mapping[str, Fetcher],
        turns: Turns,
        user_agent: str,
    ) -> None:
        """Ask nobody yet.

        Args:
            network: names and addresses.
            guards: in order; each may refuse.
            fetchers: by scheme.
            turns: to ask a host.
            user_agent: who asks, where a request does not say.
        """
        self._network = network
        self._guards = tuple(guards)
        self._fetchers = dict(fetchers)
        self._turns = turns
        self._user_agent = user_agent

    @property
    def policies(self) -> tuple[str, ...]:
        """Differ whenever verdicts may differ."""
        return tuple(guard.policy for guard in self._guards)

    async def vetted(self, address: Address) -> Target:
        """Look a name up, once, and have every answer judged.

        Raises:
            BlockedURLError: it may not be read.
            FetchError: it has no address.
        """
        target = Target(address.url, address.scheme, address.host, address.port, ())
        if address.is_literal:
            return self._judged(replace(target, addresses=(address.host,)))
        # The name and the port first: what may not be read is not asked for in the name system.
        found = await self._network.resolve(address.host, self._judged(target).port)
        return self._judged(replace(target, addresses=tuple(found)))

    async def follow(
        self,
        address: Address,
        headers: Mapping[str, str],
        limits: Limits,
        permit: Permit | None = None,
    ) -> Fetched:
        """The answer that an address leads to.

        Args:
            address: where to begin.
            headers: to send along, as long as the origin stays the same.
            limits: of all of it.
            permit: asked before every hop, once the guards have nothing against it.

        Raises:
            BlockedURLError: the address, or one that it leads to, may not be read.
            InputError: it leads to what is no address.
            TooManyRedirectsError: more than five.
            FetchTimeoutError: it took too long.
            FetchError: it could not be fetched.
        """
        async with limits.kept() as left:
            hops: list[Target] = []
            while True:
                target = await self.vetted(address)
                if permit is not None:
                    await permit(address)
                hops.append(target)
                response = await self._asked(target, headers, left, limits, first=len(hops) == 1)
                location = response.headers.get("location", "").strip()
                if response.status not in FOLLOWED or not location:
                    return Fetched(tuple(hops), response)
                if len(hops) > MOST_REDIRECTS:
                    raise TooManyRedirectsError(
                        f"the page leads on more than {MOST_REDIRECTS} times",
                        hint="give the address that it leads to, if you know it",
                    )
                there = join(address, location)
                if there.origin != address.origin:
                    # What was meant for one server is nobody else's business.
                    headers = {}
                address = there

    def _judged(self, target: Target) -> Target:
        if not self._guards:
            raise BlockedURLError(
                "no page is read, since nothing judges addresses", hint="see `cloxy plugins list`"
            )
        for guard in self._guards:
            guard.check(target)
        return target

    async def _asked(
        self,
        target: Target,
        headers: Mapping[str, str],
        left: Callable[[], float],
        limits: Limits,
        *,
        first: bool,
    ) -> HopResponse:
        fetcher = self._fetchers.get(target.scheme)
        if fetcher is None:
            raise FetchError(
                f"no enabled plugin fetches {target.scheme} addresses",
                hint="see `cloxy plugins list`",
            )
        sent = {"user-agent": self._user_agent, **headers}
        async with self._turns.host(target.host, breath=first):
            return await fetcher.fetch(HopRequest(target, sent, left(), limits.max_bytes))
