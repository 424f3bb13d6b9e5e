"""Places in project folders, for agents that keep their store in the repository."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from cloxy_hookspecs.ports.logs import LogReader, Parts

_DEEPEST = 64


class Repositories:
    """Which project folders have a store.

    Up to a thousand folders are known, and few have one. So which they are is looked at with each
    look at the whole source, on its worker, and remembered in between: roots are asked often.
    """

    def __init__(self, reader: LogReader, place: Parts) -> None:
        """Know of none yet.

        Args:
            reader: knows the project folders.
            place: path of the store below a project folder.
        """
        self._reader = reader
        self._place = place
        self._found: Sequence[Path] = ()

    def look(self) -> None:
        """Look again, in the folders of projects that are known now. Blocks."""
        places = (each.joinpath(*self._place) for each in projects_of(self._reader.known_folders()))
        self._found = tuple(dict.fromkeys(place for place in places if is_there(place)))

    def __call__(self) -> Sequence[Path]:
        """The stores that were there, those of the newest projects first."""
        return self._found


def projects_of(folders: Iterable[Path]) -> Sequence[Path]:
    """The folders, each once, and above each the root of its git repository. Blocks."""
    found: dict[Path, None] = {}
    looked: dict[Path, Path | None] = {}
    for folder in folders:
        start = Path(os.path.abspath(folder))  # noqa: PTH100  # no links resolved
        found[start] = None
        root = _root_of(start, looked)
        if root is not None:
            found[root] = None
    return tuple(found)


def is_there(place: Path) -> bool:
    """Whether something of that name exists; what cannot be looked at counts as absent."""
    try:
        os.lstat(place)
    except (OSError, ValueError):
        return False
    return True


def _root_of(folder: Path, looked: dict[Path, Path | None]) -> Path | None:
    passed: list[Path] = []
    root: Path | None = None
    for place in (folder, *folder.parents)[:_DEEPEST]:
        if place in looked:
            root = looked[place]
            break
        passed.append(place)
        if is_there(place / ".git"):
            root = place
            break
    looked.update(dict.fromkeys(passed, root))
    return root
