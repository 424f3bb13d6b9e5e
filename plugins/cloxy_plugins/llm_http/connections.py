"""Connections to the server of models: its name is looked up once, every answer is judged."""

import asyncio
import importlib
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, Final

from cloxy_hookspecs import (
    ConfigError,
    FetchError,
    ModelError,
    Network,
    RemoteModelError,
)
from cloxy_plugins.llm_http.address import Address, is_loopback

if TYPE_CHECKING:
    from cloxy_plugins.llm_http.wire import Answer

MOST_LISTED: Final = 4_194_304
"""Bytes of a list of models; a remote catalogue has hundreds."""
WIRE: Final = "cloxy_plugins.llm_http.wire"
REMOTE_HINT: Final = (
    "what would leave: the whole conversation, and the memories that are put into it. Use a "
    "server on this machine, or set CLOXY_LLM_ALLOW_REMOTE=1 if that is what you want"
)


@dataclass(frozen=True, slots=True)
class Timing:
    """How long is waited.

    Attributes:
        connect: seconds for a connection.
        silent: seconds between two signs of life.
    """

    connect: float
    silent: float


class Connections:
    """Asks one server; nothing is kept between two requests, no proxy and no cookie is used."""

    def __init__(self, network: Network, timing: Timing, *, allow_remote: bool) -> None:
        """Make it.

        Args:
            network: looks names up.
            timing: how long is waited.
            allow_remote: whether the server may be another machine.
        """
        self._network = network
        self._timing = timing
        self._allow_remote = allow_remote
        self._local: dict[str, bool] = {}

    def known_local(self, address: Address) -> bool | None:
        """Whether the last lookup found this machine and nothing else; None without one."""
        return self._local.get(address.host)

    async def vetted(self, address: Address) -> Sequence[str]:
        """Look the name up, once, and judge every answer.

        Raises:
            RemoteModelError: one is not this machine, and that is not allowed.
            ModelError: the name has no address, or the server would ask itself.
        """
        found = await self._look_up(address)
        local = all(is_loopback(one) for one in found)
        self._local[address.host] = local
        if not local and not self._allow_remote:
            raise not_here(address)
        if local and address.port == self._network.own_port():
            raise ModelError(
                f"the server of models {address.origin} is this server itself",
                hint="set CLOXY_LLM_BASE_URL to that of Ollama, LM Studio, llama.cpp or vLLM",
            )
        return found

    async def _look_up(self, address: Address) -> Sequence[str]:
        try:
            return [str(ip_address(address.host))]
        except ValueError:
            pass
        try:
            return await self._network.resolve(address.host, address.port)
        except FetchError as error:
            raise ModelError(
                f"the server of models is not found: {error.message}",
                hint="check CLOXY_LLM_BASE_URL",
            ) from error

    @asynccontextmanager
    async def request(
        self, address: Address, method: str, path: str, body: bytes | None, key: str
    ) -> "AsyncIterator[Answer]":
        """One request; its answer is read inside.

        Args:
            address: the server.
            method: HTTP method.
            path: path on the server.
            body: JSON; None for none.
            key: sent as bearer; empty for none.

        Raises:
            RemoteModelError: it would leave this machine, which is not allowed.
            ModelTimeoutError: nothing came for too long.
            ModelError: nobody answers, it breaks off, or it sends elsewhere.
        """
        addresses = await self.vetted(address)
        wire = await _wire()
        timing = (self._timing.connect, self._timing.silent)
        asked = (method, path, body, key)
        async with wire.exchange(self._network, addresses, address, asked, timing) as answer:
            yield answer

    async def fetch(
        self, address: Address, method: str, path: str, body: bytes | None, key: str
    ) -> tuple[int, bytes]:
        """Status and body of a short answer; raises as `request` does."""
        async with self.request(address, method, path, body, key) as answer:
            return answer.status, await answer.body(MOST_LISTED)


async def _wire() -> Any:  # noqa: ANN401 - the module `wire`
    """What does it, loaded on a thread since it takes a while."""
    if WIRE not in sys.modules:
        await asyncio.to_thread(importlib.import_module, WIRE)
    return sys.modules[WIRE]


def not_here(address: Address) -> RemoteModelError:
    """The error for a server that is another machine."""
    return RemoteModelError(
        f"the server of models {address.origin} is not on this machine", hint=REMOTE_HINT
    )


def bad_choice(error: ValueError) -> ConfigError:
    """The error for an address that cannot be read from what `cloxy init` wrote."""
    return ConfigError(
        f"the address of the server of models that was set up is not {error}",
        hint="run cloxy init again, or set CLOXY_LLM_BASE_URL",
    )
