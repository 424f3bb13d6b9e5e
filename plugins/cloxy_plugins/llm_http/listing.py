"""The models of the server that is set, kept for some seconds."""

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from cloxy_hookspecs import ModelError, ModelTimeoutError
from cloxy_plugins.llm_http.address import Address, Target
from cloxy_plugins.llm_http.catalogue import (
    Fetch,
    Listed,
    has_cloud_name,
    passes_on,
    read_list,
    with_details,
)
from cloxy_plugins.llm_http.connections import Connections
from cloxy_plugins.llm_http.refusals import Refusal

LIST_SECONDS: Final = 5.0
"""Within which a server must list its models."""
KEPT_SECONDS: Final = 10.0
"""How long a list of models is good; they are pulled and removed meanwhile."""


@dataclass(frozen=True, slots=True)
class _Kept:
    target: Target
    listed: Sequence[Listed]
    at: float


class Listing:
    """Asks the server for its models, and which of them it only passes on."""

    def __init__(self, connections: Connections, key: str) -> None:
        """Ask nothing yet.

        Args:
            connections: to the server.
            key: sent as bearer; empty for none.
        """
        self._connections = connections
        self._key = key
        self._kept: _Kept | None = None
        self._one = asyncio.Lock()
        self._cloud: dict[tuple[Address, str], tuple[bool, float]] = {}

    def known_cloud(self, address: Address, model: str) -> bool:
        """Whether it is known, without asking, that a server passes a model on."""
        known, _ = self._cloud.get((address, model), (False, 0.0))
        return known or has_cloud_name(model)

    async def is_cloud(self, address: Address, model: str) -> bool:
        """Whether a server passes a model on; asked anew after some seconds.

        Raises:
            Refusal: the server does not tell.
            ModelError: nobody answers.
        """
        known = self._cloud.get((address, model))
        if known is None or time.monotonic() - known[1] > KEPT_SECONDS:
            cloud = await passes_on(self._fetch(address), address.root, model)
            known = self._cloud[address, model] = cloud, time.monotonic()
        return known[0]

    async def ordered(self, found: Target) -> list[Listed]:
        """Models that chat; the one that is set, those in memory, others, those of other machines.

        Raises:
            RemoteModelError: the server is another machine, which is not allowed.
            ModelError: nobody answers, or it has no list and no model is set.
        """
        return _ordered(await self.listed(found), found)

    async def listed(self, found: Target) -> Sequence[Listed]:
        """All that the server lists; raises as `ordered` does."""
        async with self._one:
            kept = self._kept if self._kept and self._kept.target == found else None
            if kept is not None and time.monotonic() - kept.at < KEPT_SECONDS:
                return kept.listed
            fetch = self._fetch(found.address)
            try:
                async with asyncio.timeout(LIST_SECONDS):
                    listed = await read_list(fetch, found.address.path)
            except (TimeoutError, ModelTimeoutError, Refusal) as error:
                # One that works on an answer may have no time to list; others have no list.
                if kept is None and not found.model:
                    raise _unlisted(found, error) from error
                return kept.listed if kept else []
            with suppress(TimeoutError):
                async with asyncio.timeout(LIST_SECONDS):
                    listed = await with_details(fetch, found.address.root, listed)
            self._kept = _Kept(found, listed, time.monotonic())
            return listed

    def _fetch(self, address: Address) -> Fetch:
        async def fetch(method: str, path: str, body: bytes | None) -> tuple[int, bytes]:
            return await self._connections.fetch(address, method, path, body, self._key)

        return fetch


def _ordered(listed: Sequence[Listed], found: Target) -> list[Listed]:
    """Models that chat: the one that is set, those in memory, others, those of other machines."""
    chatting = [model for model in listed if model.chats or model.id == found.model]
    if found.model and all(model.id != found.model for model in chatting):
        same = f"{found.model}:latest"  # as Ollama lists what is named without a tag
        known = next((model for model in chatting if model.id == same), Listed(found.model))
        cloud = known.cloud or has_cloud_name(found.model)
        chatting = [replace(known, id=found.model, cloud=cloud), *chatting]
    return sorted(
        chatting, key=lambda model: (model.id != found.model, model.cloud, not model.loaded)
    )


def _unlisted(found: Target, error: Exception) -> ModelError:
    says = f": {error.words}" if isinstance(error, Refusal) else " in time"
    return ModelError(
        f"the server of models {found.address.origin} does not list its models{says}",
        hint="name one in CLOXY_LLM_MODEL; and check CLOXY_LLM_BASE_URL and CLOXY_LLM_API_KEY",
    )
