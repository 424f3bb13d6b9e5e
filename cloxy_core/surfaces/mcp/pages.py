"""Long answers in parts.

The answer is kept for a while when its first part goes out, and a cursor names a place in it: so
the parts fit together whatever happens in the meantime, nothing comes twice, and an operation that
changes something runs once. When something was changed by anybody, what is kept is dropped, so
that what was forgotten is not told again.
"""

import base64
import binascii
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from pydantic import BaseModel

from cloxy_hookspecs import InputError

MOST_KEPT: Final = 32
MOST_CHARACTERS: Final = 16_000_000
KEPT_SECONDS: Final = 600.0

_AGAIN: Final = "call the tool again without the cursor"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a part begins: an item of the list, and a window of that item when it is too long."""

    item: int = 0
    window: int = 0


@dataclass(frozen=True, slots=True)
class Piece:
    """One item of an answer, ready to be shown.

    Attributes:
        text: the item as text, neutral.
        value: the item as JSON, neutral.
        size: characters of `value` as JSON.
    """

    text: str
    value: object
    size: int


@dataclass(frozen=True, slots=True)
class Kept:
    """An answer of which parts are still to come.

    Attributes:
        id: names it in cursors.
        tool: the tool that gave it.
        arguments: what it was asked, the cursor apart.
        output: the answer.
        rest: the answer as JSON without its items, neutral.
        pieces: its items.
        at: when it was given, seconds of the clock.
    """

    id: str
    tool: str
    arguments: Mapping[str, object]
    output: BaseModel
    rest: Mapping[str, object]
    pieces: Sequence[Piece]
    at: float = 0.0

    @property
    def size(self) -> int:
        """Characters that it takes, about."""
        return sum(len(piece.text) + piece.size for piece in self.pieces)


class Shelf:
    """Answers that are kept, bounded by number, size and time."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: OrderedDict[str, Kept] = OrderedDict()
        self.cleared = 0
        """How often everything was dropped."""

    def put(self, kept: Kept, asked: int) -> None:
        """Keep an answer; the oldest ones make room.

        Args:
            kept: the answer.
            asked: what `cleared` was when it was asked for. One that was on its way while all
                was dropped is not kept: it may quote what was forgotten.
        """
        if asked != self.cleared:
            return
        self._kept[kept.id] = replace(kept, at=self._clock())
        while len(self._kept) > MOST_KEPT or (len(self._kept) > 1 and self._too_much()):
            self._kept.popitem(last=False)

    def clear(self) -> None:
        """Drop everything."""
        self.cleared += 1
        self._kept.clear()

    def find(self, cursor: str, tool: str, arguments: Mapping[str, object]) -> tuple[Kept, Place]:
        """The answer and the place that a cursor names.

        Raises:
            InputError: the cursor is no cursor, too old, or of another tool or question.
        """
        id_, place = read_cursor(cursor)
        self._drop_old()
        kept = self._kept.get(id_)
        if kept is None:
            raise InputError(
                "this cursor no longer leads anywhere: the answer it belongs to is too old, "
                "something was changed since, or the server was started anew",
                hint=_AGAIN,
            )
        if kept.tool != tool:
            raise InputError(f"this cursor is one of the tool {kept.tool!r}", hint=_AGAIN)
        if any(kept.arguments.get(name) != value for name, value in arguments.items()):
            raise InputError(
                "this cursor belongs to a call with other arguments",
                hint=f"repeat those arguments, or {_AGAIN}",
            )
        if not 0 <= place.item < len(kept.pieces):
            raise InputError("this cursor names no place in its answer", hint=_AGAIN)
        return kept, place

    def _too_much(self) -> bool:
        return sum(kept.size for kept in self._kept.values()) > MOST_CHARACTERS

    def _drop_old(self) -> None:
        oldest = self._clock() - KEPT_SECONDS
        for id_ in [id_ for id_, kept in self._kept.items() if kept.at < oldest]:
            del self._kept[id_]


def new_id() -> str:
    """A name for an answer that nobody can guess."""
    return secrets.token_hex(16)


def write_cursor(id_: str, place: Place) -> str:
    """A cursor for a place in an answer."""
    plain = f"{id_}.{place.item}.{place.window}"
    return base64.urlsafe_b64encode(plain.encode()).decode().rstrip("=")


def read_cursor(cursor: str) -> tuple[str, Place]:
    """What a cursor names.

    Raises:
        InputError: it is none of ours.
    """
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        plain = base64.b64decode(padded, altchars=b"-_", validate=True).decode("ascii")
        id_, item, window = plain.split(".")
        if not (item.isdecimal() and window.isdecimal() and len(plain) < 100):
            raise ValueError(plain)
        return id_, Place(int(item), int(window))
    except (binascii.Error, UnicodeError, ValueError) as error:
        raise InputError(
            "this is no cursor", hint=f"give a next_cursor unchanged, or {_AGAIN}"
        ) from error
