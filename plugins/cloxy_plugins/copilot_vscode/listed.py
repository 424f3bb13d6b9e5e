"""Titles of sessions from the list of them that VS Code keeps in its database of settings."""

from collections.abc import Mapping
from pathlib import Path

from cloxy_hookspecs import ForeignDatabaseError, LogReader
from cloxy_hookspecs.logs.json_values import decode, record_of

_DATABASE = "state.vscdb"
# The database holds secrets of extensions, too: this one key is all that is asked for.
_STATEMENT = (
    "SELECT value FROM ItemTable WHERE key = 'chat.ChatSessionStore.index'"
    " AND length(value) < 16000000"
)
_STORES = 256


class ListedTitles:
    """Reads a list anew whenever its database changed."""

    def __init__(self, reader: LogReader) -> None:
        """Nothing is read."""
        self._reader = reader
        self._known: dict[Path, tuple[tuple[int, int], Mapping[str, str]]] = {}

    def title_of(self, folder: Path, session: str) -> str | None:
        """The title that a session has in the list of a folder; None when it is not to be had."""
        path = folder / _DATABASE
        signature = self._reader.signature(path)
        if signature == (0, 0):
            return None
        known = self._known.get(path)
        if known is None or known[0] != signature:
            known = (signature, self._read(path))
            self._known[path] = known
            if len(self._known) > _STORES:
                del self._known[next(iter(self._known))]
        return known[1].get(session)

    def _read(self, path: Path) -> Mapping[str, str]:
        found: dict[str, str] = {}
        try:
            with self._reader.database(path) as database:
                values = [value for (value,) in database.rows(_STATEMENT)]
        except (ForeignDatabaseError, OSError):
            # Without the list sessions are called by their first words.
            return found
        for value in values:
            data = value.encode("utf-8", "replace") if isinstance(value, str) else value
            try:
                index = record_of(decode(data)) if isinstance(data, bytes) else {}
            except ValueError:
                continue
            for session, entry in record_of(index.get("entries")).items():
                title = record_of(entry).get("title")
                if isinstance(title, str) and title.strip() and title.strip() != "New Chat":
                    found[session] = title
        return found
