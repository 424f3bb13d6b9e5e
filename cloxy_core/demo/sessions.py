"""The bundled sessions, with their dates moved up to the present."""

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime, tzinfo
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

WRITTEN_ON: Final = date(2026, 6, 1)
"""The day that counts as today in the bundled files, whose times are the reader's local ones.

What happened seven days before it is always "last week", whatever day it is today.
"""


def copy_sessions(target: Path, now: datetime, zone: tzinfo) -> int:
    """Write the sessions to a folder as if they had gone on until yesterday.

    Args:
        target: gets one folder for each project, as the agent makes them.
        now: the present, aware.
        zone: the reader's time zone.

    Returns:
        Files written.
    """
    days = now.astimezone(zone).date() - WRITTEN_ON
    written = 0
    for parts, source in _session_files(files("cloxy_core.demo") / "logs", ()):
        file = target.joinpath(*parts)
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = source.read_text(encoding="utf-8").splitlines()
        moved = [_moved(line, days.days, zone) for line in lines]
        file.write_text("".join(f"{line}\n" for line in moved), encoding="utf-8")
        written += 1
    return written


def _session_files(
    folder: Traversable, parts: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], Traversable]]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        path = (*parts, entry.name)
        if entry.is_dir():
            yield from _session_files(entry, path)
        elif entry.name.endswith(".jsonl"):
            yield path, entry


def _moved(line: str, days: int, zone: tzinfo) -> str:
    """A line with its time so many days later, in UTC."""
    record = json.loads(line)
    if "timestamp" in record:
        record["timestamp"] = _later(record["timestamp"], days, zone)
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))


def _later(stamp: str, days: int, zone: tzinfo) -> str:
    written = datetime.fromisoformat(stamp)
    day = date.fromordinal(written.toordinal() + days)
    # Combined anew, so that a change between summer and winter time does not move the hour.
    local = datetime.combine(day, written.time(), zone)
    return local.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
