"""A session of Goose as records of turns, whichever store it comes from.

Compaction hides messages from the model, and puts a summary behind them that the person does not
see; in some versions it hides the last prompt from both and writes it anew behind the summary.
What hides from the person is not told, but for summaries.
"""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from cloxy_hookspecs.logs.json_values import Record, usable_id
from cloxy_hookspecs.logs.titles import LISTED, NAMED, title_of_name
from cloxy_hookspecs.logs.turns import MadeUids, damaged, message, session, unknown
from cloxy_hookspecs.types.ingest import Author, Relation, Role
from cloxy_plugins.goose.content import words_in
from cloxy_plugins.goose.recipes import is_from

HIDDEN = "hidden"
"""Type of sessions that Goose holds with itself."""

_TYPED = frozenset({"acp", "gateway", "terminal", "user"})
_SCHEDULED = "scheduled"
_TASK = "sub_agent"
# An id that the database gave a message that had none; a message gets another one when it is
# written anew, and had none in older versions.
_GIVEN = re.compile(r"msg_(\d{8}_\d+)_.+", re.DOTALL)
# What Goose says to the model in its own name behind a summary; it may stand in the same message.
_CONTINUING = re.compile(
    r"(?:Your context was compacted[^.\n]{0,200}\.\s+)?The previous message contains a summary"
)
_PLACEHOLDER = re.compile(
    r"(?:(?:acp|cli|gateway|terminal|goose)\s+session|new\s+(?:chat|session))(?:\s+\d+)?", re.I
)
_SECONDS_BELOW = 10**10
_KIND_LIMIT = 40


@dataclass(frozen=True, slots=True)
class Head:
    """What is known of a session.

    Attributes:
        key: its id.
        kind: its type; `user` where the store does not know types.
        cwd: working directory; None when unknown.
        title: its name; empty when it has none.
        named: whether a person gave the name.
        model: name of the model; None when unknown.
        parent: the session that it belongs to; None for none.
        relation: what it is to that one.
        recipe: the prompt of the recipe that it was started with; empty for none.
        created: when it began, in any form.
    """

    key: str
    kind: str = "user"
    cwd: str | None = None
    title: str = ""
    named: bool = False
    model: str | None = None
    parent: str | None = None
    relation: Relation | None = None
    recipe: str = ""
    created: object = None

    @property
    def scheduled(self) -> bool:
        """Whether a program holds the conversation."""
        return self.kind == _SCHEDULED

    @property
    def task(self) -> bool:
        """Whether it is that of a sub-agent."""
        return self.kind == _TASK


@dataclass(frozen=True, slots=True)
class Said:
    """One message as it is stored.

    Attributes:
        uid: its id; anything else for none.
        role: whose turn it was.
        blocks: what it says.
        created: when it was said, in any form.
        near: a time near it, in any form.
        shown: whether the person sees it.
        used: whether the model sees it.
        copied: whether another session said it first.
    """

    uid: object
    role: object
    blocks: object
    created: object
    near: object = None
    shown: bool = True
    used: bool = True
    copied: bool = False


def is_placeholder(title: str) -> bool:
    """Whether a title is none, or one that Goose gives before there is one."""
    return not title.strip() or _PLACEHOLDER.fullmatch(title.strip()) is not None


def records(head: Head, messages: Iterable[Said | Record]) -> Iterator[Record]:
    """Records of a session.

    Args:
        head: what is known of it.
        messages: in order; records among them are passed on.
    """
    title = "" if is_placeholder(head.title) else title_of_name(head.title)
    yield session(
        head.key,
        cwd=head.cwd,
        title=title or None,
        rank=(NAMED if head.named else LISTED) if title else 0,
        parent=head.parent,
        relation=head.relation,
        program=head.scheduled,
    )
    if not (head.kind in _TYPED or head.scheduled or head.task):
        yield unknown(f"session type {head.kind[:_KIND_LIMIT]}")
    turns: list[_Turn] = []
    yield from _taken(head, messages, turns)
    yield from _told(head, turns)


@dataclass(slots=True)
class _Turn:
    """A message with words."""

    said: Said
    uid: str
    text: str

    @property
    def typed(self) -> bool:
        return self.said.role == "user"


def _taken(head: Head, messages: Iterable[Said | Record], turns: list[_Turn]) -> Iterator[Record]:
    """Take the messages with words; records of what was passed over."""
    made = MadeUids()
    known: dict[tuple[str, bool], _Turn] = {}
    for said in messages:
        if isinstance(said, dict):
            yield said
            continue
        if said.role not in ("user", "assistant"):
            yield unknown(f"role {str(said.role)[:_KIND_LIMIT]}")
            continue
        found = words_in(said.blocks, typed=said.role == "user")
        if found is None:
            yield damaged("a message cannot be read")
            continue
        for kind in found.unknown:
            yield unknown(kind)
        for _ in range(found.damaged):
            yield damaged("a part of a message cannot be read")
        if not found.text:
            continue
        turn = _Turn(said, _uid(head, made, said, found.text), found.text)
        before = known.setdefault((turn.uid, said.shown), turn)
        if before is turn:
            turns.append(turn)
        elif before.said.role != said.role:
            yield damaged("two messages have the same id")
        elif before.text != turn.text:
            before.text += turn.text  # an answer that is stored piece by piece


def _uid(head: Head, made: MadeUids, said: Said, text: str) -> str:
    """An id that stays when the message is written anew, or moves from a file to the database."""
    usable = usable_id(said.uid)
    given = _GIVEN.fullmatch(usable) if usable is not None else None
    if usable is not None and given is None:
        return usable
    owner = given[1] if given is not None else head.key
    return made.of(owner, str(said.role), _seconds(said.created), text)


def _told(head: Head, turns: list[_Turn]) -> Iterator[Record]:
    replaced: dict[str, str] = {}
    asked = False
    for number, turn in enumerate(turns):
        following = turns[number + 1] if number + 1 < len(turns) else None
        summary = _summary(turn, following)
        if summary:
            if not turn.said.copied:
                yield _message(head, turn, "summary", "summary", summary)
        elif _CONTINUING.match(turn.text.lstrip()) and not turn.typed:
            continue
        elif not turn.said.shown:
            if turn.typed and not turn.said.used:
                replaced[turn.text] = turn.uid
        elif not turn.typed:
            if not turn.said.copied:
                author: Author = "subagent" if head.task else "assistant"
                yield _message(head, turn, "assistant", author, turn.text)
        else:
            turn.uid = replaced.pop(turn.text, turn.uid)
            author = _who(head, turn.text, first=not asked)
            asked = True
            if not turn.said.copied:
                yield _message(head, turn, "user", author, turn.text)


def _summary(turn: _Turn, following: _Turn | None) -> str:
    """The summary that a message is; empty when it is none."""
    if turn.typed:
        continued = following is not None and not following.typed
        found = continued and following is not None and _CONTINUING.match(following.text.lstrip())
        return turn.text if found else ""
    if turn.said.shown:
        return ""
    behind = _CONTINUING.search(turn.text)
    return turn.text[: behind.start()].strip() if behind else ""


def _who(head: Head, text: str, *, first: bool) -> Author:
    if head.task:
        return "subagent"
    if head.kind not in _TYPED:
        return "program"
    return "program" if first and head.recipe and is_from(head.recipe, text) else "human"


def _message(head: Head, turn: _Turn, role: Role, author: Author, text: str) -> Record:
    said = turn.said
    return message(
        head.key,
        turn.uid,
        role,
        author,
        text,
        at=said.created,
        near=said.near if said.near is not None else head.created,
        model=None if role == "user" else head.model,
    )


def _seconds(value: object) -> str:
    """A time in whole seconds; some versions write milliseconds."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return ""
    return str(int(value) if value <= _SECONDS_BELOW else int(value // 1000))
