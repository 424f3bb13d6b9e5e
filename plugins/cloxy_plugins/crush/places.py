"""Where Crush keeps its databases: a folder in each project, as its own list of projects tells.

The list is `projects.json` in Crush's data folder: entries `{path, data_dir, last_accessed}`. Crush
has it since the end of 2025; databases of older versions are looked for in the folders that are
known from the sessions of other agents.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from cloxy_hookspecs import LogReader, LogTree, Parts, SourceFailure
from cloxy_hookspecs.logs.folders import absolute, named_folder
from cloxy_hookspecs.logs.json_values import decode, is_record, list_of, text_of

DATABASE = "crush.db"
FOLDER = ".crush"
LIST = "projects.json"

_APPLICATION = "crush"
_MOST = 4 << 20
_MOST_PROJECTS = 5_000
_CROWDED = frozenset({".git", "node_modules"})


def data_folder(environment: Mapping[str, str], home: Path, platform: str) -> Path:
    """The folder with Crush's list of projects, existing or not.

    Args:
        environment: environment variables; `CRUSH_GLOBAL_DATA` and `XDG_DATA_HOME` move it.
        home: the user's home folder.
        platform: as `sys.platform` has it.
    """
    if own := named_folder(environment, "CRUSH_GLOBAL_DATA", home):
        return own
    if data := named_folder(environment, "XDG_DATA_HOME", home):
        return data / _APPLICATION
    if platform == "win32":
        usual = home / "AppData" / "Local"
        return (named_folder(environment, "LOCALAPPDATA", home) or usual) / _APPLICATION
    return home / ".local" / "share" / _APPLICATION


class Projects:
    """Folders of projects in which Crush has a database."""

    def __init__(self, reader: LogReader, data: Path) -> None:
        """Nothing is read.

        Args:
            reader: reads the list, and knows folders of other agents' sessions.
            data: the folder with the list.
        """
        self._reader = reader
        self._data = Path(os.path.abspath(data))  # noqa: PTH100  # a root that is a link stays one
        self._listed: dict[Path, list[Path]] = {}
        self._found: Sequence[Path] | None = None

    def folders(self) -> Sequence[Path]:
        """Folders with a database as of the last look; the project used last is the first."""
        if self._found is None:
            self.look([])
        return self._found or ()

    def look(self, failures: list[SourceFailure]) -> None:
        """Look for databases anew.

        Args:
            failures: gets what could not be read of the list of projects.
        """
        listed: dict[Path, list[Path]] = {}
        for project, folder in self._list(failures):
            listed.setdefault(folder, []).append(project)
        self._listed = listed
        known = (folder / FOLDER for folder in self._reader.known_folders())
        self._found = [each for each in absolute([*listed, *known]) if _has_database(each)]

    def project_of(self, folder: Path) -> str | None:
        """The project whose database lies in a folder; None when several share it."""
        if self._found is None:
            self.look([])
        listed = self._listed.get(folder)
        if listed is not None:
            return str(listed[0]) if len(listed) == 1 else None
        return str(folder.parent) if folder.name == FOLDER else None

    def _list(self, failures: list[SourceFailure]) -> Iterator[tuple[Path, Path]]:
        """Projects of the list, each with the folder of its database."""
        path = self._data / LIST
        try:
            value = decode(self._reader.content(self._data, path, _MOST))
        except (FileNotFoundError, NotADirectoryError):
            return
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else None
            failures.append(
                SourceFailure(str(path), f"the list of projects: {reason or 'is no JSON'}")
            )
            return
        seen: set[Path] = set()
        for entry in list(_entries(value))[:_MOST_PROJECTS]:
            project = _path(text_of(entry, "path"))
            if project is None or project in seen or not project.is_absolute():
                continue
            seen.add(project)
            named = _path(text_of(entry, "data_dir"))
            yield project, _plain(project / (named or FOLDER))


def databases_in(folder: Path) -> LogTree:
    """A folder of Crush in a project: the database lies in it."""
    return LogTree(folder, lambda parts: parts == (DATABASE,), lambda _parts: False)


def databases_below(folder: Path) -> LogTree:
    """Any folder: a database in it, and those of the projects below it."""
    if folder.name == FOLDER:
        return databases_in(folder)
    return LogTree(folder, _is_database, _may_hold)


def _is_database(parts: Parts) -> bool:
    return parts[-1] == DATABASE and (len(parts) == 1 or parts[-2] == FOLDER)


def _may_hold(parts: Parts) -> bool:
    return parts[-1] not in _CROWDED and FOLDER not in parts[:-1]


def _entries(value: object) -> Iterable[Mapping[str, object]]:
    """Entries of the list, which is an array, or an object with them by their ids."""
    if is_record(value):
        value = value.get("projects", value)
    entries = list(value.values()) if is_record(value) else list_of(value)
    return [entry for entry in entries if is_record(entry)]


def _path(text: str | None) -> Path | None:
    """A path of the list; none for a share of another machine, which to look at is to call it."""
    return Path(text) if text and not text.startswith(("\\\\", "//")) else None


def _plain(path: Path) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100


def _has_database(folder: Path) -> bool:
    try:
        return (folder / DATABASE).is_file()
    except (OSError, ValueError):
        return False
