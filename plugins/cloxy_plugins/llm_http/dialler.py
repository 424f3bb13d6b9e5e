"""Connections to addresses that were judged."""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any, Final, cast

import httpcore2

from cloxy_hookspecs import Network

MOST_TRIED: Final = 4


class Dialler(httpcore2.AsyncNetworkBackend):
    """Dials addresses that were judged; the name is for the host header and for TLS alone."""

    def __init__(self, network: Network, addresses: Sequence[str]) -> None:
        """Dial these, in order.

        Args:
            network: where a connection to an address is really made.
            addresses: judged ones.
        """
        self._network = network
        self._addresses = addresses
        self._inner = cast("httpcore2.AsyncNetworkBackend", httpcore2.AnyIOBackend())

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the signature is given
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Connect to the first address that answers.

        Raises:
            ConnectError: none does.
        """
        failed: Exception = httpcore2.ConnectError("no address")
        for address in self._addresses[:MOST_TRIED]:
            where, there = self._network.route(address, port)
            try:
                return await self._inner.connect_tcp(
                    where, there, timeout=timeout, socket_options=socket_options
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failed = error
        raise failed

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109 - the signature is given
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Never."""
        raise httpcore2.ConnectError("no server of models is behind a file")

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)
