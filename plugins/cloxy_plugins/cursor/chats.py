"""Chats of the command line as a source: one database for each.

A chat is a tree of blobs, named by the SHA-256 of what they hold: the root, in the form of Protocol
Buffers, lists its messages, which are JSON. The id of a message is that of its blob.
"""

import errno
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from cloxy_hookspecs import (
    ForeignDatabase,
    HostContext,
    LogReader,
    LogTree,
    Parts,
    RawLine,
    Source,
    SourceFailure,
    SourceItem,
)
from cloxy_hookspecs.logs.folders import root_of
from cloxy_hookspecs.logs.json_values import Record, decode, record_of
from cloxy_hookspecs.logs.turns import damaged, raw_lines, unknown
from cloxy_plugins.cursor.composers import model_of, session_record
from cloxy_plugins.cursor.finding import Transcripts
from cloxy_plugins.cursor.lines import message_of
from cloxy_plugins.cursor.places import folder_of_digest
from cloxy_plugins.cursor.protobuf import children
from cloxy_plugins.cursor.records import time_of
from cloxy_plugins.cursor.roots import agent_folders

_CHATS = "chats"
_STORE = "store.db"
_META = "meta.json"
_META_MOST = 1 << 20
_META_ROWS = "SELECT value FROM meta WHERE length(value) < 1000000"
_BLOB = "SELECT CASE WHEN length(data) < 32000000 THEN data END FROM blobs WHERE id = ?"
_DEPTH = 8
_MOST_BLOBS = 100_000
_PARTS = 3
_NANOSECONDS = 1_000_000


def create_chats(context: HostContext) -> Source:
    """Make the source."""
    reader = context.service(LogReader)
    folders = agent_folders(os.environ, Path.home())
    return Chats(reader, folders, Transcripts(reader, folders))


class Chats:
    """Finds the databases of chats and reads them.

    A chat of which there is a transcript with text is left to the source of transcripts, which
    gives its messages the ids that they have here.
    """

    def __init__(
        self, reader: LogReader, folders: Iterable[Path], transcripts: Transcripts
    ) -> None:
        """Nothing is read.

        Args:
            reader: opens databases.
            folders: folders of the command line.
            transcripts: tells which conversations have a transcript with text.
        """
        self._reader = reader
        self._transcripts = transcripts
        self._trees = [LogTree(folder / _CHATS, _is_store, _may_hold) for folder in folders]

    def roots(self) -> Sequence[Path]:
        """Folders that are watched, whether they exist or not."""
        return tuple(tree.root for tree in self._trees)

    def discover(
        self, failures: list[SourceFailure], under: Path | None = None
    ) -> Iterator[SourceItem]:
        """Find the chats; one that several folders have is read from the newest."""
        spoken = self._transcripts.spoken()
        found: dict[str, SourceItem] = {}
        for file in self._reader.files(self._trees, failures, under):
            path = Path(file.uri)
            key = path.parent.name
            size, changed = self._reader.signature(path)
            item = SourceItem(f"{path}#{key}", f"cursor-chat:{key}", size, changed)
            other = found.get(key)
            if key not in spoken and (other is None or item.mtime_ns > other.mtime_ns):
                found[key] = item
        yield from found.values()

    def read(self, item: SourceItem, offset: int) -> Iterator[RawLine]:
        """Records of a chat: its facts, then its messages in order.

        Raises:
            OSError: it is gone.
            ForeignDatabaseError: the database cannot be read.
        """
        store, _mark, key = item.uri.rpartition("#")
        yield from raw_lines(self._records(Path(store), key), offset)

    def excerpt(self, item: SourceItem, start: int, end: int) -> bytes:
        """Not asked of things that are rewritten."""
        del item, start, end
        return b""

    def records_of(self, key: str) -> Sequence[Record]:
        """Records of a chat by its id; none when there is none.

        Raises:
            OSError: its database is gone.
            ForeignDatabaseError: its database cannot be read.
        """
        for file in self._reader.files(self._trees, []):
            path = Path(file.uri)
            if path.parent.name == key:
                return list(self._records(path, key))
        return ()

    def _records(self, path: Path, key: str) -> Iterator[Record]:
        with self._reader.database(path) as database:
            meta = _meta(database)
            found = list(_messages(database, meta))
        yield from (record for record in found if "role" not in record)
        messages = [record for record in found if "role" in record]
        if not messages:
            return
        cwd, created = self._place(path, meta)
        model = model_of(meta.get("lastUsedModel"))
        yield session_record(key, cwd, meta.get("name"))
        for record in messages:
            user = record["role"] == "user"
            yield {
                "kind": "message",
                "session": key,
                "uid": record["uid"],
                "role": record["role"],
                "author": "human" if user else "assistant",
                "text": record["text"],
                "cwd": cwd,
                "at": record.get("time"),
                "near": created,
                "approximate": True,
                "model": None if user else model,
            }

    def _place(self, path: Path, meta: Record) -> tuple[str | None, object]:
        """The folder in which a chat was held, and when it was begun."""
        created = time_of(meta.get("createdAt"))
        root = root_of((tree.root for tree in self._trees), path)
        if root is None:
            raise OSError(errno.EACCES, "not inside a watched folder", str(path))
        try:
            side = record_of(decode(self._reader.content(root, path.parent / _META, _META_MOST)))
        except (OSError, ValueError):
            # Older chats have no such file.
            side = {}
        cwd = side.get("cwd")
        created = created if created is not None else time_of(side.get("createdAtMs"))
        if isinstance(cwd, str) and cwd.strip():
            return cwd, created
        known = [str(folder) for folder in self._reader.known_folders()]
        return folder_of_digest(path.parent.parent.name, known), created


def _meta(database: ForeignDatabase) -> Record:
    """What a chat says of itself."""
    for (value,) in database.rows(_META_ROWS):
        try:
            text = value if isinstance(value, str) else bytes(value).decode()  # type: ignore[call-overload]
            found = decode(bytes.fromhex(text))
        except (ValueError, TypeError):
            continue
        if isinstance(found, dict) and "latestRootBlobId" in found:
            return found
    return {}


def _messages(database: ForeignDatabase, meta: Record) -> Iterator[Record]:
    root = meta.get("latestRootBlobId")
    if not isinstance(root, str) or not root:
        yield damaged("the chat does not say where it begins")
        return
    times: Counter[str] = Counter()
    for name, data in _leaves(database, root):
        if data is None:
            yield unknown("message that is listed but gone")
            continue
        try:
            message = decode(data)
        except ValueError:
            yield damaged("a message is not JSON")
            continue
        record = record_of(message)
        role = record.get("role")
        if role in ("user", "assistant"):
            # The same words are the same blob, however often they were said.
            times[name] += 1
            uid = name if times[name] == 1 else f"{name}/{times[name]}"
            for found in message_of(str(role), record.get("content"), 0):
                yield found | {"uid": uid} if "role" in found else found
        elif role not in ("system", "tool"):
            yield unknown(f"message of role {role}"[:60])


def _leaves(database: ForeignDatabase, root: str) -> Iterator[tuple[str, bytes | None]]:
    """The blobs of messages below a root, in order; None for one that is gone."""
    stack = [(root, 0)]
    for _ in range(_MOST_BLOBS):
        if not stack:
            return
        name, depth = stack.pop()
        data = next((value for (value,) in database.rows(_BLOB, (name,))), None)
        blob = data.encode() if isinstance(data, str) else data
        if not isinstance(blob, bytes):
            yield name, None
        elif blob[:1] == b"{":
            yield name, blob
        elif depth < _DEPTH:
            stack += [(child, depth + 1) for child in reversed(children(blob))]


def _is_store(parts: Parts) -> bool:
    return len(parts) == _PARTS and parts[2] == _STORE


def _may_hold(parts: Parts) -> bool:
    return len(parts) < _PARTS
