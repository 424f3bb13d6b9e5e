"""The time zone of the person at the terminal, without the cost of `zoneinfo`."""

import os
import re
import time
from collections.abc import Mapping
from pathlib import Path

LOCALTIME = Path("/etc/localtime")
_ROOTS = (
    Path("/usr/share/zoneinfo"),
    Path("/usr/lib/zoneinfo"),
    Path("/usr/share/lib/zoneinfo"),
    Path("/etc/zoneinfo"),
    Path("/var/db/timezone/zoneinfo"),
)
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(?:/[A-Za-z0-9_+-]+)*")
_VARIANT = re.compile(r"^(?:posix|right)/")


def reader_zone(environ: Mapping[str, str], localtime: Path = LOCALTIME) -> str:
    """An IANA name where the machine has one, else the present offset as `+02:00`.

    TZ comes first, as it does for every other program; then the link `/etc/localtime`.
    """
    variable = environ.get("TZ", "")
    if variable:
        return _zone_of_path(variable.removeprefix(":")) or _offset()
    return _zone_of_path(os.path.realpath(localtime)) or _offset()


def _zone_of_path(text: str) -> str | None:
    """The name in `Europe/Oslo` or `…/zoneinfo/Europe/Oslo`, if the machine has that zone."""
    name = _VARIANT.sub("", text.rpartition("/zoneinfo/")[2])
    if not _NAME.fullmatch(name):
        return None
    if name == "UTC" or any((root / name).is_file() for root in _ROOTS):
        return name
    return None


def _offset() -> str:
    minutes = time.localtime().tm_gmtoff // 60
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"
