"""Places in the list of sessions, written so that nobody reads more into them."""

import base64
import binascii
import hashlib
import json
from dataclasses import dataclass
from typing import Final

from cloxy_hookspecs import InputError

_AGAIN: Final = "ask again without the cursor"


@dataclass(frozen=True, slots=True)
class Place:
    """The session after which the list goes on.

    Attributes:
        at: when its last message was said, milliseconds; 0 when unknown.
        id: its row.
    """

    at: int
    id: int


def mark_of(*filters: object) -> str:
    """A short name of filters, by which a cursor is known to belong to them."""
    return hashlib.sha256(json.dumps(filters).encode()).hexdigest()[:16]


def write_cursor(place: Place, mark: str) -> str:
    """A cursor for a place in the list that some filters give."""
    plain = f"{mark}.{place.at}.{place.id}"
    return base64.urlsafe_b64encode(plain.encode()).decode().rstrip("=")


def read_cursor(cursor: str, mark: str) -> Place:
    """The place that a cursor names.

    Raises:
        InputError: it is none of ours, or belongs to other filters.
    """
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        plain = base64.b64decode(padded, altchars=b"-_", validate=True).decode("ascii")
        belongs_to, at, id_ = plain.split(".")
        place = Place(_whole(at), _whole(id_))
    except (binascii.Error, UnicodeError, ValueError) as error:
        raise InputError("this is no cursor", hint=f"give a next unchanged, or {_AGAIN}") from error
    if belongs_to != mark:
        raise InputError(
            "this cursor belongs to other filters", hint=f"repeat those filters, or {_AGAIN}"
        )
    return place


def _whole(text: str) -> int:
    number = int(text)
    if not -(2**63) <= number < 2**63:
        raise ValueError(text)
    return number
