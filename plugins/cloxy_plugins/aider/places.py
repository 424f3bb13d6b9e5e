"""Where histories lie: in projects that are known, and where a variable or Aider's settings say.

Aider keeps no list of projects. A project is known when an agent was used in it.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cloxy_hookspecs import Parts
from cloxy_hookspecs.logs.folders import named_folder
from cloxy_hookspecs.logs.repositories import projects_of

CHAT = ".aider.chat.history.md"
INPUT = ".aider.input.history"
CHAT_VARIABLE = "AIDER_CHAT_HISTORY_FILE"
INPUT_VARIABLE = "AIDER_INPUT_HISTORY_FILE"

_NEVER = frozenset({".git", "node_modules", ".venv", "venv", "__pycache__"})


@dataclass(frozen=True, slots=True)
class Place:
    """A history.

    Attributes:
        path: the file.
        project: folder of the project; None when it cannot be told.
        named: whether a variable, or a file of the user's settings, names this very file.
    """

    path: Path
    project: Path | None
    named: bool = False


class Places:
    """Tells where histories may lie."""

    def __init__(
        self,
        environment: Mapping[str, str],
        home: Path,
        configured: Callable[[Sequence[Path]], Iterable[Place]] | None = None,
    ) -> None:
        """Look where these variables say.

        Args:
            environment: environment variables.
            home: the user's home folder.
            configured: tells the histories that settings name, given the folders of projects.
        """
        self._configured = configured
        self._chat = _Named(environment, CHAT_VARIABLE, home)
        self._input = _Named(environment, INPUT_VARIABLE, home)

    def histories(self, folders: Iterable[Path]) -> Sequence[Place]:
        """Histories that may be there, each once.

        Args:
            folders: in which agents were used.
        """
        projects = projects_of(folders)
        found: dict[Path, Place] = {}
        if self._chat.path is not None:
            project = around(self._chat.path, projects)
            found[self._chat.path] = Place(self._chat.path, project, named=True)
        names = [CHAT] if self._chat.inside is None else [CHAT, self._chat.inside]
        for project in projects:
            for name in names:
                path = project / name
                found.setdefault(path, Place(path, project))
        if self._configured is not None:
            for place in self._configured(projects):
                found.setdefault(place.path, place)
        return tuple(found.values())

    def inputs(self, place: Place) -> Path:
        """The history of what was typed that belongs to a history."""
        if self._input.path is not None:
            return self._input.path
        folder = place.project or place.path.parent
        return folder / (self._input.inside or INPUT)


class _Named:
    """The file that a variable names: anywhere, or inside of each project."""

    def __init__(self, environment: Mapping[str, str], variable: str, home: Path) -> None:
        named = named_folder(environment, variable, home)
        self.path = None if named is None else Path(os.path.abspath(named))  # noqa: PTH100
        value = environment.get(variable, "").strip()
        self.inside = None if named is not None else inside(value)


def is_history(parts: Parts) -> bool:
    """Whether a file below a folder is a history, by its name."""
    return parts[-1] == CHAT


def may_hold_histories(parts: Parts) -> bool:
    """Whether a folder may be the folder of a project, or have one below it."""
    return parts[-1] not in _NEVER


def around(path: Path, projects: Iterable[Path]) -> Path | None:
    """The innermost project in which a file lies."""
    if path.name == CHAT:
        return path.parent
    holding = [project for project in projects if path.is_relative_to(project)]
    return max(holding, key=lambda project: len(project.parts), default=None)


def inside(value: str) -> str | None:
    """A path below a project; None for what is none, or leads out of it."""
    path = Path(value)
    usable = value and "\0" not in value and not path.is_absolute() and ".." not in path.parts
    return value if usable and path.parts else None
