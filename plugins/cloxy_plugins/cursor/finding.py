"""Where transcripts of agents lie, and which of them have text."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from cloxy_hookspecs import LogReader, LogTree, Parts, SourceFailure, SourceItem
from cloxy_hookspecs.logs.json_values import Record
from cloxy_plugins.cursor.lines import lines_of_json, lines_of_text

MOST = 128 << 20
"""Largest transcript that is read, in bytes: it is held in memory whole."""

PROJECTS = "projects"
_FOLDER = "agent-transcripts"
_CHILDREN = "subagents"
_FORMS = (".jsonl", ".txt")
_FLAT, _NESTED, _CHILD = 3, 4, 5


class Transcripts:
    """Finds transcripts, one for each conversation, and reads them."""

    def __init__(self, reader: LogReader, folders: Iterable[Path], most: int = MOST) -> None:
        """Nothing is read.

        Args:
            reader: finds and opens.
            folders: folders of the command line.
            most: largest transcript to read, in bytes.
        """
        self._reader = reader
        self._most = most
        self.trees: Sequence[LogTree] = [
            LogTree(folder / PROJECTS, _is_transcript, _may_hold) for folder in folders
        ]
        self._spoken: dict[str, tuple[int, int, bool]] = {}

    def find(
        self, failures: list[SourceFailure], under: Path | None = None
    ) -> Mapping[str, SourceItem]:
        """Transcripts by conversation: lines rather than plain text, and of several the newest."""
        found = list(self._reader.files(self.trees, failures, under))
        asked = {item.uri for item in found}
        if under is not None and found:
            found = list(self._reader.files(self.trees, []))
        chosen: dict[str, SourceItem] = {}
        for item in found:
            key = conversation_of(item.uri)
            other = chosen.get(key)
            if other is None or _rank(item) > _rank(other):
                chosen[key] = item
        usable: dict[str, SourceItem] = {}
        for key, item in chosen.items():
            if item.uri not in asked:
                continue
            if item.size > self._most:
                reason = f"larger than {self._most >> 20} MB; such a transcript is not read"
                failures.append(SourceFailure(item.uri, reason))
            else:
                usable[key] = replace(item, identity=f"cursor-transcript:{key}")
        return usable

    def spoken(self) -> frozenset[str]:
        """Conversations whose transcripts have text."""
        found = self.find([])
        for key, item in found.items():
            known = self._spoken.get(key)
            if known is None or known[:2] != (item.size, item.mtime_ns):
                self._spoken[key] = (item.size, item.mtime_ns, self._has_text(item))
        return frozenset(key for key in found if self._spoken[key][2])

    def records(self, uri: str) -> list[Record]:
        """What is said in a transcript, as `lines` has it.

        Raises:
            OSError: it cannot be opened or read, or is too large.
        """
        path = Path(uri)
        root = next((tree.root for tree in self.trees if path.is_relative_to(tree.root)), None)
        if root is None:
            raise FileNotFoundError(f"{uri} is not inside a watched folder")
        data = self._reader.content(root, path, self._most)
        return list(lines_of_text(data) if uri.endswith(".txt") else lines_of_json(data))

    def _has_text(self, item: SourceItem) -> bool:
        try:
            return any("role" in record for record in self.records(item.uri))
        except OSError:
            return False


def conversation_of(uri: str) -> str:
    """The id of the conversation that a transcript is of."""
    return Path(uri).stem


def parent_of(uri: str) -> str | None:
    """The id of the conversation that started the one that a transcript is of."""
    path = Path(uri)
    return path.parent.parent.name if path.parent.name == _CHILDREN else None


def slug_of(uri: str) -> str:
    """The name of the project's folder in which a transcript lies."""
    parts = Path(uri).parts
    return parts[len(parts) - 1 - parts[::-1].index(_FOLDER) - 1] if _FOLDER in parts else ""


def _rank(item: SourceItem) -> tuple[bool, int, str]:
    return (item.uri.endswith(".jsonl"), item.mtime_ns, item.uri)


def _is_transcript(parts: Parts) -> bool:
    if len(parts) < _FLAT or parts[1] != _FOLDER:
        return False
    name = Path(parts[-1])
    if name.suffix not in _FORMS or not name.stem or name.name.startswith("."):
        return False
    nested = len(parts) == _NESTED and parts[2] == name.stem
    child = len(parts) == _CHILD and parts[3] == _CHILDREN
    return len(parts) == _FLAT or nested or child


def _may_hold(parts: Parts) -> bool:
    if len(parts) == 1:
        return True
    if parts[1] != _FOLDER:
        return False
    return len(parts) < _NESTED or (len(parts) == _NESTED and parts[3] == _CHILDREN)
