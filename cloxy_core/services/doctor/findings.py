"""What an examination finds, as data; the words are for people."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

Severity = Literal["ok", "note", "warning", "error"]

SHOWN_IDS = 10
SHOWN_DETAILS = 5

Tell = Callable[[str], None]
"""Told what is being done now; for a progress line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that was found.

    Attributes:
        name: the same for the same kind of thing, for programs.
        severity: `error` when something is lost, wrong or unfindable; `warning` when somebody
            should act but the memory is whole; `note` when nothing needs to be done.
        message: what was found, in words.
        count: how many.
        ids: the first of them.
        details: what the first of them are, a line each.
        repair: what `cloxy doctor --repair` does about it; empty when it can do nothing.
        remedy: what a person can do; empty when the repair is enough.
    """

    name: str
    severity: Severity
    message: str
    count: int = 1
    ids: tuple[int, ...] = ()
    details: tuple[str, ...] = ()
    repair: str = ""
    remedy: str = ""

    def as_json(self) -> dict[str, object]:
        """All of it."""
        return {
            "name": self.name,
            "severity": self.severity,
            "message": self.message,
            "count": self.count,
            "ids": list(self.ids),
            "details": list(self.details),
            "repair": self.repair,
            "remedy": self.remedy,
        }


@dataclass(frozen=True, slots=True)
class Examined:
    """One part that was looked at.

    Attributes:
        part: its name.
        summary: what is said of it when nothing is wrong.
        problems: what is.
    """

    part: str
    summary: str
    problems: tuple[Problem, ...] = ()

    @property
    def severity(self) -> Severity:
        """The worst of its problems."""
        for severity in ("error", "warning", "note"):
            if any(problem.severity == severity for problem in self.problems):
                return severity
        return "ok"

    def as_json(self) -> dict[str, object]:
        """All of it."""
        return {
            "part": self.part,
            "severity": self.severity,
            "summary": self.summary,
            "problems": [problem.as_json() for problem in self.problems],
        }


@dataclass(slots=True)
class Report:
    """A whole examination."""

    examined: list[Examined] = field(default_factory=list)

    @property
    def problems(self) -> Sequence[Problem]:
        """All problems, in order."""
        return [problem for part in self.examined for problem in part.problems]

    @property
    def well(self) -> bool:
        """Whether nothing is an error."""
        return not any(problem.severity == "error" for problem in self.problems)

    @property
    def clean(self) -> bool:
        """Whether nothing was found that anybody should do something about."""
        return not any(problem.severity in ("error", "warning") for problem in self.problems)

    @property
    def repairable(self) -> Sequence[Problem]:
        """What a repair would do something about."""
        return [problem for problem in self.problems if problem.repair]

    def has(self, *names: str) -> bool:
        """Whether a problem of one of these names was found."""
        return any(problem.name in names for problem in self.problems)


def listed(numbers: Sequence[int]) -> str:
    """The first of some ids in words."""
    named = ", ".join(map(str, numbers[:SHOWN_IDS]))
    more = len(numbers) - SHOWN_IDS
    return f"{named} and {more:,} more" if more > 0 else named
