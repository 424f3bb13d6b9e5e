"""What the store tells of itself, and when it acts by itself."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cloxy_core.store.library import LibraryFacts
from cloxy_core.store.reads import OpenRead

LOG_LIMIT_BYTES: Final = 128 * 1024 * 1024
LONG_READ_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True)
class StoreLimits:
    """How far things may go before the store acts.

    Attributes:
        log_bytes: size of the write-ahead log at which ordinary writes wait for it to shrink.
        read_seconds: age at which a read may be ended to let it shrink.
    """

    log_bytes: int = LOG_LIMIT_BYTES
    read_seconds: float = LONG_READ_SECONDS


DEFAULT_LIMITS: Final = StoreLimits()


@dataclass(frozen=True, slots=True)
class StoreFacts:
    """What `status` says of the store.

    Attributes:
        path: the database.
        size: bytes of the database.
        log_size: bytes of the write-ahead log beside it.
        library: the SQLite library.
        safe_mode: whether the library has a fault that the store works around.
        oldest_read: the read that has been going on for the longest time.
        free: bytes free on its disk.
        reserve: whether the reserve file is there.
        waiting_writes: writes that have not begun.
        warnings: in words, with what to do.
    """

    path: Path
    size: int
    log_size: int
    library: LibraryFacts
    safe_mode: bool
    oldest_read: OpenRead | None
    free: int
    reserve: bool
    waiting_writes: int
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What came of moving the write-ahead log into the database.

    Attributes:
        emptied: whether the log is empty now; a read somewhere may have kept part of it.
        ended_reads: reads of this process that were ended for it.
    """

    emptied: bool
    ended_reads: tuple[str, ...]


def file_size(path: Path) -> int:
    """Bytes of a file, 0 when it cannot be found; the file is not opened."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def log_warning(log_size: int, oldest: OpenRead | None) -> str:
    """Say why a write-ahead log is long, as far as it is known."""
    if oldest is None:
        who = "perhaps another program that has the database open"
    else:
        who = f"perhaps {oldest.name}, reading for {oldest.seconds:.0f} s"
    return f"the write-ahead log has {log_size // 2**20} MiB because a read keeps it: {who}"
