"""Opening databases of other programs without creating or changing anything of theirs."""

import contextlib
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from cloxy_core.services.logs.beside import Look, beside, change_counter, facts_of, look_at
from cloxy_core.services.logs.copies import private_copy
from cloxy_core.services.logs.foreign import BUSY_SECONDS, ForeignConnection
from cloxy_core.services.logs.guard import Busy, held_open
from cloxy_core.store.connections import file_uri
from cloxy_hookspecs import ForeignDatabaseError

_TRIES: Final = 5
_TURN_SECONDS: Final = 10.0
_PAUSE: Final = 0.05

_turns: dict[str, threading.Lock] = {}
_turns_lock = threading.Lock()


@contextlib.contextmanager
def open_database(path: Path, temporary: Path) -> Iterator[ForeignConnection]:
    """Open a database of another program for the block, in one read transaction.

    How it is read depends on what lies beside it. With a log and its shared index, it is read
    through them as every reader does, but the index is not written to and never made. Without a
    log it is read as unchanging, without locks, and compared afterwards. With a log alone, or a
    journal of a change that did not end, from a private copy.

    Args:
        path: the database.
        temporary: folder of our own for private copies.

    Raises:
        ForeignDatabaseError: it cannot be read, or changed meanwhile; to be tried again.
    """
    with _turn(path), contextlib.ExitStack() as stack:
        connection, before = _opened(path, temporary, stack)
        try:
            yield connection
        except ForeignDatabaseError as error:
            if before is not None and before.changed():
                raise _changed(path) from error
            raise
        if before is not None and before.changed():
            raise _changed(path)


def signature_of(path: Path) -> tuple[int, int]:
    """Size and modification time (ns) of a database and its `-wal` together, (0, 0) without."""
    main = facts_of(path)
    if main is None:
        return (0, 0)
    wal = facts_of(beside(path, "-wal")) or (0, 0)
    return (main[0] + wal[0], max(main[1], wal[1]))


class _Unchanging:
    """A file as it was before it was read as one that does not change."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._counter = change_counter(path)
        self.look = look_at(path)

    def changed(self) -> bool:
        """Whether what was read may be a mixture of two states."""
        try:
            now = look_at(self._path)
            # A log that was begun meanwhile leaves the file itself as it is.
            same = (now.identity, now.main) == (self.look.identity, self.look.main)
            return not same or change_counter(self._path) != self._counter
        except (OSError, ForeignDatabaseError):
            return True


def _opened(
    path: Path, temporary: Path, stack: contextlib.ExitStack
) -> tuple[ForeignConnection, _Unchanging | None]:
    """Open in the way that what lies beside it asks for; again when that changes meanwhile."""
    trouble: ForeignDatabaseError | None = None
    until = time.monotonic() + BUSY_SECONDS
    for attempt in range(_TRIES):
        if attempt:
            time.sleep(_PAUSE)
        look = look_at(path)
        own = contextlib.ExitStack()
        try:
            found = _open_once(path, look, temporary, own)
        except ForeignDatabaseError as error:
            own.close()
            trouble = error
            if time.monotonic() > until or (attempt and _kind(look_at(path)) == _kind(look)):
                break
        except BaseException:
            own.close()
            raise
        else:
            stack.push(own)
            return found
    assert trouble is not None
    raise trouble


def _open_once(
    path: Path, look: Look, temporary: Path, stack: contextlib.ExitStack
) -> tuple[ForeignConnection, _Unchanging | None]:
    if look.journal is not None or (look.wal is not None and not look.shared):
        copy = stack.enter_context(private_copy(path, look, temporary))
        # Only a change that did not end has to be undone in the copy.
        mode = "mode=ro" if look.journal is None else "mode=rw"
        return _connect(stack, path, file_uri(copy, mode)), None
    try:
        if look.wal is not None:
            stack.enter_context(held_open(path, BUSY_SECONDS))
            if _kind(look_at(path)) != _kind(look):
                raise ForeignDatabaseError(f"{path} cannot be read: it is being closed")
            uri = file_uri(path, "mode=ro", "readonly_shm=1")
            return _connect(stack, path, uri), None
        before = _Unchanging(path)
        if _kind(before.look) != _kind(look):
            raise ForeignDatabaseError(f"{path} cannot be read: it is being opened")
        try:
            return _connect(stack, path, file_uri(path, "mode=ro", "immutable=1")), before
        except ForeignDatabaseError as error:
            # What is half of one state and half of another looks damaged.
            if before.changed():
                raise _changed(path) from error
            raise
    except Busy as error:
        raise ForeignDatabaseError(
            f"{path} cannot be read: it is locked by another program", hint="it is tried again"
        ) from error
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ForeignDatabaseError(f"{path} cannot be read: {reason}") from error


def _connect(stack: contextlib.ExitStack, path: Path, uri: str) -> ForeignConnection:
    connection = ForeignConnection(str(path), uri)
    stack.callback(connection.close)
    return connection


def _kind(look: Look) -> tuple[bool, bool, bool]:
    return (look.wal is not None, look.shared and look.wal is not None, look.journal is not None)


def _changed(path: Path) -> ForeignDatabaseError:
    return ForeignDatabaseError(
        f"{path} changed while it was read", hint="it is tried again at the next look"
    )


@contextlib.contextmanager
def _turn(path: Path) -> Iterator[None]:
    """One at a time: closing a file anywhere in a process ends all locks on it.

    Raises:
        ForeignDatabaseError: it is in use by us for too long.
    """
    with _turns_lock:
        lock = _turns.setdefault(os.path.realpath(path), threading.Lock())
    if not lock.acquire(timeout=_TURN_SECONDS):
        raise ForeignDatabaseError(f"{path} is being read already", hint="it is tried again")
    try:
        yield
    finally:
        lock.release()
