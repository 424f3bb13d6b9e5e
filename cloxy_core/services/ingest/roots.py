"""Which folders may be read on request: those that are watched, and what lies in them.

The owner of the data may name any folder: what is read there can only become the owner's own.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cloxy_core.services.ingest.reading import Reader
from cloxy_hookspecs import FolderSource, InputError

LONGEST_PATH = 4096


@dataclass(frozen=True, slots=True)
class Place:
    """A folder, or a watched file, that may be read.

    Attributes:
        path: absolute, without `.` and `..`.
        watched: whether it lies inside a watched folder.
    """

    path: Path
    watched: bool


def choose_place(path: Path, roots: Sequence[Path], *, anywhere: bool) -> Place:
    """What to read, checked.

    Args:
        path: as the caller gave it; `~` stands for the home folder, nothing else is expanded.
        roots: watched folders.
        anywhere: whether it may be a folder outside of them.

    Raises:
        InputError: it is no path, there is no such folder, or it may not be read on request.
    """
    if not anywhere:
        return Place(require_root(path, roots), watched=True)
    try:
        return Place(require_root(path, roots), watched=True)
    except InputError:
        # Not inside, or not there: the second look tells which.
        return Place(_require_folder(path), watched=False)


def readers_of(readers: Sequence[Reader], folder: Path) -> Sequence[Reader]:
    """Readers with a folder as their only root, where their sources can read another one.

    Raises:
        InputError: none can.
    """
    able = [(reader, reader.source) for reader in readers]
    found = [
        replace(reader, source=source.of(folder))
        for reader, source in able
        if isinstance(source, FolderSource)
    ]
    if not found:
        raise InputError(
            "no source can read a folder that is not watched",
            hint="add the folder to CLOXY_WATCH_DIRS and restart",
        )
    return found


def _require_folder(path: Path) -> Path:
    """A folder anywhere.

    Raises:
        InputError: it is no absolute path, or no folder that exists.
    """
    wanted = _normal(str(path))
    hint = "name a folder by its absolute path; a single file is read only in a watched folder"
    if not wanted.is_absolute():
        raise InputError("the path of the folder is not absolute", hint=hint)
    try:
        is_folder = wanted.is_dir()
    except OSError:
        is_folder = False
    if not is_folder:
        raise InputError("there is no such folder", hint=hint)
    return wanted


def is_there(root: Path) -> bool:
    """Whether a root exists: a folder, or a file that is watched alone."""
    try:
        return root.exists()
    except OSError:
        return False


def require_root(path: Path, roots: Sequence[Path]) -> Path:
    """The folder to read, checked; only what lies inside a watched folder may be named.

    Args:
        path: as the caller gave it; `~` stands for the home folder, nothing else is expanded.
        roots: watched folders.

    Raises:
        InputError: it is no path, it lies outside of every watched folder (also by way of a
            link), or there is no such folder. Outside, the answer is the same whether the folder
            exists or not.
    """
    wanted = _normal(str(path))
    allowed = [Path(os.path.normpath(root)) for root in roots]
    # Events may spell a path through the place that a link in a watched folder's own path leads to.
    real_roots = [root.resolve() for root in allowed]
    if not (wanted.is_absolute() and _inside(wanted, [*allowed, *real_roots])):
        raise _outside(roots)
    try:
        real = wanted.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise InputError(
            "there is no such folder", hint="name a folder inside a watched one"
        ) from error
    if not _inside(real, real_roots):
        raise _outside(roots)
    return wanted


def _normal(text: str) -> Path:
    """The path without `~`, `.` and `..`."""
    try:
        text.encode()
        usable = "\0" not in text and len(text) <= LONGEST_PATH
        if text == "~" or text.startswith("~/"):
            text = str(Path.home()) + text[1:]
    except (UnicodeEncodeError, RuntimeError):
        usable = False
    if not usable:
        raise InputError(
            "this is not a path that can be read", hint="name a folder inside a watched one"
        )
    return Path(os.path.normpath(text))


def _inside(path: Path, roots: Sequence[Path]) -> bool:
    return any(path == root or root in path.parents for root in roots)


def _outside(roots: Sequence[Path]) -> InputError:
    watched = ", ".join(str(root) for root in roots) or "none"
    return InputError(
        "this folder is not inside a watched one",
        hint=f"watched: {watched}; read it once with `cloxy ingest DIR` on the server's machine, "
        "or add it to CLOXY_WATCH_DIRS and restart",
    )
