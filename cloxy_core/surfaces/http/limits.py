"""Bounds on what requests may hold: bodies in memory, work at the same time."""

import asyncio
from dataclasses import dataclass

from starlette.types import Receive

from cloxy_core.surfaces.http.boundary_replies import (
    BODY_TIMEOUT,
    PAYLOAD_TOO_LARGE,
    Refusal,
    busy,
)

# A text of 2,000,000 characters is the largest thing a client may store. Clients that escape
# everything outside ASCII need 12 bytes for a character beyond the basic plane (two escapes),
# so 24,000,000 bytes for the text; the rest is room for its metadata.
MAX_BODY = 25 * 1024 * 1024
MAX_PLAIN_BODY = 4 * 1024 * 1024
# Without a length a body is only known to be too large after it has been taken into memory.
MAX_UNSIZED_BODY = 2 * 1024 * 1024
MAX_HELD = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class WorkClass:
    """Requests that share the same scarce thing.

    Attributes:
        paths: Paths whose requests belong to the class.
        running: How many run at the same time.
        waiting: How many more may wait for a place.
        retry_seconds: What `Retry-After` says to the rest.
    """

    paths: frozenset[str]
    running: int
    waiting: int
    retry_seconds: int = 1


# Scans take minutes and get places of their own, or two of them would hold up `remember`.
DEFAULT_WORK: tuple[WorkClass, ...] = (
    WorkClass(frozenset({"/recall"}), running=16, waiting=256),
    WorkClass(frozenset({"/ingest_text", "/forget"}), running=2, waiting=256),
    WorkClass(frozenset({"/ingest_convos", "/reindex"}), running=2, waiting=8, retry_seconds=5),
    WorkClass(frozenset({"/fetch", "/search", "/verify"}), running=4, waiting=16),
    WorkClass(frozenset({"/v1/chat/completions"}), running=1, waiting=4, retry_seconds=10),
)


class WorkGate:
    """The places of one work class."""

    def __init__(self, work: WorkClass, wait_seconds: float = 30.0) -> None:
        self.refusal = busy(work.retry_seconds)
        self._limit = work.waiting
        self._wait_seconds = wait_seconds
        self._waiting = 0
        self._places = asyncio.Semaphore(work.running)

    async def enter(self) -> bool:
        """Take a place, waiting for one if the queue has room.

        Returns:
            False when the queue is full or the wait took too long; True obliges to `leave`.
        """
        if not self._places.locked():
            return await self._places.acquire()
        if self._waiting >= self._limit:
            return False
        self._waiting += 1
        try:
            async with asyncio.timeout(self._wait_seconds):
                return await self._places.acquire()
        except TimeoutError:
            return False
        finally:
            self._waiting -= 1

    def leave(self) -> None:
        """Give the place back."""
        self._places.release()


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
