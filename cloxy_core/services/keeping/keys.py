"""Which key of what was forgotten counts after a restore."""

import os
from collections.abc import Set
from dataclasses import dataclass
from pathlib import Path

from cloxy_core.runtime.paths import create_private_file, sync_directory
from cloxy_core.services.keeping.looking import read_key
from cloxy_core.services.write.tombstones import key_mark


@dataclass(frozen=True, slots=True)
class Choice:
    """The key that counts.

    Attributes:
        key: None when there is none at all.
        fits: whether everything that was forgotten is recognised with it.
        words: what is said of it; None when there is nothing to say.
    """

    key: bytes | None
    fits: bool
    words: str | None


def choose_key(
    present: bytes | None, kept: bytes | None, here: Set[bytes], there: Set[bytes]
) -> Choice:
    """Choose between the key of the data directory and that of a backup.

    Args:
        present: the key of the data directory; None without a whole one.
        kept: the key beside the backup.
        here: marks of the keys that the list in the data directory was made with.
        there: marks of the keys that the list in the backup was made with.
    """
    used = here | there
    if present is not None and key_mark(present) in here:
        key: bytes | None = present
    elif kept is not None and key_mark(kept) in used:
        key = kept
    else:
        key = present or kept
    fits = not used or (key is not None and used == {key_mark(key)})
    return Choice(key, fits, _words(present, kept, key, fits=fits))


def _words(
    present: bytes | None, kept: bytes | None, key: bytes | None, *, fits: bool
) -> str | None:
    said = []
    if key is not None and present is not None and key != present:
        said.append(
            "the backup's key of what was forgotten took the place of the one that was here, "
            "with which nothing that counts was forgotten"
        )
    elif key is not None and kept is not None and key != kept:
        said.append(
            "the key of what was forgotten that is here stays; the backup was made with another"
        )
    if not fits:
        said.append(
            "what was forgotten with another key is not recognised any more, and could come back "
            "from session logs"
        )
    return "; ".join(said) or None


def install_key(path: Path, key: bytes) -> Path | None:
    """Put a key in its place; killed anywhere, the old or the new one is there.

    Returns:
        Where the former one is kept; None when there was none, or the same.
    """
    if read_key(path) == key:
        return None
    new, aside = path.with_name(f"{path.name}.new"), None
    new.unlink(missing_ok=True)
    with os.fdopen(create_private_file(new), "wb") as file:
        file.write(key)
        file.flush()
        os.fsync(file.fileno())
    if os.path.lexists(path):
        aside = _free_name(path.with_name(f"{path.name}.before-restore"))
        with os.fdopen(create_private_file(aside), "wb") as file:
            file.write(path.read_bytes())
            file.flush()
            os.fsync(file.fileno())
    new.replace(path)
    sync_directory(path.parent)
    return aside


def _free_name(path: Path) -> Path:
    number, candidate = 1, path
    while os.path.lexists(candidate):
        number += 1
        candidate = path.with_name(f"{path.name}-{number}")
    return candidate
