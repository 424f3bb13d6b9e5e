"""What shows that a session changed, without reading what was said in it."""

import zlib
from dataclasses import dataclass

_NANOSECONDS = 1_000_000


@dataclass(slots=True)
class Version:
    """State of one session.

    Attributes:
        count: of its messages and parts, or bytes of its files.
        times: of the latest changes of each kind of thing, milliseconds.
    """

    count: int
    times: tuple[int, ...]

    @property
    def mtime_ns(self) -> int:
        """Nanoseconds of the latest change; parts of a millisecond tell other changes apart."""
        rest = zlib.crc32(repr((self.count, self.times)).encode()) % _NANOSECONDS
        return max(self.times, default=0) * _NANOSECONDS + rest
