"""Sessions of OpenCode as a source: one item for each, from whichever store has it.

A session that is in a database is read from there. Its files are still on the disk, and older; a
session that is only in files is read from them. An item's identity is the session's id, so that it
stays the same thing when it moves into the database.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from cloxy_hookspecs import (
    ForeignDatabaseError,
    HostContext,
    LogReader,
    RawLine,
    SourceFailure,
    SourceItem,
)
from cloxy_plugins.opencode.listing import sessions_in
from cloxy_plugins.opencode.records import lines_of
from cloxy_plugins.opencode.roots import (
    STORAGE,
    data_folder,
    database_trees,
    named_database,
)
from cloxy_plugins.opencode.tables import talk_in
from cloxy_plugins.opencode.tree import Tree
from cloxy_plugins.opencode.values import usable_id
from cloxy_plugins.opencode.versions import Version

_Signature = tuple[int, int]
_Versions = Mapping[str, Version]


def create_source(context: HostContext) -> "OpenCodeSource":
    """Make the source."""
    folder = data_folder(os.environ, Path.home())
    named = named_database(os.environ, folder)
    return OpenCodeSource(context.service(LogReader), folder, named)


class OpenCodeSource:
    """Implements `Source` for things that are rewritten in place."""

    def __init__(self, reader: LogReader, folder: Path, named: Path | None = None) -> None:
        """Nothing is read.

        Args:
            reader: opens databases and files of other programs.
            folder: the folder of OpenCode.
            named: a database that is read besides those in the folder, and before them.
        """
        self._reader = reader
        self._folder = folder
        self._named = named
        self._tree = Tree(reader, folder / STORAGE)
        self._known: dict[Path, tuple[_Signature, _Versions]] = {}

    def roots(self) -> Sequence[Path]:
        """The folder; a database elsewhere is a place of its own, what lies around it is not."""
        outside = self._named is not None and not self._named.is_relative_to(self._folder)
        return [self._folder, self._named] if outside and self._named else [self._folder]

    def discover(
        self, failures: list[SourceFailure], under: Path | None = None
    ) -> Iterator[SourceItem]:
        """As `Source.discover`; a session that several stores have comes from the first."""
        in_tree = under is None or _touches(under, self._tree.root)
        if under is not None and not in_tree and not self._may_be_database(under):
            return
        seen: set[str] = set()
        for path in self._databases(failures):
            for key, version in self._versions(path, failures).items():
                if key in seen:
                    continue
                seen.add(key)
                if under is None or path.is_relative_to(under):
                    yield _item(f"{path}#{key}", key, version)
        if in_tree:
            yield from self._from_tree(failures, under, seen)

    def read(self, item: SourceItem, offset: int) -> Iterator[RawLine]:
        """As `Source.read`.

        Raises:
            OSError: a file cannot be read.
            ForeignDatabaseError: a database cannot be read.
        """
        store, _mark, key = item.uri.rpartition("#")
        if store and usable_id(key) is not None:
            with self._reader.database(Path(store)) as database:
                talk = talk_in(database, key)
        else:
            talk = self._tree.talk(Path(item.uri))
        for line in lines_of(talk) if talk is not None else ():
            if line.start >= offset:
                yield line

    def excerpt(self, item: SourceItem, start: int, end: int) -> bytes:
        """Never asked; records are not bytes of a file."""
        del item, start, end
        return b""

    def _may_be_database(self, under: Path) -> bool:
        named = self._named is not None and _touches(under, self._named)
        return named or under.parent == self._folder

    def _databases(self, failures: list[SourceFailure]) -> Iterable[Path]:
        """Databases that are there: the named one, the usual one, those of other channels."""
        found: dict[Path, None] = {}
        for tree in database_trees(self._folder, self._named):
            paths = [Path(item.uri) for item in self._reader.files([tree], failures)]
            found.update(dict.fromkeys(sorted(paths, key=lambda path: (len(path.name), path))))
        return found

    def _versions(self, path: Path, failures: list[SourceFailure]) -> _Versions:
        """Sessions of a database; as they were at the last look when it cannot be read."""
        signature = self._reader.signature(path)
        known = self._known.get(path)
        if known is not None and known[0] == signature:
            return known[1]
        try:
            with self._reader.database(path) as database:
                versions = sessions_in(database)
        except ForeignDatabaseError as error:
            failures.append(SourceFailure(str(path), str(error)))
            return {} if known is None else known[1]
        self._known[path] = (signature, versions)
        return versions

    def _from_tree(
        self, failures: list[SourceFailure], under: Path | None, seen: set[str]
    ) -> Iterator[SourceItem]:
        inside = under if under is not None and under.is_relative_to(self._tree.root) else None
        for key, filed in self._tree.sessions(failures, inside).items():
            if key not in seen:
                yield _item(str(filed.path), key, filed.version)


def _item(uri: str, key: str, version: Version) -> SourceItem:
    return SourceItem(uri, f"opencode:{key}", version.count, version.mtime_ns)


def _touches(one: Path, other: Path) -> bool:
    return one.is_relative_to(other) or other.is_relative_to(one)
