"""The folders in which people worked, found from the names that the Gemini CLI gives them."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from cloxy_hookspecs import LogReader
from cloxy_hookspecs.logs.json_lines import decode_line
from cloxy_plugins.gemini_cli.roots import PROJECTS, is_hash

_MARK = ".project_root"
_MOST = 4 << 20
_LIMIT = 4096
_FOLDERS = 2_000


class Projects:
    """Tells where the sessions of a project's folder were held."""

    def __init__(self, reader: LogReader) -> None:
        """Nothing is read.

        Args:
            reader: opens files, and knows folders from other sources.
        """
        self._reader = reader
        self._digests: dict[str, str] = {}

    def root_of(self, project: Path, digest: object, directories: object) -> str | None:
        """The working directory of a session; None when nothing tells it.

        Args:
            project: folder of the project.
            digest: SHA-256 of the working directory, as the session has it.
            directories: directories that the session lists.
        """
        own = self._mark(project)
        if own is not None:
            return own
        named = self._named(project.parent.parent)
        for path, name in named.items():
            if name == project.name:
                return path
        wanted = project.name if is_hash(project.name) else digest
        if isinstance(wanted, str):
            for path in self._candidates(project.parent, named):
                if self._digest(path) == wanted:
                    return path
        listed: Sequence[object] = directories if isinstance(directories, list) else ()
        return next((each for each in listed if isinstance(each, str) and _usable(each)), None)

    def _candidates(self, tmp: Path, named: Mapping[str, str]) -> Iterator[str]:
        yield from named
        yield from map(str, self._reader.known_folders())
        for name in _names(tmp):
            if not is_hash(name):
                mark = self._mark(tmp / name)
                if mark is not None:
                    yield mark

    def _digest(self, path: str) -> str:
        known = self._digests.get(path)
        if known is None:
            if len(self._digests) >= _FOLDERS:
                self._digests.clear()
            known = hashlib.sha256(path.encode("utf-8", "surrogatepass")).hexdigest()
            self._digests[path] = known
        return known

    def _mark(self, project: Path) -> str | None:
        path = self._content(project / _MARK).decode("utf-8", "replace").strip()
        return path if _usable(path) else None

    def _named(self, folder: Path) -> Mapping[str, str]:
        """Names of folders by the working directories that they are of."""
        listed = (decode_line(self._content(folder / PROJECTS)) or {}).get("projects")
        return {
            path: name
            for path, name in (listed.items() if isinstance(listed, Mapping) else ())
            if isinstance(name, str) and _usable(path)
        }

    def _content(self, path: Path) -> bytes:
        try:
            return self._reader.content(path.parent, path, _MOST)
        except OSError:
            # Without such a file, or with one that is no plain file, other things may tell.
            return b""


def _names(folder: Path) -> list[str]:
    try:
        return sorted(each.name for each in folder.iterdir())[:_FOLDERS]
    except OSError:
        return []


def _usable(path: str) -> bool:
    absolute = path.startswith(("/", "\\\\")) or path[1:3] in (":\\", ":/")
    return absolute and len(path) <= _LIMIT and path.isprintable()
