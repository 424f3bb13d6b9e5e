"""What is wrong with the database while it is open, for errors and for `status`."""

import os
import threading
from collections.abc import Collection
from pathlib import Path
from typing import Final

from cloxy_hookspecs.errors import StoreError

_NAMED: Final = 5


class Place:
    """Whether the file that is open is still the one at its path.

    A file that was moved away can still be written through the open connection, where nobody
    would look for it later; so nothing is read or written until it is back.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._number = path.stat().st_ino

    def require(self) -> None:
        """Return if all is well.

        Raises:
            StoreError: The file or its folder was moved away, replaced, or its disk is gone.
        """
        if words := self._missing():
            raise StoreError(words, hint="put it back in its place, or restart Cloxy")

    def warnings(self) -> tuple[str, ...]:
        """What `status` says, in words with what to do."""
        if words := self._missing():
            return (f"{words}; put it back in its place, or restart Cloxy.",)
        if os.access(self._path, os.W_OK):
            return ()
        return (
            f"{self._path} cannot be written: nothing new is stored until the file, its folder "
            "and its disk can be written again; check the permissions and the mount.",
        )

    def _missing(self) -> str | None:
        try:
            # As SQLite compares them: the number of a device may change at a remount.
            in_place = self._path.stat().st_ino == self._number
        except OSError as error:
            return f"the open database is not at {self._path} any more ({error.strerror})"
        return None if in_place else f"another file took the place of the database {self._path}"


class DamagedPages:
    """Whether a page was met that SQLite cannot make sense of, since the start."""

    def __init__(self) -> None:
        self._met = False

    def note(self) -> None:
        """Remember that one was met; may be called on any thread."""
        self._met = True

    def warnings(self) -> tuple[str, ...]:
        """What `status` says, in words with what to do."""
        if not self._met:
            return ()
        return (
            "a damaged page of the database was met since the start: stop Cloxy and run "
            "`cloxy doctor --repair`, which keeps the damaged file.",
        )


class DamagedTexts:
    """Memories whose text was found not to be what was stored, since the start."""

    def __init__(self) -> None:
        self._ids: set[int] = set()
        self._lock = threading.Lock()

    def add(self, ids: Collection[int]) -> None:
        """Remember ids; may be called on any thread."""
        with self._lock:
            self._ids.update(ids)

    def warnings(self) -> tuple[str, ...]:
        """What `status` says, in words with what to do."""
        with self._lock:
            ids = sorted(self._ids)
        if not ids:
            return ()
        named = ", ".join(map(str, ids[:_NAMED])) + (
            f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else ""
        )
        return (
            f"damaged on disk and not shown: the text of memory {named}; stop Cloxy and "
            "run `cloxy doctor --repair`, which gets it back or says that it cannot.",
        )
