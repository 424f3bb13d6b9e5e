"""Reading pages, and the network under it."""

from collections.abc import Sequence
from typing import Protocol

from cloxy_hookspecs.types.web import ReadPage, ReadRequest


class PageReader(Protocol):
    """Reads pages of the public web."""

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
        ...


class Network(Protocol):
    """Names and addresses, as the machine sees them; tests have one of their own."""

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """Every address of a name; one lookup, no more than its time.

        Raises:
            FetchError: the name has no address, or the lookup takes too long.
        """
        ...

    def route(self, address: str, port: int) -> tuple[str, int]:
        """Where a connection to a vetted address is really made: to itself."""
        ...

    def own_networks(self) -> Sequence[str]:
        """Addresses of this machine's interfaces with their prefix: `192.168.1.20/24`."""
        ...

    def own_port(self) -> int | None:
        """The port that the server itself listens on; None while it does not."""
        ...


class Similarity(Protocol):
    """How near texts are to a text, in meaning."""

    async def similarities(self, text: str, passages: Sequence[str]) -> Sequence[float] | None:
        """A cosine for each passage; None while there is no loaded model.

        Args:
            text: a question or a claim.
            passages: texts, a few hundred at most.

        Raises:
            CloxyError: the model cannot be used.
        """
        ...
