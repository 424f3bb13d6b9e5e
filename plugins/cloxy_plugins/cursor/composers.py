"""Conversations in the editor's global database: which there are, and what was said in one.

A conversation ("composer") is one row, its messages ("bubbles") are rows of their own, or until
2025 stand within it. Rows of branches that were left stay behind; only those that the conversation
lists are read. The id of a message is that of its bubble.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from cloxy_hookspecs import ForeignDatabase
from cloxy_hookspecs.logs import turns
from cloxy_hookspecs.logs.instants import instant
from cloxy_hookspecs.logs.json_values import Record, decode, list_of, usable_id
from cloxy_hookspecs.logs.titles import NAMED, title_of_name
from cloxy_hookspecs.logs.turns import damaged, unknown
from cloxy_plugins.cursor import statements
from cloxy_plugins.cursor.records import time_of
from cloxy_plugins.cursor.words import answer_of, picture, prompt_of

TABLE = "cursorDiskKV"
_DRAFT = "empty-state-draft"
_LATEST = 2**52
_NO_MODEL = ("", "default")
_MODEL_LIMIT = 120
_USER = (1, "user")
_AGENT = (2, "ai", "assistant", "bot")

Row = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Composer:
    """A conversation.

    Attributes:
        key: its id.
        updated: when it was last changed as it says itself, milliseconds; 0 when it does not.
        version: a number that differs whenever it or a message of it was written.
    """

    key: str
    updated: int
    version: int


@dataclass(slots=True)
class Listing:
    """The conversations of a database.

    Attributes:
        composers: those with a message, and damaged ones.
        parents: the conversation that started one, by id.
        headers: what the list of conversations says of one: identifier of its workspace as JSON,
            its workspace's id, its name.
        stray: messages of no conversation.
    """

    composers: list[Composer] = field(default_factory=list[Composer])
    parents: dict[str, str] = field(default_factory=dict[str, str])
    headers: dict[str, tuple[object, object, object]] = field(
        default_factory=dict[str, tuple[object, object, object]]
    )
    stray: int = 0

    def session_of(self, key: str) -> tuple[str, str | None]:
        """The keys of the session of a conversation, and of the one that started it."""
        parent = self.parents.get(key)
        if parent is None or parent == key:
            return key, None
        grand = self.parents.get(parent)
        above = f"{grand}/{parent}" if grand and grand not in (parent, key) else parent
        return f"{parent}/{key}", above


def list_composers(database: ForeignDatabase) -> Listing:
    """All conversations of a database, without reading one message."""
    listing = Listing()
    tables = database.tables()
    if "ItemTable" in tables:
        _take_headers(listing, database.rows(statements.HEADERS))
    if "composerHeaders" in tables:
        columns = database.columns("composerHeaders")
        if {"composerId", "value"} <= columns:
            workspace = "workspaceId" if "workspaceId" in columns else "NULL"
            rows = database.rows(statements.HEADER_ROWS.format(workspace=workspace))
            _take_headers(listing, rows)
    if TABLE not in tables:
        return listing
    bubbles = {key: (n, last) for key, n, last in database.rows(statements.BUBBLE_COUNTS)}
    for row in database.rows(statements.COMPOSERS):
        key = usable_id(row[0])
        count, last = bubbles.pop(row[0], (0, 0))
        if key is not None and key != _DRAFT:
            _take_composer(listing, key, row[1:], _number(count), _number(last))
    listing.stray = sum(_number(count) for count, _last in bubbles.values())
    return listing


def _take_headers(listing: Listing, rows: Iterable[Row]) -> None:
    for key, identifier, workspace, name, parent in rows:
        composer = usable_id(key)
        if composer is not None:
            listing.headers[composer] = (identifier, workspace, name)
            if (above := usable_id(parent)) is not None:
                listing.parents[composer] = above


def _take_composer(listing: Listing, key: str, row: Row, count: int, last: int) -> None:
    number, length, sound, updated, created, order, inline, children, parent = row
    for child in list_of(_json(children)):
        if (composer := usable_id(child)) is not None:
            listing.parents.setdefault(composer, key)
    if (above := usable_id(parent)) is not None:
        listing.parents[key] = above
    listed = _number(order) + _number(inline)
    unlisted = order is None and inline is None and count > 0
    if sound and not listed and not unlisted:
        return
    # Each write gives a row a new number, the highest so far; a change in place is seen by the
    # rest. Both only grow, so that their sum does not repeat.
    version = _number(number) + last + _number(length) + count
    moment = instant(updated, _LATEST) or instant(created, _LATEST) or 0
    listing.composers.append(Composer(key, moment, version))


@dataclass(frozen=True, slots=True)
class Told:
    """A conversation's own row.

    Attributes:
        name: its title, if it has one.
        created: when it was begun, as recorded.
        identifier: identifier of its workspace as JSON.
        model: its model.
        messages: rows of its messages in order, as `statements.BUBBLES` gives them.
        problems: records of what could not be read.
    """

    name: str | None
    created: int | float | str | None
    identifier: object
    model: str | None
    messages: list[Row]
    problems: list[Record]


def read_composer(database: ForeignDatabase, key: str) -> Told | None:
    """A conversation with its messages; None when there is none of that id."""
    full = f"composerData:{key}"
    found = list(database.rows(statements.COMPOSER, (full,)))
    if not found:
        return None
    sound, name, created, listed, identifier, model = found[0]
    told = Told(
        name if isinstance(name, str) else None,
        time_of(created),
        identifier,
        model_of(model),
        [],
        [],
    )
    if sound is None:
        told.problems.append(damaged("the row of a conversation is NULL", quiet=True))
    elif not sound:
        told.problems.append(damaged("the row of a conversation is not JSON"))
    else:
        _take_messages(database, key, full, told, listed=listed is not None)
    return told


def _take_messages(
    database: ForeignDatabase, key: str, full: str, told: Told, *, listed: bool
) -> None:
    prefix = f"bubbleId:{key}:"
    # `;` is the character after `:`.
    bounds = (len(prefix) + 1, prefix, f"{prefix[:-1]};")
    rows = {row[0]: row[1] for row in database.rows(statements.BUBBLE_IDS, bounds)}
    order = [bubble for (bubble,) in database.rows(statements.ORDER, (full,))]
    inline = [] if order else list(database.rows(statements.INLINE, (full,)))
    if not listed and not inline:
        order = list(rows)
    found = {row[0]: row for row in database.rows(statements.BUBBLES, bounds)} if order else {}
    missing = 0
    for bubble in dict.fromkeys(order):
        if bubble in found:
            told.messages.append(found[bubble])
        elif bubble in rows:
            null = bool(rows[bubble])
            reason = "is NULL" if null else "is not JSON, or too large"
            told.problems.append(damaged(f"the row of a message {reason}"))
        else:
            missing += 1
    told.messages.extend(inline)
    left = len(rows.keys() - set(order))
    if missing:
        told.problems.append(unknown("message that is listed but gone", missing))
    if left:
        told.problems.append(unknown("message of a branch that was left", left))


def message_records(
    rows: Iterable[Row],
    session: str,
    cwd: str | None,
    near: object,
    model: str | None,
    *,
    subagent: bool = False,
) -> Iterator[Record]:
    """Records of messages.

    Args:
        rows: as `statements.BUBBLES` gives them.
        session: key of the session.
        cwd: its folder.
        near: a time for messages without one.
        model: model of answers that name none.
        subagent: whether another agent holds the conversation.
    """
    seen: set[str] = set()
    for number, row in enumerate(rows):
        bubble, _one, kind, text, created, started, named, images, attached = row
        if kind not in _USER and kind not in _AGENT:
            yield unknown(f"message of type {kind}"[:60])
            continue
        user = kind in _USER
        said = text if isinstance(text, str) else ""
        words = prompt_of(said).text if user else answer_of(said)
        if user:
            names = [*list_of(_json(images)), *list_of(_json(attached))]
            marks = dict.fromkeys(picture(n if isinstance(n, str) else None) for n in names)
            words = "\n\n".join(part for part in (words, "\n".join(marks)) if part)
        uid = usable_id(bubble) or f"{session}/{number}"
        if not words:
            continue
        if uid in seen:
            yield damaged("a message has the id of another one")
            continue
        seen.add(uid)
        at = time_of(created)
        yield {
            "kind": "message",
            "session": session,
            "uid": uid,
            "role": "user" if user else "assistant",
            "author": "subagent" if subagent else "human" if user else "assistant",
            "text": words,
            "cwd": cwd,
            "at": time_of(started) if at is None else at,
            "near": near,
            "approximate": at is None,
            "model": None if user else model_of(named) or model,
        }


def session_record(
    session: str, cwd: str | None, name: object, parent: str | None = None
) -> Record:
    """Facts of a session."""
    named = isinstance(name, str) and name.strip() and name.strip().lower() != "new chat"
    title = title_of_name(str(name)) if named else None
    return turns.session(
        session, cwd=cwd, title=title, rank=NAMED, parent=parent, relation="subagent"
    )


def model_of(value: object) -> str | None:
    """The name of a model; `default` names none."""
    usable = isinstance(value, str) and value.isprintable() and value not in _NO_MODEL
    return str(value)[:_MODEL_LIMIT] if usable else None


def identifier_of(value: object) -> Mapping[str, object]:
    """An identifier of a workspace, from JSON."""
    found = _json(value)
    return found if isinstance(found, dict) else {}


def _json(value: object) -> object:
    if not isinstance(value, str):
        return None
    try:
        return decode(value.encode("utf-8", "replace"))
    except ValueError:
        return None


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
