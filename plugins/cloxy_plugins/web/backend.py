"""Connections that go to vetted addresses, whatever the name is by now."""

import asyncio
import ssl
from collections.abc import Iterable, Sequence
from ipaddress import ip_address
from typing import Any, cast

import httpcore2

from cloxy_hookspecs import FetchError, Network

MOST_TRIED = 4
"""Addresses of one name that are tried: how many there are is told by somebody else."""
NEXT_SECONDS = 5.0
"""For an address, while there are others."""
MOST_READ = 16_384
MOST_HEAD = 262_144
"""Bytes of hints and headers."""


class VettedBackend(httpcore2.AsyncNetworkBackend):
    """Dials the addresses of one target; names are for the host header and for TLS alone.

    Attributes:
        meter: of the connection that is made.
    """

    def __init__(self, network: Network, addresses: Sequence[str]) -> None:
        """Dial these, in order.

        Args:
            network: where a connection to an address is really made.
            addresses: vetted ones.
        """
        self._network = network
        self._addresses = tuple(addresses)
        self._inner = cast("httpcore2.AsyncNetworkBackend", httpcore2.AnyIOBackend())
        self._opened: list[httpcore2.AsyncNetworkStream] = []
        self.meter = Meter()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the signature is given
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Connect to the first vetted address that answers; `host` is not looked at.

        Raises:
            ConnectError: none answers.
            FetchError: the other end is not who was dialled.
        """
        failed: Exception = httpcore2.ConnectError("no address")
        tried = self._addresses[:MOST_TRIED]
        for number, address in enumerate(tried, 1):
            where, there = self._network.route(address, port)
            # One that is dead must not use up the time of those behind it.
            limit = timeout if number == len(tried) else min(timeout or NEXT_SECONDS, NEXT_SECONDS)
            try:
                stream = await self._inner.connect_tcp(
                    where, there, timeout=limit, socket_options=socket_options
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failed = error
                continue
            self._opened.append(stream)
            _check_peer(stream, where)
            return MeteredStream(stream, self.meter)
        raise failed

    async def aclose(self) -> None:
        """End every connection that was made, whatever its state: a handshake may be half done."""
        while self._opened:
            await self._opened.pop().aclose()

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109 - the signature is given
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Never: no page is behind a file."""
        raise httpcore2.ConnectError("no page is behind a file")

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)


class MeteredStream(httpcore2.AsyncNetworkStream):
    """A connection of which no more is read at a time than is handled without delay to others.

    What stands before the body has no length: it is cut off when it goes on and on.
    """

    def __init__(self, stream: httpcore2.AsyncNetworkStream, meter: "Meter") -> None:
        """Read a connection.

        Args:
            stream: the connection.
            meter: shared with whoever reads the answer.
        """
        self._stream = stream
        self._meter = meter

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109 - the signature is given
        """Some bytes.

        Raises:
            RemoteProtocolError: the head of the answer is longer than any honest one.
        """
        # What has come already is handed out without a pause, for as long as there is some.
        await asyncio.sleep(0)
        found = await self._stream.read(min(max_bytes, MOST_READ), timeout=timeout)
        self._meter.count(len(found))
        return found

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109 - the signature is given
        """Send."""
        await self._stream.write(buffer, timeout=timeout)

    async def aclose(self) -> None:
        """Close the connection."""
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - the signature is given
    ) -> httpcore2.AsyncNetworkStream:
        """The same connection, under TLS."""
        safe = await self._stream.start_tls(ssl_context, server_hostname, timeout)
        return MeteredStream(safe, self._meter)

    def get_extra_info(self, info: str) -> Any:  # noqa: ANN401 - the signature is given
        """What the connection tells about itself."""
        return self._stream.get_extra_info(info)


class Meter:
    """Counts what comes before the body.

    Attributes:
        is_body: whether the body has begun.
    """

    def __init__(self) -> None:
        """Count from nothing."""
        self.is_body = False
        self._head = 0

    def count(self, number: int) -> None:
        """Count bytes that came.

        Raises:
            RemoteProtocolError: too many of them came before the body.
        """
        self._head += 0 if self.is_body else number
        if self._head > MOST_HEAD:
            raise httpcore2.RemoteProtocolError("what comes before the body has no end")


def _check_peer(stream: httpcore2.AsyncNetworkStream, address: str) -> None:
    found = stream.get_extra_info("server_addr")
    peer = str(found[0]).partition("%")[0] if found else ""
    if not peer or ip_address(peer) != ip_address(address):
        raise FetchError("the connection did not lead to the address that was dialled")
