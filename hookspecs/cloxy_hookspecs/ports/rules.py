"""Rules of projects: what is never remembered, and what is not kept for ever."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class ProjectRule:
    """What holds for a project and all below it.

    Attributes:
        project: its path.
        ignored: whether nothing said there is remembered.
        keep_days: days after which what was said there is removed; None for never.
    """

    project: str
    ignored: bool
    keep_days: int | None


@dataclass(frozen=True, slots=True)
class Expired:
    """What is older than a rule keeps it.

    Attributes:
        project: the project's path.
        messages: how many messages.
    """

    project: str
    messages: int


class ProjectRules(Protocol):
    """Sets and applies the rules. A project is named by its path, or by its last folder.

    Every method raises `InputError` when a name is empty or fits several projects (the words name
    them), and `NotFoundError` when it fits none.
    """

    async def rules(self) -> Sequence[ProjectRule]:
        """All rules, by path."""
        ...

    async def ignore(self, project: str) -> ProjectRule:
        """Remember nothing more of a project; what is stored stays."""
        ...

    async def stop_ignoring(self, project: str) -> ProjectRule:
        """Remember a project again; logs that are still there are read at the next pass."""
        ...

    async def keep_for(self, project: str, days: int | None) -> ProjectRule:
        """Remove what was said in a project after so many days; None keeps it for ever."""
        ...

    async def expire(self, *, dry_run: bool = False) -> Sequence[Expired]:
        """Remove what is older than the rules keep it, or only count it."""
        ...
