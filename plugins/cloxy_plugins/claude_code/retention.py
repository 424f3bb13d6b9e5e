"""How long Claude Code keeps its own session logs; Cloxy keeps what it has read from them."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from cloxy_hookspecs import Finding

FILE = "settings.json"
SETTING = "cleanupPeriodDays"
DEFAULT_DAYS = 30
_MOST_BYTES = 1 << 20


class CleanUpCheck:
    """Names the agent's own clean-up; it only reads, and implements `Check`."""

    def __init__(self, folders: Sequence[Path]) -> None:
        """Look at nothing yet.

        Args:
            folders: folders of configuration, each with its own settings.
        """
        self._folders = folders

    async def run(self) -> Sequence[Finding]:
        """One finding for each folder of configuration that is there, or that there is none."""
        found = [_finding(folder / FILE) for folder in self._folders if folder.is_dir()]
        return found or [Finding("ok", "Claude Code has no folder of settings here")]


def _finding(file: Path) -> Finding:
    try:
        days = clean_up_days(file)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not a file of settings"
        return Finding(
            "warning",
            f"how long Claude Code keeps its session logs cannot be told: {file}: {reason}",
        )
    given = f"{SETTING} in {file}" if days is not None else f"its default; {SETTING} in {file}"
    return Finding(
        "ok",
        f"Claude Code deletes session logs after {DEFAULT_DAYS if days is None else days:g} days "
        f"({given}); Cloxy keeps what it has read, and is the only copy then: `cloxy backup`",
    )


def clean_up_days(file: Path) -> float | None:
    """What the settings say; None when they say nothing.

    Raises:
        OSError: they cannot be read.
        ValueError: they are no JSON object, or say no number of days.
    """
    try:
        with file.open("rb") as opened:
            settings = json.loads(opened.read(_MOST_BYTES))
    except FileNotFoundError:
        return None
    if not isinstance(settings, Mapping):
        raise ValueError("no object")
    days = settings.get(SETTING)
    if days is None:
        return None
    if isinstance(days, bool) or not isinstance(days, int | float):
        raise ValueError("no number")
    return float(days)
