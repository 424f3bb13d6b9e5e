"""Names of threads, from the list of them that Codex keeps beside the rollouts."""

from collections.abc import Mapping
from pathlib import Path

from cloxy_hookspecs import LogReader
from cloxy_hookspecs.logs.json_lines import decode_line
from cloxy_hookspecs.logs.json_values import id_of
from cloxy_plugins.codex.names import home_of_file

_LIST = "session_index.jsonl"
_MOST = 16 << 20
_Signature = tuple[int, int, int]


class ThreadNames:
    """Reads the list anew whenever it changed."""

    def __init__(self, reader: LogReader) -> None:
        """Nothing is read.

        Args:
            reader: opens the list as logs are opened.
        """
        self._reader = reader
        self._known: dict[Path, tuple[_Signature, Mapping[str, str]]] = {}

    def name_of(self, uri: str, thread: str) -> str | None:
        """The name of a thread, if it has one; of several the last.

        Args:
            uri: path of its rollout.
            thread: its id.
        """
        home = home_of_file(uri)
        return None if home is None else self._names(home).get(thread)

    def _names(self, home: Path) -> Mapping[str, str]:
        path = home / _LIST
        try:
            now = path.lstat()
            signature = (now.st_ino, now.st_size, now.st_mtime_ns)
            known = self._known.get(home)
            if known is not None and known[0] == signature:
                return known[1]
            data = self._reader.content(home, path, _MOST)
        except OSError:
            # Without a list, or with one that is no plain file, threads are called by their words.
            return {}
        names: dict[str, str] = {}
        for line in data.split(b"\n"):
            record = decode_line(line) or {}
            thread, name = id_of(record, "id"), record.get("thread_name")
            if thread is not None and isinstance(name, str):
                names[thread] = name
        self._known[home] = (signature, names)
        return names
