"""Bounds on what requests may hold: bodies in memory, answers that stay open."""

import asyncio
from collections.abc import Sequence

from starlette.types import Receive

from cloxy_core.surfaces.http.boundary_replies import (
    BODY_TIMEOUT,
    PAYLOAD_TOO_LARGE,
    Refusal,
    busy,
)
from cloxy_core.surfaces.work import WorkClass, WorkGate

# A text of 2,000,000 characters is the largest thing a client may store. Clients that escape
# everything outside ASCII need 12 bytes for a character beyond the basic plane (two escapes),
# so 24,000,000 bytes for the text; the rest is room for its metadata.
MAX_BODY = 25 * 1024 * 1024
MAX_PLAIN_BODY = 4 * 1024 * 1024
# Without a length a body is only known to be too large after it has been taken into memory.
MAX_UNSIZED_BODY = 2 * 1024 * 1024
MAX_HELD = 64 * 1024 * 1024


_MCP = frozenset({"/mcp", "/mcp/"})
# What operations may do at the same time is bounded where they are called, by any door; here are
# bounded the answers that stay open: streams of editors, and calls that wait for an operation.
DEFAULT_WORK: tuple[WorkClass, ...] = (
    WorkClass(_MCP, running=256, waiting=0, retry_seconds=5, methods=frozenset({"GET", "HEAD"})),
    WorkClass(_MCP, running=256, waiting=256),
)


class PathGates:
    """Gates of requests by path, before any handler runs."""

    def __init__(self, classes: Sequence[WorkClass]) -> None:
        self._gates: dict[tuple[str, str], WorkGate] = {}
        for work in classes:
            gate = WorkGate(work)
            for method in work.methods or ("",):
                self._gates.update(dict.fromkeys(((method, path) for path in work.paths), gate))

    def of(self, method: str, path: str) -> WorkGate | None:
        """The gate of a request, that of its method before that of its path; None for no limit."""
        return self._gates.get((method, path)) or self._gates.get(("", path))


class BodyReader:
    """Takes request bodies into memory, within a size, a time and a common budget."""

    def __init__(self, seconds: float, budget: int = MAX_HELD) -> None:
        self.held = 0
        self._seconds = seconds
        self._budget = budget

    async def read(self, receive: Receive, limit: int) -> bytes | Refusal | None:
        """Read a whole body.

        Args:
            receive: Where the body comes from.
            limit: Largest size, in bytes.

        Returns:
            The body, which counts as held until `release`; a refusal; or None when the
            client left.
        """
        chunks: list[bytes] = []
        size = 0
        finished = False
        try:
            async with asyncio.timeout(self._seconds):
                more = True
                while more:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return None
                    chunk: bytes = message.get("body", b"")
                    more = message.get("more_body", False)
                    size += len(chunk)
                    self.held += len(chunk)
                    if size > limit:
                        return PAYLOAD_TOO_LARGE
                    if self.held > self._budget:
                        return busy(1)
                    chunks.append(chunk)
            finished = True
        except TimeoutError:
            return BODY_TIMEOUT
        finally:
            if not finished:
                self.held -= size
        return b"".join(chunks)

    def release(self, size: int) -> None:
        """Give back the room of a body.

        Args:
            size: Length of the body, in bytes.
        """
        self.held -= size


async def discard(receive: Receive, seconds: float) -> None:
    """Read and forget the rest of a body.

    A connection closed with unread bytes is reset, and on some systems the reset overtakes
    the reply; reading on for a moment lets the client see why it was refused.

    Args:
        receive: Where the body comes from.
        seconds: How long to go on at most.
    """
    try:
        async with asyncio.timeout(seconds):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect" or not message.get("more_body", False):
                    return
    except TimeoutError:
        return
