"""Memory that was freed: back to the system, instead of kept by the C library.

glibc keeps what is freed in heaps, one a thread, for the next time; a server that has once loaded a
model or built an index would hold a third more for as long as it runs. Elsewhere nothing is done.
"""

import ctypes
import sys
from functools import cache
from typing import Any, Final

_MMAP_THRESHOLD: Final = -3
_ARENA_MAX: Final = -8
"""Numbers of parameters, from glibc's `malloc.h`."""

OWN_MAPPING_BYTES: Final = 4 << 20
"""From this size on, memory is a mapping of its own, which goes back when it is freed. By itself
the size would grow up to 32 MiB; the arrays of a search are smaller, the pieces of an index
greater."""

HEAPS: Final = 2


def keep_less_memory() -> None:
    """Make the C library keep little of what this process frees; to be called once, early."""
    library = _glibc()
    if library is not None:
        library.mallopt(_MMAP_THRESHOLD, OWN_MAPPING_BYTES)
        library.mallopt(_ARENA_MAX, HEAPS)


def give_back_memory() -> None:
    """Give back what is free now, behind something that needed much; takes some milliseconds."""
    library = _glibc()
    if library is not None:
        library.malloc_trim(0)


@cache
def _glibc() -> Any | None:  # noqa: ANN401 - a library of C functions
    """The C library of this process, if it is one that has both functions."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        library = ctypes.CDLL(None)
    except OSError:
        return None
    return library if hasattr(library, "mallopt") and hasattr(library, "malloc_trim") else None
