"""What became of an old database: noted among the counts of the new one, and read back.

The counts are in the new file before it takes the place of the old one, so that what is told
is always true of the file that it stands in.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from sqlalchemy import Connection

from cloxy_core.runtime.wording import counted
from cloxy_core.store.backup import backups, stamped
from cloxy_core.store.counters import read_counts

PREFIX: Final = "upgrade."
UNINDEXED: Final = "upgrading.indexed_to"
"""Key of the last passage that is in the indexes of words, until all are."""

REASON: Final = "before-upgrade-from-"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_VERSION: Final = "version."
_PROBLEM: Final = "problem."
_PROBLEMS: Final = {
    "vectors.missing": "rows without a vector",
    "vectors.damaged": "vectors that cannot be read",
    "vectors.of_another_length": "vectors of another length than the others",
    "vectors.not_of_unit_length": "vectors that are not of unit length",
    "vectors.of_changed_text": "vectors of texts out of which a secret was taken",
    "duplicates": "rows that held the text of an earlier one, and were merged into it",
    "hashes": "hashes that were written anew",
    "empty": "rows without a word, which were left out",
    "times": "rows whose time could not be read",
    "undecodable": "rows whose text was damaged",
    "metadata": "rows whose metadata was no JSON object",
}


@dataclass(frozen=True, slots=True)
class UpgradeReport:
    """What was converted.

    Attributes:
        version: of the old database, as far as its shape tells.
        at: when, milliseconds.
        rows: memories that were taken over.
        conversations: how many of them are pieces of conversations.
        sessions: conversations.
        vectors: how many vectors were kept.
        redacted: secrets that were taken out of texts.
        problems: how many rows had what fault, by its short name.
    """

    version: str
    at: int
    rows: int = 0
    conversations: int = 0
    sessions: int = 0
    vectors: int = 0
    redacted: int = 0
    problems: Mapping[str, int] = field(default_factory=Counter)

    def backup(self, folder: Path) -> Path:
        """Where the copy of the old database was put.

        Args:
            folder: the folder of backups.
        """
        moment = _EPOCH + timedelta(milliseconds=self.at)
        return stamped(folder, moment, REASON + self.version)

    def words(self, folder: Path) -> str:
        """All of it in a sentence or two.

        Args:
            folder: the folder of backups.
        """
        backup = self.backup(folder)
        day = (_EPOCH + timedelta(milliseconds=self.at)).strftime("%Y-%m-%d %H:%M UTC")
        kept = str(backup) if backup.exists() else f"{backup.name} (it is gone by now)"
        lines = [
            f"from Cloxy {self.version} on {day}: {counted(self.rows, 'memory', 'memories')}"
            f" ({self.conversations} of {self.sessions} conversations),"
            f" {counted(self.vectors, 'vector')} kept"
        ]
        if self.redacted:
            lines.append(f"{counted(self.redacted, 'secret')} taken out")
        lines += [f"{count} {_PROBLEMS[name]}" for name, count in self.problems.items()]
        return "; ".join([*lines, f"the old database is kept as {kept}"])

    def counts(self) -> Mapping[str, int]:
        """The same as counts, by key."""
        return {
            f"{PREFIX}{_VERSION}{self.version}": 1,
            f"{PREFIX}at": self.at,
            f"{PREFIX}rows": self.rows,
            f"{PREFIX}conversations": self.conversations,
            f"{PREFIX}sessions": self.sessions,
            f"{PREFIX}vectors": self.vectors,
            f"{PREFIX}redacted": self.redacted,
            **{f"{PREFIX}{_PROBLEM}{name}": count for name, count in self.problems.items()},
        }


def old_copies(folder: Path) -> list[Path]:
    """Copies that upgrades made.

    Args:
        folder: the folder of backups.
    """
    return [path for path in backups(folder) if f"-{REASON}" in path.name]


def read_report(connection: Connection) -> UpgradeReport | None:
    """What the counts of a database tell of its upgrade; None when there was none."""
    found = read_counts(connection, PREFIX)
    version = next((k.removeprefix(_VERSION) for k in found if k.startswith(_VERSION)), None)
    if version is None:
        return None
    problems = {name: found[_PROBLEM + name] for name in _PROBLEMS if _PROBLEM + name in found}
    return UpgradeReport(
        version=version,
        at=found.get("at", 0),
        rows=found.get("rows", 0),
        conversations=found.get("conversations", 0),
        sessions=found.get("sessions", 0),
        vectors=found.get("vectors", 0),
        redacted=found.get("redacted", 0),
        problems=problems,
    )
