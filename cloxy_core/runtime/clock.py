"""The time, and ids that sort by it."""

import base64
import secrets
import threading
from datetime import UTC, datetime
from typing import Final

from cloxy_hookspecs.context import Clock

_CROCKFORD: Final = bytes.maketrans(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", b"0123456789ABCDEFGHJKMNPQRSTVWXYZ"
)
_RANDOM_BITS: Final = 80
_TIME_BITS: Final = 48
_UID_LENGTH: Final = 26


def new_uid(clock: Clock) -> str:
    """Return a ULID: 26 characters of Crockford's base 32, time first.

    Within one process every id is greater than the one before, even when the clock stands still
    or goes back.
    """
    return _UIDS.next(clock.now_ms())


def uid_of(at: int, number: int) -> str:
    """Return the ULID of a moment and a number of 80 bits, the same every time.

    Args:
        at: Milliseconds since the epoch; what lies before it counts as the epoch.
        number: What tells ids of one millisecond apart.
    """
    latest = (1 << _TIME_BITS) - 1
    lower = number & ((1 << _RANDOM_BITS) - 1)
    return _encode((min(max(at, 0), latest) << _RANDOM_BITS) | lower)


def _encode(number: int) -> str:
    # Twenty bytes are 32 digits of five bits each; the standard alphabet is as sorted as ours.
    digits = base64.b32encode(number.to_bytes(20, "big"))[-_UID_LENGTH:]
    return digits.translate(_CROCKFORD).decode()


class SystemClock:
    """The machine's own clock."""

    def now(self) -> datetime:
        """The present, aware, UTC."""
        return datetime.now(UTC)

    def now_ms(self) -> int:
        """The present in integer milliseconds since the epoch."""
        return int(self.now().timestamp() * 1000)


class _UidSequence:
    """Milliseconds and 80 random bits as one number that only grows."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0

    def next(self, now_ms: int) -> str:
        with self._lock:
            fresh = (max(now_ms, 0) << _RANDOM_BITS) | secrets.randbits(_RANDOM_BITS)
            # An id of the same or an earlier millisecond continues from the last one.
            if fresh >> _RANDOM_BITS <= self._last >> _RANDOM_BITS:
                fresh = self._last + 1 + secrets.randbits(32)
            self._last = fresh
        return _encode(fresh)


_UIDS: Final = _UidSequence()
