"""Cells of databases of others, as values of a known kind; any of them may hold anything."""

import math
from collections.abc import Mapping
from typing import Final, cast

from cloxy_core.services.exchange.foreign_talk import string
from cloxy_hookspecs.logs.instants import instant
from cloxy_hookspecs.logs.json_values import decode

LATEST: Final = 4_102_444_800_000
"""The year 2100 in milliseconds; what is said to be later is no time."""

_JSON_LIMIT: Final = 1 << 20


def text_of(value: object) -> str | None:
    """A text, without halves of characters; None for anything else, and for blanks."""
    found = string(value)
    return found if found is not None and found.strip() else None


def whole(value: object) -> int | None:
    """A whole number; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def number(value: object) -> int | float | None:
    """A number that JSON can write; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if math.isfinite(value) else None


def flag(value: object) -> bool | None:
    """Whether a cell says yes, as 0 or 1; None when it says neither."""
    return value == 1 if whole(value) in (0, 1) else None


def moment(value: object) -> int | None:
    """Milliseconds of a time as text (UTC when it says no offset) or number; else None."""
    return instant(value, LATEST)


def json_of(value: object) -> object:
    """The value of a cell that holds JSON; the text itself when it is none, None for nothing."""
    text = text_of(value)
    if text is None:
        return None
    if len(text) > _JSON_LIMIT:
        return text
    try:
        return decode(text)
    except (ValueError, RecursionError):
        return text


def json_object(value: object) -> Mapping[str, object]:
    """The object in a cell that holds JSON; empty for anything else."""
    found = json_of(value)
    return cast("Mapping[str, object]", found) if isinstance(found, dict) else {}


def json_list(value: object) -> list[object]:
    """The list in a cell that holds JSON; empty for anything else."""
    found = json_of(value)
    return cast("list[object]", found) if isinstance(found, list) else []


def stated(values: Mapping[str, object]) -> dict[str, object]:
    """What is said of something: without names for which nothing is known, or that are empty."""
    return {
        name: value
        for name, value in values.items()
        if value is not None and value not in ("", [], {})
    }
