"""Whether session logs may be read: a file in the data directory that holds them back.

Forgotten text still stands in session logs, and only the list of what was forgotten, with its
key, keeps it from coming back. When either is lost nothing is read until a person consents, by
removing the file. A file, so that it also counts for a database that a repair makes anew.
"""

import os
from collections.abc import Sequence
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, delete

from cloxy_core.runtime.paths import create_private_file, sync_directory
from cloxy_core.services.write.tombstones import Tombstones
from cloxy_core.store.counters import count_up, read_counts
from cloxy_core.store.engine import Store
from cloxy_hookspecs import StoreError
from cloxy_hookspecs.tables import counters

HOLD: Final = "ingest.hold"
HELD: Final = "session logs are not read in: "
"""How the words begin that say so."""

ASKED: Final = "ingest.held-for-key."
_CAUSE: Final = "cause: "


class Cause(StrEnum):
    """Why logs are held back; the file names it, so that each is taken back by itself."""

    LIST = "list-lost"
    KEY = "key-lost"
    KEY_AT_REPAIR = "key-lost-at-repair"


_WORDS: Final = {
    Cause.LIST: "a repair could not save the list of what was forgotten, and forgotten text would "
    "come back from them",
    Cause.KEY: "the key of what was forgotten (tombstones.key) is missing, damaged or another than "
    "before, and forgotten text would come back from them",
    Cause.KEY_AT_REPAIR: "a repair found the key of what was forgotten (tombstones.key) missing, "
    "damaged or another than before, and forgotten text would come back from them",
}
_HINTS: Final = {
    Cause.KEY: "put tombstones.key back from a copy of the data directory and restart Cloxy, or ",
    Cause.KEY_AT_REPAIR: "put tombstones.key back from a copy of the data directory, and then ",
}


def hold_ingest(data: Path, cause: Cause) -> None:
    """Let no session log be read until a person removes a file; other causes in it stay."""
    causes = held_causes(data)
    if cause not in causes:
        _write(data, [*causes, cause])


def let_go(data: Path, cause: Cause) -> None:
    """Take one cause back; the file goes with its last one."""
    causes = [each for each in held_causes(data) if each is not cause]
    if causes:
        _write(data, causes)
    else:
        (data / HOLD).unlink(missing_ok=True)


def held_causes(data: Path) -> Sequence[Cause]:
    """Why logs are held back; empty when they are not.

    A file that names no cause was made by an older repair, by hand, or was cut off, and counts
    as the one that nothing but a person takes back.
    """
    try:
        text = (data / HOLD).read_text("utf-8", "replace")
    except FileNotFoundError:
        return ()
    named = [line.removeprefix(_CAUSE) for line in text.splitlines() if line.startswith(_CAUSE)]
    return [cause for cause in Cause if cause in named] or [Cause.LIST]


def held_words(data: Path) -> str | None:
    """That and why session logs are not read, or None."""
    causes = held_causes(data)
    if not causes:
        return None
    return HELD + "; ".join(_WORDS[cause] for cause in causes)


def held_remedy(data: Path) -> str:
    """What to do about it."""
    hints = [_HINTS[cause] for cause in held_causes(data) if cause in _HINTS]
    return f"{hints[0] if hints else ''}remove {data / HOLD} to have them read all the same"


def refuse_held_back(data: Path) -> None:
    """Return if session logs may be read.

    Raises:
        StoreError: they must not, until a person removes the file.
    """
    if words := held_words(data):
        raise StoreError(words, hint=held_remedy(data))


class IngestHold:
    """The hold of a running server, which also looks whether the key is that of the list."""

    def __init__(self, data: Path, store: Store, tombstones: Tombstones) -> None:
        self._data = data
        self._store = store
        self._tombstones = tombstones

    async def require(self) -> None:
        """Return if session logs may be read.

        Raises:
            StoreError: they must not, or it cannot be told whether they may.
        """
        try:
            await self.settle()
            refuse_held_back(self._data)
        except OSError as error:
            raise StoreError(
                f"whether session logs may be read cannot be told: {self._data / HOLD} cannot be "
                f"read or written ({error.strerror})",
                hint="check the permissions and the disk; it is tried again at the next pass",
            ) from error

    async def settle(self) -> None:
        """Hold logs back for a key that nobody consented to; take back what is no longer so.

        Raises:
            CloxyError: the database cannot be read or written now.
            OSError: the file cannot be.
        """
        asked = await self._store.read(partial(read_counts, prefix=ASKED))
        if await self._store.read(self._tombstones.key_fits):
            if asked:
                await self._store.write(_forget_asked)
            if Cause.KEY in held_causes(self._data):
                let_go(self._data, Cause.KEY)
            return
        mark = self._tombstones.mark.hex()
        causes = held_causes(self._data)
        if mark in asked:
            # It was asked, and is no more: a person removed it.
            if not causes:
                await self._store.write(self._adopt)
            return
        if Cause.KEY_AT_REPAIR not in causes:
            hold_ingest(self._data, Cause.KEY)
        await self._store.write(partial(count_up, by={ASKED + mark: 1}))

    def warnings(self) -> Sequence[str]:
        """What `status` says: that logs are held back, why, and what to do."""
        try:
            words = held_words(self._data)
            return () if words is None else (f"{words}; {held_remedy(self._data)}",)
        except OSError as error:
            return (f"{self._data / HOLD} cannot be read ({error.strerror})",)

    def _adopt(self, connection: Connection) -> None:
        self._tombstones.adopt_key(connection)
        _forget_asked(connection)


def _forget_asked(connection: Connection) -> None:
    connection.execute(delete(counters).where(counters.c.key.startswith(ASKED, autoescape=True)))


def _write(data: Path, causes: Sequence[Cause]) -> None:
    """Write the file anew; killed in between, the old one stays."""
    path, new = data / HOLD, data / f"{HOLD}.new"
    why = "; ".join(_WORDS[cause] for cause in causes)
    lines = [
        f"{HELD}{why}.",
        "Remove this file to have them read all the same.",
        *(f"{_CAUSE}{cause}" for cause in causes),
    ]
    new.unlink(missing_ok=True)
    with open(create_private_file(new), "w", encoding="utf-8") as file:  # noqa: PTH123 - a descriptor
        file.write("\n".join(lines) + "\n")
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
    sync_directory(data)
