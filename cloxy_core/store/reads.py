"""The reads that go on now: how old the oldest is, and a way to end one that holds up the log."""

import itertools
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from cloxy_core.store.connections import driver_connection
from cloxy_core.store.failures import QueryTimeLimit, was_interrupted
from cloxy_hookspecs.errors import CloxyError

_INSTRUCTIONS = 1000


@dataclass(frozen=True, slots=True)
class OpenRead:
    """A read transaction that has not ended.

    Attributes:
        name: the function that reads.
        seconds: how long it has been going on.
    """

    name: str
    seconds: float


class ReadRegistry:
    """Knows every read transaction of this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._reads: dict[int, _Read] = {}

    @contextmanager
    def tracked(self, name: str, connection: Connection) -> Iterator[None]:
        """Know of a read while the block runs.

        Raises:
            QueryTimeLimit: The read was ended from outside; whatever it found is void.
        """
        number = next(self._numbers)
        read = _Read(name, time.monotonic(), driver_connection(connection))
        with self._lock:
            self._reads[number] = read
        try:
            yield
        except Exception as error:
            # Ended between two steps, a read fails in ways that name neither cause nor culprit.
            if read.ended and not isinstance(error, CloxyError):
                raise _ended(read) from error
            raise
        finally:
            with self._lock:
                del self._reads[number]
        if read.ended:
            raise _ended(read)

    def oldest(self) -> OpenRead | None:
        """The read that has been going on for the longest time."""
        with self._lock:
            first = min(self._reads.values(), key=lambda read: read.since, default=None)
        return None if first is None else OpenRead(first.name, time.monotonic() - first.since)

    def end_older_than(self, seconds: float) -> list[str]:
        """End reads, so that the write-ahead log can be emptied; return their names.

        A running statement is interrupted. A read that sits between two statements loses its
        snapshot, and its caller gets `QueryTimeLimit` instead of a result.
        """
        limit = time.monotonic() - seconds
        with self._lock:
            old = [read for read in self._reads.values() if read.since < limit]
            for read in old:
                read.end()
        return [read.name for read in old]


@contextmanager
def limited(connection: Connection, seconds: float) -> Iterator[None]:
    """Stop any statement of the block that still runs when its time is over.

    Limits nest; the one that ends first counts, and the outer one goes on afterwards.

    Raises:
        QueryTimeLimit: A statement was stopped.
    """
    driver = driver_connection(connection)
    deadlines: list[float] = connection.info.setdefault("cloxy_deadlines", [])
    deadline = time.monotonic() + seconds
    deadlines.append(min([deadline, *deadlines]))
    _watch(driver, deadlines)
    try:
        yield
    except Exception as error:
        if was_interrupted(error) and time.monotonic() >= deadlines[-1]:
            raise QueryTimeLimit(
                f"a query took longer than {seconds:g} s and was stopped"
            ) from error
        raise
    finally:
        deadlines.pop()
        _watch(driver, deadlines)


@contextmanager
def lenient_text(connection: Connection) -> Iterator[None]:
    """Read damaged texts with replacement characters instead of failing over them."""
    driver = driver_connection(connection)
    driver.text_factory = lambda data: data.decode(errors="replace")
    try:
        yield
    finally:
        driver.text_factory = str


def _watch(driver: Any, deadlines: list[float]) -> None:  # noqa: ANN401 - the driver's connection
    if not deadlines:
        driver.set_progress_handler(None, 0)
        return
    deadline = deadlines[-1]
    driver.set_progress_handler(lambda: time.monotonic() >= deadline, _INSTRUCTIONS)


def _ended(read: "_Read") -> QueryTimeLimit:
    return QueryTimeLimit(
        f"the read {read.name} was ended because it kept the write-ahead log from shrinking",
        hint="ask for less at once",
    )


@dataclass(slots=True)
class _Read:
    """One read and its connection; `ended` once somebody else has ended it."""

    name: str
    since: float
    driver: Any
    ended: bool = False

    def end(self) -> None:
        self.ended = True
        self.driver.interrupt()
        # The read may have ended its transaction itself by now.
        with suppress(self.driver.OperationalError):
            self.driver.rollback()
