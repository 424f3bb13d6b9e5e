"""Which folders may be read on request: those that are watched, and what lies in them."""

import os
from collections.abc import Sequence
from pathlib import Path

from cloxy_hookspecs import ForbiddenError, InputError

LONGEST_PATH = 4096


def require_root(path: Path, roots: Sequence[Path]) -> Path:
    """The folder to read, checked; only what lies inside a watched folder may be named.

    Args:
        path: as the caller gave it; `~` stands for the home folder, nothing else is expanded.
        roots: watched folders.

    Raises:
        InputError: it is no path, or there is no such folder.
        ForbiddenError: it lies outside of every watched folder, also by way of a link.
    """
    text = str(path)
    if "\0" in text or len(text) > LONGEST_PATH:
        raise InputError("this is not a path that can be read")
    if text == "~" or text.startswith("~/"):
        text = str(Path.home()) + text[1:]
    wanted = Path(os.path.normpath(text))
    allowed = [Path(os.path.normpath(root)) for root in roots]
    inside = wanted.is_absolute() and any(
        wanted == root or root in wanted.parents for root in allowed
    )
    if not inside:
        raise _outside(roots)
    try:
        real = wanted.resolve(strict=True)
        real_roots = [root.resolve() for root in allowed]
    except (OSError, RuntimeError) as error:
        raise InputError(
            "there is no such folder", hint="name a folder inside a watched one"
        ) from error
    if not any(real == root or root in real.parents for root in real_roots):
        raise _outside(roots)
    return wanted


def _outside(roots: Sequence[Path]) -> ForbiddenError:
    watched = ", ".join(str(root) for root in roots) or "none"
    return ForbiddenError(
        "this folder is not inside a watched one",
        hint=f"watched: {watched}; add it to CLOXY_WATCH_DIRS and restart",
    )
