"""Which project a working directory belongs to."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class KnownProject:
    """A project of the store.

    Attributes:
        id: `projects.id`.
        path: the path that people see.
        ignored: whether its owner wants nothing of it to be remembered.
    """

    id: int
    path: str
    ignored: bool = False


class ProjectFinder(Protocol):
    """Finds the project of a working directory among those that there are memories of."""

    async def find(self, cwd: str) -> KnownProject | None:
        """The project of a folder: itself, its repository for a worktree, or the folder around it.

        A home directory or the root of a file system is only found by its own path, never as the
        folder around another one.

        Args:
            cwd: the folder; it need not exist.
        """
        ...
