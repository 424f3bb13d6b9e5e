"""The fetcher, loaded with the first page: its library is large, and many servers read none."""

import asyncio
import importlib
from typing import Final

from cloxy_hookspecs import Fetcher, HopRequest, HopResponse, HostContext

REAL: Final = "cloxy_plugins.web.fetcher"


class LaterFetcher:
    """Stands for the fetcher until somebody asks for a page, and then hands on."""

    def __init__(self, context: HostContext) -> None:
        """Load nothing yet.

        Args:
            context: of the plugin.
        """
        self._context = context
        self._loading = asyncio.Lock()
        self._fetcher: Fetcher | None = None

    async def fetch(self, request: HopRequest) -> HopResponse:
        """One request and its answer; see `HttpFetcher.fetch`.

        Raises:
            FetchError: nobody answers, or what answers does not keep to the protocol.
            FetchTimeoutError: it took longer than it may.
        """
        if self._fetcher is None:
            async with self._loading:
                if self._fetcher is None:
                    self._fetcher = await self._loaded()
        return await self._fetcher.fetch(request)

    async def _loaded(self) -> Fetcher:
        # On a thread, since it takes a while; requests of other kinds go on meanwhile.
        module = await asyncio.to_thread(importlib.import_module, REAL)
        fetcher: Fetcher = module.create_fetcher(self._context)
        return fetcher


def create_fetcher(context: HostContext) -> LaterFetcher:
    """Make what stands for the fetcher."""
    return LaterFetcher(context)
