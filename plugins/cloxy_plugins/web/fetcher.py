"""One request over HTTP: no proxy, no cookies, no credentials, nothing kept for the next one."""

import asyncio
import ssl
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from functools import lru_cache

import httpcore2
import httpx2

from cloxy_hookspecs import (
    FetchError,
    FetchTimeoutError,
    HopRequest,
    HopResponse,
    HostContext,
    Network,
    Target,
)
from cloxy_plugins.web.backend import VettedBackend
from cloxy_plugins.web.settings import FETCH_TIMEOUT
from cloxy_plugins.web.unpacking import Unpacking

OURS: Mapping[str, str] = {
    "accept": "text/html, application/xhtml+xml, text/*;q=0.9, application/json;q=0.8, */*;q=0.5",
    "accept-encoding": "gzip",
}
ENCODING = b"content-encoding"
FOLLOWED = frozenset({301, 302, 303, 307, 308})
SLACK = 65_536
"""Bytes that a body may have packed beyond those that it may have unpacked."""
BREATH = 64
"""Pieces of a body after which others have their turn: a hostile one may be in single bytes."""
IDLE = 2.0
"""Seconds that others have for each that such pieces took, of however many bodies."""
MOST_IDLE = 0.05
"""Seconds of one such pause."""


class HttpFetcher:
    """Asks a server once."""

    def __init__(
        self, network: Network, seconds: float, context: Callable[[], ssl.SSLContext]
    ) -> None:
        """Make the fetcher.

        Args:
            network: where a connection to an address is really made.
            seconds: for one network operation; the whole has its own limit.
            context: how certificates are checked; asked for once, for the first safe connection.
        """
        self._network = network
        self._seconds = seconds
        self._context = lru_cache(maxsize=1)(context)
        self._pause = asyncio.Lock()

    async def fetch(self, request: HopRequest) -> HopResponse:
        """One request and its answer, within the seconds and bytes that it names.

        Raises:
            FetchError: nobody answers, or what answers does not keep to the protocol.
            FetchTimeoutError: it took longer than `seconds`.
        """
        try:
            async with asyncio.timeout(request.seconds), self._answer(request) as answer:
                return await _read(answer, request.max_bytes, Breath(self._pause))
        except (TimeoutError, httpcore2.TimeoutException) as error:
            raise FetchTimeoutError(
                "the server of the page took too long",
                hint="try again, or raise CLOXY_FETCH_TIMEOUT",
            ) from error
        except httpcore2.ConnectError as error:
            if isinstance(error.__cause__ or error.__context__, ssl.SSLError):
                raise FetchError(f"no safe connection to the server: {_reason(error)}") from error
            raise FetchError("the server of the page cannot be reached") from error
        except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
            raise FetchError(f"the server's answer cannot be used: {_reason(error)}") from error

    @asynccontextmanager
    async def _answer(self, request: HopRequest) -> AsyncIterator[httpcore2.Response]:
        target = request.target
        headers = [(name.encode(), value.encode("latin-1")) for name, value in self._sent(request)]
        seconds = min(self._seconds, request.seconds)
        limits = dict.fromkeys(("connect", "read", "write", "pool"), seconds)
        backend = VettedBackend(self._network, target.addresses)
        async with (
            aclosing(backend),
            httpcore2.AsyncConnectionPool(
                ssl_context=self._context() if target.scheme == "https" else None,
                network_backend=backend,
                max_connections=1,
                max_keepalive_connections=0,
                retries=0,
                http1=True,
                http2=False,
            ) as pool,
            pool.stream(
                "GET", _url(target), headers=headers, extensions={"timeout": limits}
            ) as got,
        ):
            backend.meter.is_body = True
            yield got

    def _sent(self, request: HopRequest) -> list[tuple[str, str]]:
        place = request.target.url.partition("://")[2].partition("/")[0]
        return [("host", place), *{**OURS, **request.headers}.items(), ("connection", "close")]


class Breath:
    """Leaves time to others where a body comes in more pieces than any honest one."""

    def __init__(self, pause: asyncio.Lock) -> None:
        """Count the pieces of one body.

        Args:
            pause: of all bodies: only one of them goes on while the others pause.
        """
        self._pause = pause
        self._pieces = 0
        self._since = time.thread_time()

    async def take(self) -> None:
        """Count a piece, and pause where it is time to."""
        self._pieces += 1
        if self._pieces % BREATH:
            return
        used = time.thread_time() - self._since
        async with self._pause:
            await asyncio.sleep(min(used * IDLE, MOST_IDLE))
        self._since = time.thread_time()


async def _read(answer: httpcore2.Response, limit: int, breath: Breath) -> HopResponse:
    headers = {_text(name).lower(): _text(value) for name, value in reversed(answer.headers)}
    status = answer.status
    if status in FOLLOWED and headers.get("location"):
        # Where it leads is all that matters of it.
        return HopResponse(status, headers, b"")
    unpacking = Unpacking([_text(v) for name, v in answer.headers if name.lower() == ENCODING])
    body = bytearray()
    taken = 0
    async for packed in answer.aiter_stream():
        taken += len(packed)
        await breath.take()
        for number, piece in enumerate(unpacking.feed(packed)):
            body += piece[: limit + 1 - len(body)]
            if len(body) > limit:
                return HopResponse(status, headers, bytes(body[:limit]), truncated=True)
            if number:
                await breath.take()
        if taken > limit + SLACK:
            raise FetchError("the page is larger packed than unpacked, and has no end")
    unpacking.finish()
    return HopResponse(status, headers, bytes(body))


def _text(value: bytes) -> str:
    """A header as characters: UTF-8 where it is that, else as the old standard has it."""
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")


def _url(target: Target) -> httpcore2.URL:
    """The address in its parts: to have it read again could make another one of it."""
    place = target.url.partition("://")[2]
    path = place[len(place.partition("/")[0]) :]
    return httpcore2.URL(
        scheme=target.scheme, host=target.host, port=target.port, target=path.encode("ascii")
    )


def _reason(error: Exception) -> str:
    return str(error).partition("\n")[0][:200] or type(error).__name__


def create_fetcher(context: HostContext) -> HttpFetcher:
    """Make the fetcher from the settings."""
    return HttpFetcher(context.service(Network), context.settings[FETCH_TIMEOUT], trusted)


def trusted() -> ssl.SSLContext:
    """Certificates as the operating system trusts them; no variable changes that."""
    return httpx2.create_ssl_context(trust_env=False)
