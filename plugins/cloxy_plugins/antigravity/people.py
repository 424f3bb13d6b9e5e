"""Where conversations were held, and which of them other conversations started."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cloxy_hookspecs import LogReader
from cloxy_hookspecs.logs.folders import is_inside, parts_of
from cloxy_hookspecs.logs.json_lines import decode_line
from cloxy_hookspecs.logs.json_values import (
    decode,
    id_of,
    is_record,
    list_of,
    record_of,
    text_of,
    usable_id,
)
from cloxy_plugins.antigravity.places import BRAIN, conversation_of, transcripts_below
from cloxy_plugins.antigravity.words import path_of, paths_in

_PROMPTS = "history.jsonl"
_LAST = ("cache", "last_conversations.json")
_MOST = 128 << 20
_STARTED = b"INVOKE_SUBAGENT"
_BLOCK = re.compile(r"\{[^{}]{0,20000}\}")
_KNOWN = 5_000

_Signature = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Started:
    """A conversation that another one started.

    Attributes:
        parent: id of the other one.
        folder: where it was started.
    """

    parent: str
    folder: str | None = None


@dataclass(slots=True)
class _Home:
    prompts: tuple[_Signature, Mapping[str, str]] = ((0, 0), {})
    transcripts: dict[str, tuple[_Signature, Mapping[str, Started]]] = field(
        default_factory=dict[str, tuple[_Signature, Mapping[str, Started]]]
    )


class People:
    """Reads side files anew when they changed."""

    def __init__(self, reader: LogReader) -> None:
        """Nothing is read.

        Args:
            reader: opens files, and knows folders of projects.
        """
        self._reader = reader
        self._homes: dict[Path, _Home] = {}

    def started(self, home: Path) -> Mapping[str, Started]:
        """Conversations that others started, by id.

        Args:
            home: folder of Antigravity.
        """
        known = self._homes.setdefault(home, _Home()).transcripts
        found: dict[str, Started] = {}
        seen: set[str] = set()
        for item in self._reader.files([transcripts_below(home / BRAIN)], []):
            seen.add(item.uri)
            signature = (item.size, item.mtime_ns)
            old = known.get(item.uri)
            if old is None or old[0] != signature:
                data = self._content(home, Path(item.uri))
                old = (signature, dict(_started_in(data, conversation_of(Path(item.uri)))))
                if len(known) < _KNOWN:
                    known[item.uri] = old
            found.update(old[1])
        for gone in known.keys() - seen:
            del known[gone]
        return found

    def folder_of(self, home: Path, key: str, started: Started | None, behind: str) -> str | None:
        """Where a conversation was held; None when nothing tells it.

        Args:
            home: folder of Antigravity.
            key: id of the conversation.
            started: what is known of its start, if another one started it.
            behind: what was put behind its prompts.
        """
        listed = self._listed(home)
        if key in listed:
            return listed[key]
        if started is not None:
            return started.folder or listed.get(started.parent)
        return self._last(home).get(key) or self._named(behind)

    def _listed(self, home: Path) -> Mapping[str, str]:
        """Folders of conversations in the list of prompts; the first one counts."""
        path = home / _PROMPTS
        known = self._homes.setdefault(home, _Home())
        try:
            status = path.lstat()
        except OSError:
            return {}
        signature = (status.st_size, status.st_mtime_ns)
        if known.prompts[0] != signature:
            found: dict[str, str] = {}
            for line in self._content(home, path).split(b"\n"):
                record = decode_line(line) if line.strip() else None
                if record is None:
                    # Other lines tell of other prompts; the conversation says what was typed.
                    continue
                key, folder = id_of(record, "conversationId"), text_of(record, "workspace")
                folder = path_of(folder) if folder is not None else None
                if key is not None and folder is not None:
                    found.setdefault(key, folder)
            known.prompts = (signature, found)
        return known.prompts[1]

    def _last(self, home: Path) -> Mapping[str, str]:
        """The folder of the conversation that was last held there, by its id."""
        try:
            listed = record_of(decode(self._content(home, home.joinpath(*_LAST)) or b"{}"))
        except ValueError:
            return {}
        pairs = ((usable_id(key), path_of(folder)) for folder, key in listed.items())
        return {key: folder for key, folder in pairs if key is not None and folder is not None}

    def _named(self, text: str) -> str | None:
        """The innermost known folder in which a path of a text lies."""
        folders = [str(folder) for folder in self._reader.known_folders()]
        for path in paths_in(text):
            inside = [each for each in folders if is_inside(path, parts_of(each))]
            if inside:
                return max(inside, key=len)
        return None

    def _content(self, home: Path, path: Path) -> bytes:
        try:
            return self._reader.content(home, path, _MOST)
        except OSError:
            # Without such a file, or with one that is no plain file, other things may tell.
            return b""


def _started_in(data: bytes, parent: str) -> Iterator[tuple[str, Started]]:
    """Conversations that a transcript says it started."""
    if _STARTED not in data:
        return
    for line in data.split(b"\n"):
        record = decode_line(line) if _STARTED in line else None
        if record is None or record.get("type") != _STARTED.decode():
            continue
        content = record.get("content")
        for block in _BLOCK.findall(content) if isinstance(content, str) else ():
            try:
                value = decode(block)
            except ValueError:
                continue
            key = id_of(value, "conversationId") if is_record(value) else None
            if key is None or key == parent:
                continue
            addresses = list_of(record_of(value).get("workspaceUris"))
            folder = path_of(addresses[0]) if addresses and isinstance(addresses[0], str) else None
            yield key, Started(parent, folder)
