"""The tables of Crush's database: sessions, and what was said in each.

Only the tables `sessions` and `messages` are read; `files` holds bodies of files. Times are seconds
since the epoch, whatever the comments of the schema say. An answer is written anew while it grows.
"""

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path

from cloxy_hookspecs import ForeignDatabase, LogTree
from cloxy_hookspecs.logs.databases import Version
from cloxy_hookspecs.logs.instants import instant
from cloxy_hookspecs.logs.json_values import Record, usable_id
from cloxy_hookspecs.logs.titles import NAMED, title_of_name
from cloxy_hookspecs.logs.turns import damaged, made_uid, message, session, unknown
from cloxy_hookspecs.types.ingest import Author, Role
from cloxy_plugins.crush.words import is_programs, words_in

LARGEST = 32 << 20
"""Characters or bytes of the longest message that is read."""

_SESSIONS = "sessions"
_MESSAGES = "messages"
_FACTS = ("id", "parent_session_id", "title", "summary_message_id", "updated_at", "message_count")
_SAID = ("id", "role", "model", "created_at", "updated_at", "is_summary_message")
_NEEDED = frozenset({"id", "session_id", "role", "parts"})
_NOISE = frozenset({"system", "tool"})
_OF_TITLES = "title-"
_OF_TASKS = "$$"
_PLACEHOLDERS = frozenset(
    {"fetch analysis", "generate a title", "new agent session", "new session", "untitled session"}
)
_RECENT = 64
_DAY = 86_400_000
_NANOSECONDS = 1_000_000
_KIND_LIMIT = 40


class Sessions:
    """What is in the databases of Crush; implements `Talks`."""

    def __init__(
        self,
        tree: Callable[[Path], LogTree],
        project_of: Callable[[Path], str | None],
        now_ms: Callable[[], int],
    ) -> None:
        """Read databases.

        Args:
            tree: how they lie below a folder.
            project_of: the project of the folder that a database lies in.
            now_ms: the present in milliseconds; later times are not believed.
        """
        self._tree = tree
        self._project_of = project_of
        self._now_ms = now_ms

    def tree(self, folder: Path) -> LogTree:
        """How databases lie below a folder."""
        return self._tree(folder)

    def versions(self, database: ForeignDatabase) -> Mapping[str, Version]:
        """Sessions with messages, by key; those in which Crush makes up titles are left out.

        Rows are written anew only while an answer comes, and each new row marks its session; so
        only in the sessions that were used last are the rows themselves looked at.

        Raises:
            ForeignDatabaseError: it cannot be read.
        """
        if not database.tables():
            return {}  # it was made just now
        latest = self._now_ms() + _DAY
        counts = _counts(database)
        wanted = _columns(database, _SESSIONS, _FACTS)
        listed = list(database.rows(f"SELECT {wanted} FROM {_SESSIONS}"))  # noqa: S608
        rows = [
            (instant(row[4], latest) or 0, row)
            for row in listed
            if row[0] in counts and not _is_of_titles(row[0])
        ]
        rows.sort(key=lambda each: -each[0])
        columns = database.columns(_MESSAGES)
        found: dict[str, Version] = {}
        for number, (updated, row) in enumerate(rows):
            count = counts[row[0]]
            written = _written(database, columns, row[0]) if number < _RECENT else ()
            marks = repr((row, count, written)).encode("utf-8", "replace")
            rest = zlib.crc32(marks) % _NANOSECONDS
            found[key_of(row[0])] = Version(count, updated * _NANOSECONDS + rest)
        for lost in counts.keys() - {row[0] for row in listed}:
            if not _is_of_titles(lost):
                found.setdefault(key_of(lost), Version(counts[lost], 0))
        return found

    def records(self, database: ForeignDatabase, path: Path, key: str) -> Iterable[Record]:
        """Records of turns of a session; only of a loss when its messages belong to none.

        Raises:
            ForeignDatabaseError: it cannot be read.
        """
        row = _row(database, key)
        if row is None:
            return [damaged("a session is not in the list of sessions", quiet=True)]
        return _Talk(row, key, self._project_of(path.parent)).records(database)


def key_of(value: object) -> str:
    """The key of a session: its id, or a digest of one that can stand in no address.

    The id of a sub-agent's session ends with an id that a model's provider made.
    """
    usable = usable_id(value)
    if usable is not None and not set("#/\\") & set(usable):
        return usable
    return made_uid(str(value))


class _Talk:
    """One session as it is told in records."""

    def __init__(self, row: tuple[object, ...], key: str, project: str | None) -> None:
        facts = dict(zip(_FACTS, row, strict=True))
        self._id = facts["id"]
        self._key = key
        self._project = project
        parent = facts["parent_session_id"]
        self._parent = key_of(parent) if isinstance(parent, str) and parent.strip() else None
        self._task = self._parent is not None or _OF_TASKS in str(self._id)
        self._summary = facts["summary_message_id"] or None
        self._title = _title(facts["title"])

    def records(self, database: ForeignDatabase) -> Iterator[Record]:
        """Records of the session and its messages."""
        yield session(
            self._key,
            cwd=self._project,
            title=self._title,
            rank=NAMED if self._title else 0,
            parent=self._parent,
            relation="subagent" if self._parent else None,
        )
        columns = database.columns(_MESSAGES)
        if not columns >= _NEEDED:
            yield damaged("the table of messages is not as it should be")
            return
        wanted = ", ".join(name if name in columns else "NULL" for name in _SAID)
        statement = (
            # What tools answered is most of a database; it is not even fetched.
            f"SELECT CASE WHEN length(parts) <= ? THEN parts END, {wanted} FROM {_MESSAGES}"  # noqa: S608
            f" WHERE session_id = ? AND role <> 'tool' ORDER BY rowid"
        )
        seen: set[str] = set()
        for parts, *values in database.rows(statement, (LARGEST, self._id)):
            yield from self._message(parts, dict(zip(_SAID, values, strict=True)), seen)

    def _message(
        self, parts: object, facts: Mapping[str, object], seen: set[str]
    ) -> Iterator[Record]:
        role = facts["role"]
        if role in _NOISE:
            return
        if role not in ("user", "assistant"):
            yield unknown(f"role {str(role)[:_KIND_LIMIT]}")
            return
        uid = usable_id(facts["id"])
        found = words_in(parts)
        if uid is None or uid in seen or found is None:
            yield damaged("a message cannot be read")
            return
        seen.add(uid)
        for kind in found.unknown:
            yield unknown(kind)
        if found.damaged:
            yield damaged("a part of a message cannot be read")
        if not found.text:
            return
        yield message(
            self._key,
            uid,
            *self._turn(facts, found.text),
            found.text,
            at=facts["created_at"],
            near=facts["updated_at"],
            model=usable_id(facts["model"]) if role == "assistant" else None,
        )

    def _turn(self, facts: Mapping[str, object], text: str) -> tuple[Role, Author]:
        """Whose turn a message is, and who wrote it."""
        if facts["role"] == "user":
            typed: Author = "program" if is_programs(text) else "human"
            return "user", "subagent" if self._task else typed
        # Older versions mark only the latest summary, in the row of the session.
        if facts["is_summary_message"] == 1 or facts["id"] == self._summary:
            return "summary", "summary"
        return "assistant", "subagent" if self._task else "assistant"


def _row(database: ForeignDatabase, key: str) -> tuple[object, ...] | None:
    """The row of a session; one whose key is a digest is searched for."""
    wanted = _columns(database, _SESSIONS, _FACTS)
    statement = f"SELECT {wanted} FROM {_SESSIONS}"  # noqa: S608 - names of ours
    for row in islice(database.rows(f"{statement} WHERE id = ?", (key,)), 1):
        return row
    if not key.startswith("made-"):
        return None
    return next((row for row in database.rows(statement) if key_of(row[0]) == key), None)


def _is_of_titles(session_id: object) -> bool:
    """Whether Crush made up a title in a session."""
    return str(session_id).startswith(_OF_TITLES)


def _counts(database: ForeignDatabase) -> Mapping[object, int]:
    """Numbers of messages by session, from the index alone."""
    rows = database.rows(f"SELECT session_id, count(*) FROM {_MESSAGES} GROUP BY session_id")  # noqa: S608
    return {key: count for key, count in rows if isinstance(count, int)}


def _written(
    database: ForeignDatabase, columns: frozenset[str], session_id: object
) -> tuple[object, ...]:
    """What changes when a row of a session is written anew, also within a second."""
    updated = "max(updated_at)" if "updated_at" in columns else "NULL"
    finished = "count(finished_at)" if "finished_at" in columns else "NULL"
    length = "total(length(parts))" if "parts" in columns else "NULL"
    statement = f"SELECT {updated}, {finished}, {length} FROM {_MESSAGES} WHERE session_id = ?"  # noqa: S608
    return next(iter(database.rows(statement, (session_id,))), ())


def _columns(database: ForeignDatabase, table: str, names: Iterable[str]) -> str:
    """Columns of a table that are there; NULL for those that are not."""
    columns = database.columns(table)
    return ", ".join(name if name in columns else "NULL" for name in names)


def _title(value: object) -> str | None:
    if not isinstance(value, str) or value.strip().lower() in _PLACEHOLDERS:
        return None
    return title_of_name(value) or None
