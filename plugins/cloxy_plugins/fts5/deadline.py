"""A time limit on what a connection runs."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sqlalchemy.exc import DBAPIError

if TYPE_CHECKING:
    from sqlalchemy import Connection

_STEPS_BETWEEN_LOOKS = 1000
_WAITING = 8


class TimeLimitReachedError(Exception):
    """The statement was stopped."""


@contextmanager
def time_limit(connection: "Connection", seconds: float) -> Iterator[None]:
    """Stop what runs inside when it takes longer; the transaction stays usable for reading.

    Args:
        connection: in use on this thread.
        seconds: of work. On a busy machine, or while a disk is read, work takes a longer time; the
            limit of that is eight times as much.

    Raises:
        TimeLimitReachedError: the time was over.
    """
    driver = connection.connection.driver_connection
    assert driver is not None, "a connection in use has one of the driver"
    # The handler is called on the thread that runs the statement.
    worked, end = time.thread_time() + seconds, time.monotonic() + _WAITING * seconds
    struck = False

    def look() -> int:
        nonlocal struck
        struck = struck or time.thread_time() > worked or time.monotonic() > end
        return int(struck)

    driver.set_progress_handler(look, _STEPS_BETWEEN_LOOKS)
    try:
        yield
    except DBAPIError as error:
        if struck:
            raise TimeLimitReachedError from error
        raise
    finally:
        driver.set_progress_handler(None, 0)
