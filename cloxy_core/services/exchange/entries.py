"""Lines that were checked, field by field, as values."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, cast, get_args

from cloxy_core.services.exchange.form import FORMAT, VERSION, read_time
from cloxy_core.services.redaction import redact
from cloxy_hookspecs import (
    Author,
    InputError,
    Kind,
    Message,
    Relation,
    Role,
    SessionFacts,
    Tier,
)

_NAME_LIMIT: Final = 1024
_LABEL_LIMIT: Final = 8192
_RANK_LIMIT: Final = 1000
_COUNT_LIMIT: Final = 1 << 53
_UNPRINTABLE: Final = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


class FieldTrouble(ValueError):
    """A field that is not what it has to be; the words name it."""


@dataclass(frozen=True, slots=True)
class SessionEntry:
    """A session; times are milliseconds."""

    line: int
    agent: str
    facts: SessionFacts
    project: str | None
    started: int | None
    ended: int | None


@dataclass(frozen=True, slots=True)
class MessageEntry:
    """A message, and the name of the file that it was read from.

    Its origin is None for what was said; sources that read notes have one of their own.
    """

    line: int
    agent: str
    message: Message
    named: bool
    source: str | None
    origin: str | None = None


@dataclass(frozen=True, slots=True)
class NoteEntry:
    """A note, or another text that is no part of a session; its time is milliseconds.

    Its sort of knowledge and its tier are None where the origin says them.
    """

    line: int
    uid: str
    origin: str | None
    text: str
    source: str
    part: int
    project: str | None
    metadata: Mapping[str, object]
    at: int | None
    knowledge: Kind | None = None
    tier: Tier | None = None


@dataclass(frozen=True, slots=True)
class EndEntry:
    """How many lines of each kind the file has."""

    sessions: int
    messages: int
    notes: int


def check_header(value: Mapping[str, object], name: str) -> None:
    """Return when a first line is the header of a file that can be read.

    Raises:
        InputError: it is not.
    """
    if value.get("kind") != "header" or value.get("format") != FORMAT:
        raise InputError(
            f"{name} is not an export of Cloxy: its first line is no header of {FORMAT}",
            hint="`cloxy export FILE` makes such a file",
        )
    version = value.get("version")
    if type(version) is not int or version < 1:
        raise InputError(
            f"{name}:1: version: is not a number from 1", hint="the file was changed; export again"
        )
    if version > VERSION:
        raise InputError(
            f"{name} has version {version} of the format, and this Cloxy reads {VERSION}",
            hint="upgrade Cloxy on this machine, then import again",
        )


def read_session(line: int, value: Mapping[str, object]) -> SessionEntry:
    """A session of a line.

    Raises:
        FieldTrouble: a field is wrong.
    """
    facts = SessionFacts(
        key=_name(value, "key"),
        parent=_name(value, "parent") if value.get("parent") is not None else None,
        cwd=_label(value, "cwd"),
        branch=_label(value, "branch"),
        title=_label(value, "title"),
        title_rank=_count(value, "title_rank", _RANK_LIMIT, 0),
        program=_flag(value, "program"),
        relation=_relation(value),
    )
    project = _label(value, "project")
    return SessionEntry(
        line, _name(value, "agent"), facts, project, _time(value, "started"), _time(value, "ended")
    )


def read_message(line: int, value: Mapping[str, object]) -> MessageEntry:
    """A message of a line.

    Raises:
        FieldTrouble: a field is wrong.
    """
    named = value.get("uid") is not None
    message = Message(
        uid=_name(value, "uid") if named else "",
        session=_name(value, "session"),
        role=cast("Role", _choice(value, "role", get_args(Role))),
        author=cast("Author", _choice(value, "author", get_args(Author))),
        text=_text(value),
        at=_time(value, "time"),
        start=line,
        end=line + 1,
        branch=_label(value, "branch"),
        model=_label(value, "model"),
        approximate=_flag(value, "approximate"),
    )
    origin = _name(value, "origin") if value.get("origin") is not None else None
    return MessageEntry(
        line, _name(value, "agent"), message, named, _label(value, "source"), origin
    )


def read_note(line: int, value: Mapping[str, object]) -> NoteEntry:
    """A note of a line.

    Raises:
        FieldTrouble: a field is wrong.
    """
    metadata = value.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        raise FieldTrouble("metadata: is not an object")
    return NoteEntry(
        line=line,
        uid=_name(value, "uid"),
        origin=_name(value, "origin") if value.get("origin") is not None else None,
        text=_text(value),
        source=_label(value, "source") or "manual:chunk0",
        part=_count(value, "part", _COUNT_LIMIT, 0),
        project=_label(value, "project"),
        metadata=cast("Mapping[str, object]", metadata or {}),
        at=_time(value, "time"),
        knowledge=cast("Kind | None", _known(value, "memory_kind", get_args(Kind))),
        tier=cast("Tier | None", _known(value, "tier", get_args(Tier))),
    )


def read_end(value: Mapping[str, object]) -> EndEntry:
    """The counts of the last line.

    Raises:
        FieldTrouble: a field is wrong.
    """
    return EndEntry(
        *(_count(value, name, _COUNT_LIMIT, None) for name in ("sessions", "messages", "notes"))
    )


def _string(value: Mapping[str, object], name: str) -> str:
    found = value.get(name)
    if not isinstance(found, str):
        raise FieldTrouble(f"{name}: is missing" if found is None else f"{name}: is not a string")
    return found


def _name(value: Mapping[str, object], name: str) -> str:
    """An identifier, which is kept exactly as it is and therefore must be harmless."""
    found = _string(value, name)
    if not found.strip():
        raise FieldTrouble(f"{name}: is empty")
    if len(found) > _NAME_LIMIT:
        raise FieldTrouble(f"{name}: is longer than {_NAME_LIMIT:,} characters")
    if _UNPRINTABLE.search(found):
        raise FieldTrouble(f"{name}: holds a control character or half of a character")
    if redact(found).counts:
        raise FieldTrouble(f"{name}: holds what looks like a secret")
    return found


def _label(value: Mapping[str, object], name: str) -> str | None:
    if value.get(name) is None:
        return None
    found = _string(value, name)
    if len(found) > _LABEL_LIMIT:
        raise FieldTrouble(f"{name}: is longer than {_LABEL_LIMIT:,} characters")
    return found or None


def _text(value: Mapping[str, object]) -> str:
    found = _string(value, "text")
    if not found.strip():
        raise FieldTrouble("text: is empty")
    return found


def _choice(value: Mapping[str, object], name: str, choices: tuple[str, ...]) -> str:
    found = _string(value, name)
    if found not in choices:
        raise FieldTrouble(f"{name}: is none of {', '.join(choices)}")
    return found


def _known(value: Mapping[str, object], name: str, choices: tuple[str, ...]) -> str | None:
    """One of some words; None for anything else, since a newer version may have more of them."""
    found = value.get(name)
    return found if isinstance(found, str) and found in choices else None


def _relation(value: Mapping[str, object]) -> Relation | None:
    if value.get("relation") is None:
        return None
    return cast("Relation", _choice(value, "relation", get_args(Relation)))


def _count(value: Mapping[str, object], name: str, most: int, default: int | None) -> int:
    found = value.get(name, default)
    if type(found) is not int:
        raise FieldTrouble(f"{name}: is not a whole number")
    if not 0 <= found <= most:
        raise FieldTrouble(f"{name}: is not between 0 and {most:,}")
    return found


def _flag(value: Mapping[str, object], name: str) -> bool:
    found = value.get(name, False)
    if not isinstance(found, bool):
        raise FieldTrouble(f"{name}: is neither true nor false")
    return found


def _time(value: Mapping[str, object], name: str) -> int | None:
    if value.get(name) is None:
        return None
    try:
        return read_time(_string(value, name))
    except FieldTrouble:
        raise
    except (ValueError, OverflowError):
        raise FieldTrouble(f"{name}: is not a time such as 2026-05-08T13:56:00.000Z") from None
