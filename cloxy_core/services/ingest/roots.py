"""Which folders may be read on request: those that are watched, and what lies in them."""

import os
from collections.abc import Sequence
from pathlib import Path

from cloxy_hookspecs import InputError

LONGEST_PATH = 4096


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
        hint=f"watched: {watched}; add it to CLOXY_WATCH_DIRS and restart",
    )
