"""The tables of Goose's database, of its versions 1 to 17: sessions, and their messages.

Only the tables `sessions` and `messages` are read, and of them only the columns named here; columns
that a version does not have yet count as empty. Versions 10 and 11 show a conversation to an editor
as a thread: what they put into the table `thread_messages` they also say in the session behind the
thread, which is of the type `acp`. Only the name of the conversation is the thread's alone.
"""

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from cloxy_hookspecs import ForeignDatabase, LogTree
from cloxy_hookspecs.logs.databases import Version
from cloxy_hookspecs.logs.instants import instant
from cloxy_hookspecs.logs.json_values import (
    Record,
    decode,
    is_record,
    record_of,
    text_of,
    usable_id,
)
from cloxy_hookspecs.logs.turns import damaged
from cloxy_hookspecs.types.ingest import Relation
from cloxy_plugins.goose.recipes import prompt_of
from cloxy_plugins.goose.turns import HIDDEN, Head, Said, is_placeholder, records

LARGEST = 32 << 20
"""Characters of the longest message that is read."""

_FACTS = (
    "id",
    "name",
    "description",
    "user_set_name",
    "session_type",
    "working_dir",
    "created_at",
    "updated_at",
    "parent_session_id",
    "schedule_id",
    "model_config_json",
    "recipe_json",
)
_NAME = "thread_name"
_NAMED = "thread_user_set_name"
_OF_THREAD = {_NAME: "name", _NAMED: "user_set_name"}
_TOLD = (*_FACTS, *_OF_THREAD)
_SAID = ("id", "message_id", "role", "created_timestamp", "timestamp", "metadata_json")
_NEEDED = frozenset({"id", "session_id", "role", "content_json"})
_TASK = "sub_agent"
_SCHEDULED = "scheduled"
_DAY = 86_400_000
_NANOSECONDS = 1_000_000
_MOST_COPIES = 20_000


class Sessions:
    """What is in the database of Goose; implements `Talks`."""

    def __init__(self, tree: Callable[[Path], LogTree], now_ms: Callable[[], int]) -> None:
        """Read databases.

        Args:
            tree: how they lie below a folder.
            now_ms: the present in milliseconds; later times are not believed.
        """
        self._tree = tree
        self._now_ms = now_ms

    def tree(self, folder: Path) -> LogTree:
        """How databases lie below a folder."""
        return self._tree(folder)

    def versions(self, database: ForeignDatabase) -> Mapping[str, Version]:
        """Sessions with messages, by key, without those that Goose holds with itself.

        Messages are not changed once they are written; compaction writes them all anew, with new
        numbers of rows.

        Raises:
            ForeignDatabaseError: it cannot be read.
        """
        if not database.tables():
            return {}  # it was made just now
        latest = self._now_ms() + _DAY
        counts = {
            key: (count, last)
            for key, count, last in database.rows(
                "SELECT session_id, count(*), max(id) FROM messages GROUP BY session_id"
            )
        }
        found: dict[str, Version] = {}
        listed: set[object] = set()
        for row in database.rows(_sessions(database)):
            facts = dict(zip(_TOLD, row, strict=True))
            key = usable_id(facts["id"])
            listed.add(facts["id"])
            if key is None or key not in counts or facts["session_type"] == HIDDEN:
                continue
            count, _last = counts[key]
            updated = instant(facts["updated_at"], latest) or 0
            rest = zlib.crc32(repr((row, counts[key])).encode("utf-8", "replace")) % _NANOSECONDS
            size = count if isinstance(count, int) else 0
            found[key] = Version(size, updated * _NANOSECONDS + rest)
        for lost in counts.keys() - listed:
            if (key := usable_id(lost)) is not None:
                found[key] = Version(0, 0)
        return found

    def records(self, database: ForeignDatabase, path: Path, key: str) -> Iterable[Record]:
        """Records of turns of a session; only of a loss when its messages belong to none.

        Raises:
            ForeignDatabaseError: it cannot be read.
        """
        del path
        for row in database.rows(f"{_sessions(database)} WHERE id = ?", (key,)):
            facts: dict[str, object] = dict(zip(_TOLD, row, strict=True))
            columns = database.columns("messages")
            if not columns >= _NEEDED:
                return [damaged("the table of messages is not as it should be")]
            copied, original = _copies(database, columns, key)
            return records(_head(facts, key, original), _messages(database, columns, key, copied))
        return [damaged("a session is not in the list of sessions", quiet=True)]


def filled_sessions(database: ForeignDatabase) -> frozenset[str]:
    """Ids of sessions in which something was said.

    Raises:
        ForeignDatabaseError: it cannot be read.
    """
    if "messages" not in database.tables():
        return frozenset()
    found = database.rows("SELECT DISTINCT session_id FROM messages")
    return frozenset(key for (key,) in found if isinstance(key, str))


def _sessions(database: ForeignDatabase) -> str:
    """A statement for the facts of sessions."""
    columns = database.columns("sessions")
    wanted = [name if name in columns else "NULL" for name in _FACTS]
    threads = database.columns("threads") if "thread_id" in columns else frozenset[str]()
    for name in _OF_THREAD.values():
        known = {"id", name} <= threads
        thread = f"(SELECT {name} FROM threads WHERE threads.id = sessions.thread_id)"  # noqa: S608
        wanted.append(thread if known else "NULL")
    return f"SELECT {', '.join(wanted)} FROM sessions"  # noqa: S608 - names of ours


def _head(facts: Mapping[str, object], key: str, original: str | None) -> Head:
    kind = text_of(facts, "session_type") or "user"
    if facts["schedule_id"] and kind == "user":
        kind = _SCHEDULED  # version 4 did not know types yet
    parent = usable_id(facts["parent_session_id"])
    relation: Relation | None = "fork" if original else None
    if parent and kind == _TASK:
        relation = "subagent"
    title = text_of(facts, "name") or text_of(facts, "description") or ""
    named = facts["user_set_name"] == 1
    if is_placeholder(title) and (told := text_of(facts, _NAME)):
        title, named = told, facts[_NAMED] == 1
    return Head(
        key,
        kind=kind,
        cwd=text_of(facts, "working_dir"),
        title=title,
        named=named,
        model=_model(facts["model_config_json"]),
        parent=parent if relation == "subagent" else original,
        relation=relation,
        recipe=prompt_of(facts["recipe_json"]),
        created=facts["created_at"],
    )


def _model(value: object) -> str | None:
    """The model of a session; what it was before it was changed is not kept."""
    if not isinstance(value, (str, bytes)):
        return None
    try:
        return text_of(record_of(decode(value)), "model_name")
    except ValueError:
        return None


def _messages(
    database: ForeignDatabase, columns: frozenset[str], key: str, copies: frozenset[object]
) -> Iterator[Said | Record]:
    wanted = ", ".join(name if name in columns else "NULL" for name in _SAID)
    statement = (
        f"SELECT CASE WHEN length(content_json) <= ? THEN content_json END, {wanted}"  # noqa: S608
        " FROM messages WHERE session_id = ? ORDER BY id"
    )
    for content, *values in database.rows(statement, (LARGEST, key)):
        facts = dict(zip(_SAID, values, strict=True))
        shown, used = _visibility(facts["metadata_json"])
        yield Said(
            facts["message_id"],
            facts["role"],
            _decoded(content),
            facts["created_timestamp"],
            near=facts["timestamp"],
            shown=shown,
            used=used,
            copied=facts["message_id"] in copies,
        )


def _visibility(value: object) -> tuple[bool, bool]:
    """Whether the person and the model see a message; both do unless something else is said."""
    metadata = _decoded(value)
    if not is_record(metadata):
        return True, True
    return metadata.get("userVisible") is not False, metadata.get("agentVisible") is not False


def _copies(
    database: ForeignDatabase, columns: frozenset[str], key: str
) -> tuple[frozenset[object], str | None]:
    """Messages of a session that an earlier session has, too, and the latest of those sessions.

    A session that is copied gets a new id, its messages keep theirs.
    """
    if "message_id" not in columns or "created_at" not in database.columns("sessions"):
        return frozenset(), None
    typed = "session_type" in database.columns("sessions")
    rows = database.rows(
        "SELECT mine.message_id, other.session_id FROM messages AS mine"  # noqa: S608
        " JOIN messages AS other ON other.message_id = mine.message_id"
        " AND other.session_id <> mine.session_id AND other.role = mine.role"
        " AND other.content_json = mine.content_json"
        " JOIN sessions AS copy ON copy.id = mine.session_id"
        " JOIN sessions AS first ON first.id = other.session_id"
        " WHERE mine.session_id = ? AND (first.created_at, first.rowid)"
        " < (copy.created_at, copy.rowid)"
        + (f" AND first.session_type <> '{HIDDEN}'" if typed else "")
        + f" ORDER BY first.created_at, first.rowid LIMIT {_MOST_COPIES}",
        (key,),
    )
    found: set[object] = set()
    latest: str | None = None
    for uid, other in rows:
        owner = usable_id(other)
        if usable_id(uid) is not None and owner is not None:
            found.add(uid)
            latest = owner
    return frozenset(found), latest


def _decoded(value: object) -> object:
    if not isinstance(value, (str, bytes)):
        return None
    try:
        return decode(value)
    except ValueError:
        return None
