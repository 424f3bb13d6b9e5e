"""Records of turns: what a source of rewritten things writes, and the parser of them.

A source whose store is no file of lines makes records, each a JSON object with a `kind`: `session`
for facts, `message` for what was said, `damaged` and `unknown` for what could not be read. The
functions below make them, `raw_lines` makes lines of them, and `TurnParser` makes messages. A
record stands for itself, but for two things: a message without a place has that of its session,
and one without a time has that of the message before it.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import get_args

from cloxy_hookspecs.context import HostContext
from cloxy_hookspecs.logs.folders import is_inside, parts_of
from cloxy_hookspecs.logs.instants import instant, latest_instant
from cloxy_hookspecs.logs.json_values import (
    Record,
    decode,
    encode,
    is_record,
    list_of,
    text_of,
    whole_of,
    words_of,
)
from cloxy_hookspecs.logs.notes import Notes
from cloxy_hookspecs.logs.titles import FIRST_WORDS, title_of_words
from cloxy_hookspecs.types.ingest import (
    Author,
    Message,
    ParseResult,
    RawLine,
    Relation,
    Role,
    SessionFacts,
    SourceItem,
)

_NANOSECONDS = 1_000_000
_TIME_LIMIT = 60
_COUNT_LIMIT = 10**9
_NUMBER_LIMIT = 2**53


def session(
    key: str,
    *,
    cwd: str | None = None,
    branch: str | None = None,
    title: str | None = None,
    rank: int = 0,
    parent: str | None = None,
    relation: Relation | None = None,
    program: bool = False,
) -> Record:
    """The record of a session; it stands before its messages. Fields as in `SessionFacts`."""
    return {
        "kind": "session",
        "session": key,
        "cwd": cwd,
        "branch": branch,
        "title": title,
        "rank": rank,
        "parent": parent,
        "relation": relation,
        "program": program,
    }


def message(
    key: str,
    uid: str,
    role: Role,
    author: Author,
    text: str,
    *,
    at: object = None,
    near: object = None,
    approximate: bool = False,
    cwd: str | None = None,
    branch: str | None = None,
    model: str | None = None,
) -> Record:
    """The record of a message.

    Args:
        key: key of its session.
        uid: its id; see `Message`.
        role: whose turn it was.
        author: who wrote it.
        text: its words.
        at: when it was said, in any form that `instant` takes.
        near: a time near it, for when it has none of its own and no message before it has.
        approximate: whether `at` is not the message's own time.
        cwd: working directory, where it differs from the session's.
        branch: git branch, where it differs from the session's.
        model: name of the model.
    """
    return {
        "kind": "message",
        "session": key,
        "uid": uid,
        "role": role,
        "author": author,
        "text": text,
        "at": _plain(at),
        "near": _plain(near),
        "approximate": approximate,
        "cwd": cwd,
        "branch": branch,
        "model": model,
    }


def damaged(reason: str, *, quiet: bool = False) -> Record:
    """Something that could not be read.

    Args:
        reason: short and free of its text.
        quiet: whether it says nothing of a conversation.
    """
    return {"kind": "damaged", "reason": reason, "quiet": quiet}


def unknown(name: str, count: int = 1) -> Record:
    """Things of a kind that is not known, with their number."""
    return {"kind": "unknown", "name": name, "count": count}


def raw_lines(records: Iterable[Record], offset: int) -> Iterator[RawLine]:
    """Records as lines with ordinal numbers, from one of them on."""
    for number, record in enumerate(records):
        if number >= offset:
            yield RawLine(number, number + 1, encode(record))


def fingerprint(*parts: str) -> str:
    """A short digest of texts, to see that they came before without keeping them."""
    whole = "\0".join(parts).encode("utf-8", "surrogatepass")
    return blake2b(whole, digest_size=12).hexdigest()


def made_uid(*parts: str) -> str:
    """An id for a message that has none, made of what stays when it is read again."""
    return "made-" + fingerprint(*parts)


class MadeUids:
    """Ids for messages that have none: equal words said twice in a session are two messages.

    An id is made of the session, the role, the words, and how often they were said before; so a
    message keeps its id when others are put in or taken out around it.
    """

    def __init__(self) -> None:
        self._said: Counter[tuple[str, ...]] = Counter()

    def of(self, *parts: str) -> str:
        """The id of the next message of which these parts are known."""
        ordinal = self._said[parts]
        self._said[parts] += 1
        return made_uid(*parts, str(ordinal))


def create_turn_parser(context: HostContext) -> "TurnParser":
    """Make the parser; sessions in Cloxy's own data directory are not taken."""
    return TurnParser(str(context.paths.data), context.clock.now_ms)


@dataclass(slots=True)
class _Run:
    """What was found so far."""

    item: SourceItem
    latest: int
    titled: set[str]
    ours: set[str]
    heard: bool
    at: int | None
    messages: list[Message] = field(default_factory=list[Message])
    sessions: dict[str, SessionFacts] = field(default_factory=dict[str, SessionFacts])
    notes: Notes = field(default_factory=Notes)

    def wrong(self, line: RawLine, reason: str, *, quiet: bool = False) -> None:
        """Note what could not be read."""
        self.notes.bad(line, reason)
        self.heard = self.heard or not quiet


class TurnParser:
    """Turns records of turns into messages; implements `Parser`."""

    def __init__(self, own_folder: str, now_ms: Callable[[], int]) -> None:
        """Make a parser.

        Args:
            own_folder: folder whose sessions are not taken.
            now_ms: the present in milliseconds; a later time of a message is not believed.
        """
        self._own = parts_of(os.path.normpath(own_folder))
        self._now_ms = now_ms

    def parse(
        self, item: SourceItem, lines: Iterable[RawLine], state: Mapping[str, object]
    ) -> ParseResult:
        """Parse a run of records; see `Parser.parse`."""
        latest = latest_instant(self._now_ms(), item.mtime_ns)
        run = _Run(
            item=item,
            latest=latest,
            titled=_names(state.get("titled")),
            ours=_names(state.get("ours")),
            heard=state.get("heard") is True,
            at=instant(state.get("at"), latest),
        )
        for line in lines:
            self._line(run, line)
        return ParseResult(
            messages=run.messages,
            sessions=run.sessions,
            bad_lines=run.notes.bad_lines,
            records=run.notes.records,
            unknown=run.notes.unknown_kinds,
            state={
                "titled": sorted(run.titled),
                "ours": sorted(run.ours),
                "heard": run.heard,
                "at": run.at,
            },
            silent=not run.heard,
        )

    def _line(self, run: _Run, line: RawLine) -> None:
        if line.dropped:
            run.wrong(line, f"a record of {line.dropped} bytes is too long")
            return
        if not line.data.strip():
            return
        try:
            record = decode(line.data)
        except ValueError:
            run.wrong(line, "is not JSON")
            return
        if not is_record(record):
            run.wrong(line, "is no record")
            return
        kind = record.get("kind")
        if kind == "damaged":
            reason = text_of(record, "reason") or "damaged"
            run.wrong(line, reason, quiet=record.get("quiet") is True)
        elif kind == "session":
            self._session(run, line, record)
        elif kind == "message":
            self._message(run, line, record)
        else:
            _count(run, str(record.get("name") if kind == "unknown" else kind), record)

    def _session(self, run: _Run, line: RawLine, record: Record) -> None:
        key = text_of(record, "session")
        if key is None:
            run.wrong(line, "names no session")
            return
        run.notes.understood()
        cwd, title, parent = (text_of(record, name) for name in ("cwd", "title", "parent"))
        relation = next(
            (each for each in get_args(Relation) if each == record.get("relation")), None
        )
        if is_inside(cwd, self._own):
            run.ours.add(key)
            return
        run.sessions[key] = SessionFacts(
            key,
            parent=parent,
            cwd=cwd,
            branch=text_of(record, "branch"),
            title=title,
            title_rank=(whole_of(record, "rank") or 0) if title else 0,
            program=record.get("program") is True,
            relation=relation if parent else None,
        )
        if title is not None:
            run.titled.add(key)

    def _message(self, run: _Run, line: RawLine, record: Record) -> None:
        key, uid = (text_of(record, name) for name in ("session", "uid"))
        text = words_of(record, "text")
        role = next((each for each in get_args(Role) if each == record.get("role")), None)
        author = next((each for each in get_args(Author) if each == record.get("author")), None)
        if key is None or uid is None or not text or role is None or author is None:
            run.wrong(line, "is no whole message")
            return
        run.notes.understood()
        run.heard = True
        cwd = text_of(record, "cwd")
        if is_inside(cwd, self._own):
            run.ours.add(key)
        if key in run.ours:
            return
        facts = run.sessions.setdefault(key, SessionFacts(key, cwd=cwd))
        if role == "user" and author != "program" and key not in run.titled:
            run.titled.add(key)
            words = title_of_words(text)
            run.sessions[key] = replace(facts, title=words, title_rank=FIRST_WORDS)
        said = instant(record.get("at"), run.latest)
        run.at = said or run.at or instant(record.get("near"), run.latest) or _version_time(run)
        run.messages.append(
            Message(
                uid=uid,
                session=key,
                role=role,
                author=author,
                text=text,
                at=run.at,
                start=line.start,
                end=line.end,
                cwd=cwd or facts.cwd,
                branch=text_of(record, "branch") or facts.branch,
                model=text_of(record, "model"),
                approximate=said is None or record.get("approximate") is not False,
            )
        )


def _plain(value: object) -> object:
    """A time as JSON has it; nothing for what can be none."""
    if isinstance(value, str):
        return value if len(value) <= _TIME_LIMIT else None
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value if abs(value) < _NUMBER_LIMIT else None
    return None


def _names(value: object) -> set[str]:
    return {each for each in list_of(value) if isinstance(each, str)}


def _count(run: _Run, name: str, record: Record) -> None:
    run.heard = True
    count = whole_of(record, "count") or 0
    run.notes.unknown(name or "(no name)", count if 0 < count < _COUNT_LIMIT else 1)


def _version_time(run: _Run) -> int | None:
    return instant(run.item.mtime_ns // _NANOSECONDS, run.latest)
