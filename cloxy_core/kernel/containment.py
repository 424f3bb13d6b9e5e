"""The one place where whatever a plugin's code does is caught."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from threading import RLock
from typing import Generic, TypeVar

T = TypeVar("T")

_STDOUT, _STDERR = 1, 2
# Two threads that swap the descriptors at once could restore each other's.
_redirecting = RLock()


@dataclass(frozen=True, slots=True)
class Success(Generic[T]):
    """What the code returned."""

    value: T


@dataclass(frozen=True, slots=True)
class Failure:
    """What the code raised, also when that was `SystemExit`."""

    error: BaseException

    @property
    def words(self) -> str:
        """The error in one line: its class and message."""
        return describe_error(self.error)


def describe_error(error: BaseException) -> str:
    """An error in one line: its class and message.

    Args:
        error: any exception; one whose own `__str__` fails is named by its class alone.
    """
    attempted = contained(lambda: str(error))
    text = attempted.value if isinstance(attempted, Success) else ""
    words = " ".join(text.split())
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def contained(work: Callable[[], T]) -> Success[T] | Failure:
    """Run foreign code so that nothing but the user's interrupt gets out of it.

    Args:
        work: code of a plugin, on the calling thread.
    """
    try:
        return Success(work())
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return Failure(error)


@contextmanager
def stdout_to_stderr() -> Iterator[None]:
    """Send what is printed, by Python or by C code, to standard error meanwhile.

    Standard output belongs to the answer of the command (or to a protocol), so that noise of
    a plugin must not get into it. Works for the whole process: keep it short.
    """
    with _redirecting, redirect_stdout(sys.stderr), _descriptor_to_stderr():
        yield


@contextmanager
def _descriptor_to_stderr() -> Iterator[None]:
    try:
        saved = os.dup(_STDOUT)
    except OSError:  # closed, as in a daemon
        yield
        return
    try:
        if sys.__stdout__ is not None:
            sys.__stdout__.flush()
        with suppress(OSError):  # standard error is closed
            os.dup2(_STDERR, _STDOUT)
        yield
    finally:
        os.dup2(saved, _STDOUT)
        os.close(saved)
