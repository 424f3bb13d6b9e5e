"""The list of sessions beside their files: it alone says when one was begun."""

from pathlib import Path

from cloxy_hookspecs import LogReader
from cloxy_hookspecs.logs.json_values import Record, decode, id_of, is_record, list_of
from cloxy_plugins.continue_dev.places import LIST

_MOST = 64 << 20


class Listing:
    """Entries of the list, by id of their session."""

    def __init__(self, reader: LogReader) -> None:
        """Nothing is read.

        Args:
            reader: reads the list.
        """
        self._reader = reader
        self._last: tuple[bytes, dict[str, Record]] = (b"", {})

    def entry(self, root: Path, key: str) -> Record:
        """What the list says of a session; empty when it says nothing, or is being written.

        Args:
            root: the folder with the list.
            key: the session's id.
        """
        try:
            data = self._reader.content(root, root / LIST, _MOST)
        except OSError:
            return {}
        known, entries = self._last
        if data != known:
            entries = _entries(data)
            self._last = (data, entries)
        return entries.get(key, {})


def _entries(data: bytes) -> dict[str, Record]:
    try:
        listed = list_of(decode(data))
    except ValueError:
        return {}
    found = ((id_of(each, "sessionId"), each) for each in listed if is_record(each))
    return {key: each for key, each in found if key is not None}
