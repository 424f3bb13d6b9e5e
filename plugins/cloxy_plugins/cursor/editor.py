"""The conversations of the editor as a source: one item for each."""

import errno
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from cloxy_hookspecs import (
    ForeignDatabaseError,
    HostContext,
    LogReader,
    RawLine,
    Source,
    SourceFailure,
    SourceItem,
)
from cloxy_hookspecs.logs.json_values import Record
from cloxy_hookspecs.logs.turns import raw_lines
from cloxy_plugins.cursor import statements
from cloxy_plugins.cursor.composers import (
    TABLE,
    Listing,
    Told,
    identifier_of,
    list_composers,
    message_records,
    read_composer,
    session_record,
)
from cloxy_plugins.cursor.finding import Transcripts
from cloxy_plugins.cursor.places import folder_of_identifier
from cloxy_plugins.cursor.roots import agent_folders, user_folders
from cloxy_plugins.cursor.workspaces import DATABASE, STORAGE, Workspaces

_GLOBAL = "globalStorage"
_NANOSECONDS = 1_000_000


def create_editor(context: HostContext) -> Source:
    """Make the source."""
    reader = context.service(LogReader)
    agents = agent_folders(os.environ, Path.home())
    return editor_of_user(reader, Transcripts(reader, agents))


def editor_of_user(reader: LogReader, transcripts: Transcripts) -> "Editor":
    """The editor's conversations in the places of this system."""
    return Editor(reader, user_folders(os.environ, Path.home(), sys.platform), transcripts)


class Editor:
    """Lists conversations when a database changed, and reads one at a time.

    A conversation of which there is a transcript with text is left to the source of transcripts,
    which gives its messages the ids that they have here.
    """

    def __init__(
        self, reader: LogReader, folders: Iterable[Path], transcripts: Transcripts
    ) -> None:
        """Nothing is read.

        Args:
            reader: opens databases.
            folders: `User` folders.
            transcripts: tells which conversations have a transcript with text.
        """
        self._reader = reader
        self._folders = tuple(folders)
        self._transcripts = transcripts
        self._workspaces = Workspaces(reader, self._folders)
        self._listings: dict[Path, tuple[tuple[int, int], Listing]] = {}

    def roots(self) -> Sequence[Path]:
        """Folders that are watched, whether they exist or not."""
        return tuple(folder / inner for folder in self._folders for inner in (_GLOBAL, STORAGE))

    def discover(
        self, failures: list[SourceFailure], under: Path | None = None
    ) -> Iterator[SourceItem]:
        """Find conversations; one that several databases have is read from the newest."""
        spoken = self._transcripts.spoken()
        found: dict[str, SourceItem] = {}
        for item in (*self._composers(failures, under), *self._panes(failures, under)):
            other = found.get(item.identity)
            if other is None or item.mtime_ns > other.mtime_ns:
                found[item.identity] = item
        for item in found.values():
            if item.uri.rpartition("#")[2] not in spoken:
                yield item

    def read(self, item: SourceItem, offset: int) -> Iterator[RawLine]:
        """Records of a conversation: its facts, then its messages in order.

        Raises:
            OSError: it is gone.
            ForeignDatabaseError: the database cannot be read.
        """
        store, _mark, key = item.uri.rpartition("#")
        path = Path(store)
        if path.parent.parent.name == STORAGE:
            yield from raw_lines(self._pane_records(path, key), offset)
        else:
            yield from raw_lines(self._composer_records(path, key), offset)

    def excerpt(self, item: SourceItem, start: int, end: int) -> bytes:
        """Not asked of things that are rewritten."""
        del item, start, end
        return b""

    def _composers(self, failures: list[SourceFailure], under: Path | None) -> Iterator[SourceItem]:
        for folder in self._folders:
            path = folder / _GLOBAL / DATABASE
            if under is not None and not _is_near(path, under):
                continue
            try:
                listing = self._listing(path)
            except ForeignDatabaseError as error:
                failures.append(SourceFailure(str(path), str(error)))
                continue
            if listing.stray:
                reason = f"{listing.stray} messages of no conversation are passed over"
                failures.append(SourceFailure(str(path), reason, deliberate=True))
            for composer in listing.composers:
                yield SourceItem(
                    f"{path}#{composer.key}",
                    f"cursor:{composer.key}",
                    composer.version,
                    composer.updated * _NANOSECONDS,
                )

    def _panes(self, failures: list[SourceFailure], under: Path | None) -> Iterator[SourceItem]:
        for path, seen in self._workspaces.look(failures, under).items():
            if seen.damaged:
                failures.append(SourceFailure(str(path), "its chats are damaged"))
            for pane in seen.panes:
                yield SourceItem(
                    f"{path}#{pane.key}",
                    f"cursor-pane:{pane.key}",
                    pane.version,
                    pane.updated * _NANOSECONDS,
                )

    def _listing(self, path: Path) -> Listing:
        signature = self._reader.signature(path)
        if signature == (0, 0):
            self._listings.pop(path, None)
            return Listing()
        known = self._listings.get(path)
        if known is None or known[0] != signature:
            with self._reader.database(path) as database:
                known = (signature, list_composers(database))
            self._listings[path] = known
        return known[1]

    def records_of(self, key: str) -> Sequence[Record]:
        """Records of a conversation by its id, from the first database that has it.

        Raises:
            ForeignDatabaseError: a database cannot be read.
        """
        for folder in self._folders:
            path = folder / _GLOBAL / DATABASE
            if self._reader.signature(path) == (0, 0):
                continue
            if (told := self._told(path, key)) is not None:
                return list(self._records(path, key, told))
        return ()

    def _composer_records(self, path: Path, key: str) -> Iterator[Record]:
        told = self._told(path, key)
        if told is None:
            raise OSError(errno.ENOENT, "the conversation is gone", f"{path}#{key}")
        yield from self._records(path, key, told)

    def _told(self, path: Path, key: str) -> Told | None:
        with self._reader.database(path) as database:
            return read_composer(database, key) if TABLE in database.tables() else None

    def _records(self, path: Path, key: str, told: Told) -> Iterator[Record]:
        # Which conversation started it does not change, so that an older list will do.
        known = self._listings.get(path)
        listing = known[1] if known is not None else self._listing(path)
        yield from told.problems
        session, parent = listing.session_of(key)
        cwd, name = self._place(listing, key, told)
        messages = list(
            message_records(
                told.messages, session, cwd, told.created, told.model, subagent=parent is not None
            )
        )
        if messages:
            yield session_record(session, cwd, told.name or name, parent)
            yield from messages

    def _place(self, listing: Listing, key: str, told: Told) -> tuple[str | None, object]:
        """The folder of a conversation, and a name from a list of conversations."""
        identifier, workspace, name = listing.headers.get(key, (None, None, None))
        ids: list[object] = [workspace]
        for value in (told.identifier, identifier):
            parts = identifier_of(value)
            if (found := folder_of_identifier(parts)) is not None:
                return found, name
            ids.append(parts.get("id"))
            if "configPath" in parts:
                # A workspace of several folders.
                return None, name
        for each in ids:
            if isinstance(each, str) and (found := self._workspaces.folder_with_id(each)):
                return found, name
        found, listed = self._workspaces.place_of(key)
        return found, name or listed

    def _pane_records(self, path: Path, key: str) -> Iterator[Record]:
        with self._reader.database(path) as database:
            rows = list(database.rows(statements.PANE, (key,)))
            panes = [row for row in database.rows(statements.PANES) if row[0] == key]
        if not panes:
            raise OSError(errno.ENOENT, "the conversation is gone", f"{path}#{key}")
        _key, sent, _count, _length, title = panes[0]
        cwd = self._workspaces.folder_at(path.parent)
        messages = list(message_records(rows, key, cwd, sent, None))
        if messages:
            yield session_record(key, cwd, title)
            yield from messages


def _is_near(path: Path, under: Path) -> bool:
    return path.is_relative_to(under) or under.is_relative_to(path)
