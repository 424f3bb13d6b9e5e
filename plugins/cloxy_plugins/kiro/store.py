"""The conversations in the database of the Kiro CLI, and of the Amazon Q Developer CLI before it.

Of the database only the tables `conversations_v2` and `conversations` are read; others hold what
people sign in with. A conversation is one JSON text, written anew with each turn.
"""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path

from cloxy_hookspecs import ForeignDatabase, HostContext, LogReader, LogTree, Source
from cloxy_hookspecs.logs.databases import Databases, Version
from cloxy_hookspecs.logs.instants import instant
from cloxy_hookspecs.logs.json_values import (
    Record,
    decode,
    has_nearly,
    id_of,
    is_record,
    list_of,
    record_of,
    text_of,
    usable_id,
    words_of,
)
from cloxy_hookspecs.logs.turns import MadeUids, damaged, made_uid, message, session, unknown
from cloxy_plugins.kiro.cards import FAR
from cloxy_plugins.kiro.places import (
    STORE,
    conversations_in,
    logs_below,
    session_folders,
    store_folders,
    stores_below,
)
from cloxy_plugins.kiro.words import PARAGRAPH, model_in

_AGENT = "kiro"
_NEWER, _OLDER = "conversations_v2", "conversations"
_NEWER_COLUMNS = frozenset({"key", "conversation_id", "value", "updated_at"})
_OLDER_COLUMNS = frozenset({"key", "value"})
_NANOSECONDS = 1_000_000
_SEPARATORS = frozenset("#/\\")
_SUMMARY = "latest_summary"

_LIST_NEWER = "SELECT conversation_id, length(value), updated_at FROM conversations_v2"
_LIST_OLDER = """
    SELECT key, length(value),
        CASE WHEN json_valid(CAST(value AS TEXT))
            THEN json_extract(CAST(value AS TEXT), '$.conversation_id') END,
        CASE WHEN json_valid(CAST(value AS TEXT)) THEN json_extract(
            CAST(value AS TEXT), '$.history[#-1].request_metadata.stream_end_timestamp_ms') END
    FROM conversations
"""
_ONE_NEWER = """
    SELECT key, value FROM conversations_v2 WHERE conversation_id = ?
    ORDER BY updated_at DESC, key LIMIT 1
"""
# Without its index, as they are listed: a row that a damaged one does not lead to is read, too.
_ONE_OLDER = "SELECT key, value FROM conversations WHERE +key IS ?"


def create_store(context: HostContext) -> Source:
    """Make the source; conversations that have a log are left to the source of logs."""
    reader = context.service(LogReader)
    folders = store_folders(os.environ, Path.home(), sys.platform)
    logs = Logs(reader, session_folders(os.environ, Path.home()))
    return Databases(reader, _AGENT, lambda: folders, Conversations(), logs.conversations)


def store_of_user(reader: LogReader) -> "Store":
    """The databases in the places of this system."""
    return Store(reader, store_folders(os.environ, Path.home(), sys.platform))


class Logs:
    """Tells which conversations have a log."""

    def __init__(self, reader: LogReader, folders: Sequence[Path]) -> None:
        """Nothing is read.

        Args:
            reader: finds logs.
            folders: folders of sessions.
        """
        self._reader = reader
        self._trees = [logs_below(folder) for folder in folders]

    def conversations(self) -> set[str]:
        """Ids of the conversations; a log without a byte is none."""
        logs = self._reader.files(self._trees, [])
        return {key for log in logs if log.size for key in conversations_in(Path(log.uri))}


class Store:
    """Reads one conversation wherever it is."""

    def __init__(self, reader: LogReader, folders: Sequence[Path]) -> None:
        """Nothing is read.

        Args:
            reader: opens databases.
            folders: folders with a database, the more important first.
        """
        self._reader = reader
        self._paths = [folder / STORE for folder in folders]
        self._known: dict[Path, tuple[tuple[int, int], frozenset[str]]] = {}

    def records_of(self, key: str) -> Sequence[Record]:
        """Records of a conversation by its id, from the first database that has it.

        Raises:
            ForeignDatabaseError: a database cannot be read.
        """
        for path in self._paths:
            if key in self._keys(path):
                with self._reader.database(path) as database:
                    return list(Conversations().records(database, path, key))
        return ()

    def _keys(self, path: Path) -> frozenset[str]:
        """Ids of the conversations of a database, looked up when it changed."""
        signature = self._reader.signature(path)
        if signature == (0, 0):
            return frozenset()
        known = self._known.get(path)
        if known is None or known[0] != signature:
            with self._reader.database(path) as database:
                known = (signature, frozenset(Conversations().versions(database)))
            self._known[path] = known
        return known[1]


class Conversations:
    """What is in a database; implements `Talks`."""

    def tree(self, folder: Path) -> LogTree:
        """As `Talks.tree`."""
        return stores_below(folder)

    def versions(self, database: ForeignDatabase) -> Mapping[str, Version]:
        """As `Talks.versions`; one that is in both tables counts as in the newer."""
        found: dict[str, Version] = {}
        if _has(database, _NEWER, _NEWER_COLUMNS):
            for key, length, updated in database.rows(_LIST_NEWER):
                # One that cannot be used is told as such.
                name = usable_id(key) or ""
                size, latest = found.get(name, (0, 0))
                mtime = max(latest, _nanoseconds(updated))
                found[name] = Version(size + _whole(length), mtime)
        for _key, name, version in _older(database):
            found.setdefault(name, version)
        return found

    def records(self, database: ForeignDatabase, path: Path, key: str) -> Iterator[Record]:
        """As `Talks.records`."""
        del path
        if _has(database, _NEWER, _NEWER_COLUMNS):
            for folder, value in database.rows(_ONE_NEWER, (key,)):
                yield from records_in(value, key, folder)
                return
        for folder, name, _version in _older(database):
            if name == key:
                for _folder, value in database.rows(_ONE_OLDER, (folder,)):
                    yield from records_in(value, key, folder)
                    return
        yield damaged("a conversation has no row")


def _older(database: ForeignDatabase) -> Iterator[tuple[object, str, Version]]:
    """Folder, key and version of the conversations in the older table, one for each folder."""
    if not _has(database, _OLDER, _OLDER_COLUMNS):
        return
    for folder, length, name, updated in database.rows(_LIST_OLDER):
        key = usable_id(name)
        if key is None or not _SEPARATORS.isdisjoint(key):
            whole = str(folder).encode("utf-8", "surrogatepass")
            key = "folder-" + blake2b(whole, digest_size=12).hexdigest()
        yield folder, key, Version(_whole(length), _nanoseconds(updated))


def records_in(value: object, key: str, folder: object) -> Iterator[Record]:
    """Records of turns of a conversation.

    Args:
        value: its JSON text.
        key: its id.
        folder: the folder that it belongs to.
    """
    try:
        talk = decode(value) if isinstance(value, (str, bytes)) else None
    except ValueError:
        yield damaged("a conversation is not JSON")
        return
    if not is_record(talk):
        yield damaged("a conversation is no record")
        return
    history = talk.get("history")
    if not isinstance(history, list):
        yield damaged("a conversation has no history")
        return
    turns = list(_turns(talk, list_of(history), key))
    cwd = text_of({"folder": folder}, "folder")
    if any(turn["kind"] == "message" for turn in turns):
        cwd = next((str(turn["cwd"]) for turn in turns if turn.get("cwd")), cwd)
        yield session(key, cwd=cwd)
    yield from turns


def _turns(talk: Record, history: Sequence[object], key: str) -> Iterator[Record]:
    chosen = model_in(record_of(talk.get("model_info")), "model_id", "model_name")
    model = chosen or model_in(talk, "model")
    yield from _summary(talk, key)
    made = MadeUids()
    strange = 0
    for each in history:
        entry = record_of(each)
        user, answer = record_of(entry.get("user")), record_of(entry.get("assistant"))
        facts = record_of(entry.get("request_metadata"))
        content, reply = _variant(user.get("content")), _variant(answer)
        # Each turn has both, a prompt or what tools gave, and what was said to it.
        is_odd = content is None or not _is_asked(content)
        strange += is_odd or reply is None or not isinstance(reply.get("content"), str)
        cwd = text_of(
            record_of(record_of(user.get("env_context")).get("env_state")),
            "current_working_directory",
        )
        if content is not None:
            text = PARAGRAPH.join(filter(None, [words_of(content, "prompt"), _pictures(user)]))
            asked = user.get("timestamp")
            if words_of(content, "prompt"):
                uid = made.of(key, "user", str(asked), text)
                yield message(key, uid, "user", "human", text, at=asked, cwd=cwd)
        if reply is not None and (text := words_of(reply, "content")):
            ended = facts.get("stream_end_timestamp_ms")
            uid = id_of(reply, "message_id") or made.of(key, "assistant", str(ended), text)
            own = model_in(facts, "model_id") or model
            yield message(key, uid, "assistant", "assistant", text, at=ended, cwd=cwd, model=own)
    if strange:
        yield unknown("turn of another form", strange)


def _variant(value: object) -> Record | None:
    """What the one variant of a choice holds; None when it is not of that form."""
    choices = [each for each in record_of(value).values() if is_record(each)]
    return choices[0] if len(choices) == 1 else None


def _is_asked(content: Record) -> bool:
    """Whether a turn begins with a prompt, or with what tools gave."""
    prompt = content.get("prompt")
    return isinstance(prompt, str) or (prompt is None and "tool_use_results" in content)


def _summary(talk: Record, key: str) -> Iterator[Record]:
    """The summary of what was taken out of the history: a text, or with facts of its request."""
    value = talk.get(_SUMMARY)
    parts = list_of(value)
    told = parts[0] if parts else value
    if (value is not None and not isinstance(told, str)) or has_nearly(talk, _SUMMARY):
        yield unknown("summary of another form")
    if text := words_of({"text": told}, "text"):
        facts = record_of(parts[1]) if len(parts) > 1 else {}
        at = facts.get("stream_end_timestamp_ms")
        uid = made_uid(key, "summary", text)
        yield message(key, uid, "summary", "summary", text, at=at)


def _pictures(user: Record) -> str:
    names = (id_of(record_of(each), "format") or "unknown" for each in list_of(user.get("images")))
    return "\n".join(f"[image: {name}]" for name in names)


def _has(database: ForeignDatabase, table: str, columns: frozenset[str]) -> bool:
    return table in database.tables() and columns <= database.columns(table)


def _nanoseconds(value: object) -> int:
    return (instant(value, FAR) or 0) * _NANOSECONDS


def _whole(value: object) -> int:
    return value if isinstance(value, int) else 0
