"""Fields of the JSON bodies that clients send; a wrong one is told by its name."""

import json
import math
from collections.abc import Mapping
from typing import cast

from cloxy_hookspecs import InputError

MOST_MESSAGES = 20_000
MOST_TOOLS = 2_000
"""More than clients send; each is looked at several times, and the server waits meanwhile."""
_LONE_SURROGATES = dict.fromkeys(range(55296, 57344), 65533)


class FieldError(InputError):
    """A field cannot be used.

    Attributes:
        param: name of the field, as a path such as `messages[0].content`.
    """

    code = "validation"

    def __init__(self, param: str, problem: str, *, hint: str | None = None) -> None:
        super().__init__(f"{param}: {problem}", hint=hint)
        self.param = param


def json_object(body: bytes) -> dict[str, object]:
    """The fields of a body.

    Raises:
        InputError: it is no JSON object in UTF-8.
    """
    try:
        value = _mended(json.loads(body.decode("utf-8-sig"), parse_constant=_refuse_constant))
    except (ValueError, RecursionError) as error:
        raise InputError("The body is not JSON.", hint="Send one JSON object in UTF-8.") from error
    if not isinstance(value, dict):
        raise InputError("The body must be a JSON object.", hint="Send one JSON object in UTF-8.")
    return cast("dict[str, object]", value)


def object_field(value: object, param: str) -> Mapping[str, object]:
    """A JSON object.

    Raises:
        FieldError: it is none.
    """
    if not isinstance(value, dict):
        raise FieldError(param, f"must be an object, not {kind(value)}")
    return cast("Mapping[str, object]", value)


def list_field(value: object, param: str, most: int | None = None) -> list[object]:
    """A JSON list, of at most so many items.

    Raises:
        FieldError: it is none, or longer.
    """
    if not isinstance(value, list):
        raise FieldError(param, f"must be a list, not {kind(value)}")
    items = cast("list[object]", value)
    if most is not None and len(items) > most:
        raise FieldError(param, f"must hold {most:,} at most")
    return items


def text_field(body: Mapping[str, object], name: str, prefix: str = "") -> str | None:
    """A text; None when it is absent or null.

    Raises:
        FieldError: it is something else.
    """
    value = body.get(name)
    if value is None or isinstance(value, str):
        return value
    raise FieldError(prefix + name, f"must be a string, not {kind(value)}")


def flag_field(body: Mapping[str, object], name: str, prefix: str = "") -> bool | None:
    """True or false; None when it is absent or null.

    Raises:
        FieldError: it is something else.
    """
    value = body.get(name)
    if value is None or isinstance(value, bool):
        return value
    raise FieldError(prefix + name, f"must be true or false, not {kind(value)}")


def number_field(body: Mapping[str, object], name: str, least: float, most: float) -> float | None:
    """A number between two bounds, both included; None when it is absent or null.

    Raises:
        FieldError: it is something else.
    """
    value = body.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise FieldError(name, f"must be a number, not {kind(value)}")
    if not least <= value <= most:
        raise FieldError(name, f"must be from {least:g} to {most:g}")
    return float(value)


def whole_field(
    body: Mapping[str, object], name: str, least: int, most: int | None = None
) -> int | None:
    """A whole number, at least `least` and at most `most`; None when it is absent or null.

    Raises:
        FieldError: it is something else.
    """
    value = body.get(name)
    if value is None:
        return None
    if isinstance(value, float) and math.isfinite(value) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise FieldError(name, f"must be a whole number, not {kind(value)}")
    if value < least or (most is not None and value > most):
        limit = "or more" if most is None else f"to {most}"
        raise FieldError(name, f"must be {least} {limit}")
    return value


def kind(value: object) -> str:
    """What sort of JSON value it is, in words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    names = {str: "a string", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return names.get(type(value), "something else")


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def _mended(value: object) -> object:
    """The value with halves of surrogate pairs replaced, which no text in UTF-8 can hold."""
    if isinstance(value, str):
        return value if value.isascii() else value.translate(_LONE_SURROGATES)
    if isinstance(value, list):
        return [_mended(item) for item in cast("list[object]", value)]
    if isinstance(value, dict):
        items = cast("dict[str, object]", value).items()
        return {cast("str", _mended(key)): _mended(item) for key, item in items}
    return value
