"""Sessions of Goose as sources: those of its database, and those that are only in files."""

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from cloxy_hookspecs import ForeignDatabaseError, HostContext, LogReader, SourceItem
from cloxy_hookspecs.logs.databases import Databases
from cloxy_hookspecs.logs.documents import DocumentKind, Documents
from cloxy_plugins.goose.files import records_of
from cloxy_plugins.goose.places import DATABASE, databases_in, files_in, session_folders
from cloxy_plugins.goose.tables import Sessions, filled_sessions

_AGENT = "goose"


def create_database(context: HostContext) -> Databases:
    """Make the source of the database."""
    reader = context.service(LogReader)
    return Databases(reader, _AGENT, _folders, Sessions(databases_in, context.clock.now_ms))


def create_files(context: HostContext) -> Documents:
    """Make the source of the files."""
    reader = context.service(LogReader)
    kind = DocumentKind(tree=files_in, records=records_of, chosen=Unimported(reader).of)
    return Documents(reader, _folders, kind)


class Unimported:
    """Leaves out the files that Goose has taken into a database; it leaves them where they are."""

    def __init__(self, reader: LogReader) -> None:
        """Nothing is read.

        Args:
            reader: opens databases.
        """
        self._reader = reader
        self._known: dict[Path, tuple[tuple[int, int], frozenset[str]]] = {}

    def of(self, items: Sequence[SourceItem]) -> Iterable[SourceItem]:
        """Files whose session no database has."""
        usual = _folders()
        for item in items:
            path = Path(item.uri)
            # A file that lies in an old place was taken into the database of the new one.
            places = usual if path.parent in usual else [path.parent]
            if not any(path.stem in self._sessions(place / DATABASE) for place in places):
                yield item

    def _sessions(self, path: Path) -> frozenset[str]:
        """Sessions of a database in which something was said; as known while it cannot be read.

        Their source tells what is wrong with it, and what is read from a file meanwhile has the
        same ids.
        """
        signature = self._reader.signature(path)
        known = self._known.get(path)
        if known is not None and known[0] == signature:
            return known[1]
        if signature == (0, 0):
            return frozenset()
        try:
            with self._reader.database(path) as database:
                found = filled_sessions(database)
        except ForeignDatabaseError:
            return frozenset() if known is None else known[1]
        self._known[path] = (signature, found)
        return found


def _folders() -> Sequence[Path]:
    return session_folders(os.environ, Path.home(), sys.platform)
