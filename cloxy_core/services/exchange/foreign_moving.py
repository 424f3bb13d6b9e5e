"""Reading what another memory system keeps: recognised, or refused with what is known.

Runs in a process of its own, since nobody vouches for what it reads: see `foreign`.
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, Final

from cloxy_core.services.exchange.foreign_documents import DocumentReader
from cloxy_core.services.exchange.foreign_limits import LIMITS, ForeignLimits, ForeignTrouble
from cloxy_core.services.exchange.foreign_lines import MemoryLines
from cloxy_core.services.exchange.foreign_memories import (
    DatabaseSystem,
    FolderSystem,
    Told,
)
from cloxy_core.services.exchange.foreign_reading import Report
from cloxy_core.services.exchange.foreign_systems import DATABASES, FOLDERS
from cloxy_core.services.exchange.foreign_tables import is_cut, opened_tables

DATABASE: Final = "database"
FOLDER: Final = "folder"
DOCUMENT: Final = "document"
_HEAD: Final = b"SQLite format 3\0"
_MOST_NAMED: Final = 5
_MOST_HOMELESS: Final = 100
_WORDS: Final = 300
_DIFFERS_HINT: Final = "bring that system to a version which has them, or export it some other way"


class MemoryReader:
    """Reads one database, folder or JSON document.

    Attributes:
        report: what was found.
    """

    def __init__(
        self,
        wanted: Mapping[str, str],
        databases: Sequence[DatabaseSystem] = DATABASES,
        folders: Sequence[FolderSystem] = FOLDERS,
        limits: ForeignLimits = LIMITS,
    ) -> None:
        """Prepare.

        Args:
            wanted: `sort` (database, folder or document); of the first two `path`, and of a
                database `temporary`, a folder for copies.
            databases: systems that keep a database.
            folders: systems that keep a folder.
            limits: on a document.
        """
        self.report = Report()
        self._wanted = wanted
        self._databases = databases
        self._folders = folders
        self._limits = limits
        self._told = Told()

    def lines(self, file: BinaryIO) -> Iterator[bytes]:
        """Lines of an export of Cloxy; the last one only when all could be read.

        Args:
            file: the document, if it is one.

        Raises:
            ForeignTrouble: it cannot be read, or not to its end.
        """
        try:
            if self._wanted["sort"] == FOLDER:
                yield from self._folder(Path(self._wanted["path"]))
            elif self._wanted["sort"] == DOCUMENT:
                yield from self._document(file)
            else:
                yield from self._database()
        finally:
            self.report.homeless = dict(self._told.homeless.most_common(_MOST_HOMELESS))
            self.report.bad = self._told.bad_count
            self.report.told = [(0, words[:_WORDS]) for words in self._told.bad]

    def _database(self) -> Iterator[bytes]:
        path, temporary = Path(self._wanted["path"]), Path(self._wanted["temporary"])
        with opened_tables(path, temporary) as database:
            system = next((each for each in self._databases if each.knows(database)), None)
            if system is None:
                raise ForeignTrouble(
                    "it is a database of no memory system that is known",
                    f"databases of these are: {_names(self._databases)}",
                )
            differing = system.differs(database)
            if differing is not None:
                raise ForeignTrouble(
                    f"it looks like a database of {system.name}, but {differing}", _DIFFERS_HINT
                )
            lines = self._begun(system.name)
            yield lines.first()
            if is_cut(path):
                self._told.pass_over("the file is cut: it is shorter than it says itself")
            for item in system.items(database, self._told):
                yield from lines.of(item)
        # Only now it is known whether it changed while it was read.
        yield lines.last()

    def _folder(self, folder: Path) -> Iterator[bytes]:
        system = next((each for each in self._folders if each.knows(folder)), None)
        if system is None:
            raise ForeignTrouble(
                "it is a folder of no memory system that is known", self._hint(folder)
            )
        lines = self._begun(system.name)
        yield lines.first()
        for item in system.items(folder, self._told):
            yield from lines.of(item)
        yield lines.last()

    def _document(self, file: BinaryIO) -> Iterator[bytes]:
        reader = DocumentReader(file, self._told, self._limits)
        document = reader.recognised()
        lines = self._begun(document.system.name)
        items = reader.items(document)
        item = next(items, None)
        # Whether it can be taken at all is known by now.
        yield lines.first()
        while item is not None:
            yield from lines.of(item)
            item = next(items, None)
        yield lines.last()

    def _begun(self, name: str) -> MemoryLines:
        self.report.agent = name
        return MemoryLines(name, self.report, self._told)

    def _hint(self, folder: Path) -> str:
        """What may be given instead: the databases that lie in the folder."""
        found = sorted(_databases_in(folder))
        if found:
            more = ", …" if len(found) > _MOST_NAMED else ""
            return f"give a database in it: {', '.join(found[:_MOST_NAMED])}{more}"
        known = _names(self._folders)
        return f"folders of these are: {known}" if known else "give the file of a database"


def _names(systems: Sequence[DatabaseSystem] | Sequence[FolderSystem]) -> str:
    return ", ".join(dict.fromkeys(each.name for each in systems))


def _databases_in(folder: Path) -> Iterator[str]:
    try:
        entries = list(folder.iterdir())
    except OSError:
        return
    for entry in entries:
        with contextlib.suppress(OSError):
            if entry.is_file() and not entry.is_symlink():
                with entry.open("rb") as file:
                    if file.read(len(_HEAD)) == _HEAD:
                        yield entry.name
