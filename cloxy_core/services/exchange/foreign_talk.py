"""Conversations of other services, in the shape that both kinds of export come to."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final, Literal, cast

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LAST: Final = 4_102_444_800_000
"""The year 2100 in milliseconds; what is said to be later is no time."""

_HALVES: Final = re.compile(r"[\ud800-\udfff]")
_ID: Final = re.compile(r"[\x21-\x7e]{1,200}")
Object = Mapping[str, object]


class NotUsableError(ValueError):
    """A conversation that cannot be taken; the words say why."""


@dataclass(frozen=True, slots=True)
class Said:
    """One message.

    Attributes:
        uid: the service's own id of it.
        role: whose it is.
        text: as it was said.
        at: milliseconds; None when the export does not say.
        model: of an assistant's message.
        approximate: whether `at` is the time of something near it.
    """

    uid: str
    role: Literal["user", "assistant"]
    text: str
    at: int | None
    model: str | None = None
    approximate: bool = False


@dataclass(frozen=True, slots=True)
class Talk:
    """One conversation.

    Attributes:
        key: the service's own id of it.
        title: None when it has none.
        said: in the order of the conversation, each id once.
    """

    key: str
    title: str | None
    said: Sequence[Said]


def talk(key: str | None, title: str | None, said: Sequence[Said], begun: int | None) -> Talk:
    """A conversation of which every id stands once and every time is known where one is near.

    Args:
        key: its id.
        title: its title, or something empty.
        said: its messages, in order.
        begun: when it began, milliseconds.

    Raises:
        NotUsableError: it has no id, or one in it is none.
    """
    if not key:
        raise NotUsableError("it has no id")
    if not all(_ID.fullmatch(each) for each in (key, *(one.uid for one in said))):
        raise NotUsableError("an id in it is longer than 200 characters, or holds unusual ones")
    once = {each.uid: each for each in reversed(said) if each.text.strip()}
    kept = [each for each in said if once.get(each.uid) is each]
    return Talk(key, (title or "").strip() or None, _timed(kept, begun))


def _timed(said: Sequence[Said], begun: int | None) -> Sequence[Said]:
    """Give what has no time that of the message before it, else of the one after it."""
    near = next((each.at for each in said if each.at is not None), None)
    last = begun if begun is not None else near
    timed: list[Said] = []
    for each in said:
        if each.at is not None:
            last = each.at
            timed.append(each)
        else:
            timed.append(replace(each, at=last, approximate=last is not None))
    return timed


def mapping(value: object) -> Object:
    """An object; empty for anything else."""
    return cast("Object", value) if isinstance(value, dict) else {}


def items(value: object) -> Sequence[object]:
    """A list; empty for anything else."""
    return cast("Sequence[object]", value) if isinstance(value, list) else ()


def string(value: object) -> str | None:
    """A text, without halves of characters; None for anything else and for nothing."""
    return _HALVES.sub("\ufffd", value) if isinstance(value, str) and value else None


def time_of(value: object) -> int | None:
    """Milliseconds of seconds since the epoch or of ISO 8601; None for anything else."""
    found: float | None = None
    if isinstance(value, int | float) and not isinstance(value, bool):
        if not -_LAST < value < _LAST or not math.isfinite(value):
            return None
        found = round(value * 1000)
    elif isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
            moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
            found = (moment - _EPOCH) // timedelta(milliseconds=1)
        except (ValueError, OverflowError):
            return None
    return int(found) if found is not None and 0 < found < _LAST else None
