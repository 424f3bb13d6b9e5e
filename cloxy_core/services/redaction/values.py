"""Cleaning JSON-like metadata: every string, and whatever stands under a secret name."""

from collections import Counter
from collections.abc import Mapping
from typing import TypeAlias

from cloxy_core.services.redaction.assignments import Name, is_named_secret, name_of
from cloxy_core.services.redaction.redactor import MARKER, Redactor

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
MAX_DEPTH = 100


def clean_value(redactor: Redactor, value: JsonValue) -> tuple[JsonValue, Mapping[str, int]]:
    """Clean every string of a JSON-like value, keys included.

    A string under a key such as `password` is judged by that key as well. Keys that become
    equal by cleaning are kept apart by a number sign and a counter.

    Raises:
        ValueError: The value is nested deeper than `MAX_DEPTH` levels.
    """
    counts: Counter[str] = Counter()
    return _clean(redactor, value, None, counts, MAX_DEPTH), dict(counts)


def _clean(
    redactor: Redactor, value: JsonValue, name: Name | None, counts: Counter[str], depth: int
) -> JsonValue:
    if depth < 0:
        raise ValueError(f"metadata is nested deeper than {MAX_DEPTH} levels: flatten it")
    if isinstance(value, str):
        return _clean_string(redactor, value, name, counts)
    if isinstance(value, list):
        return [_clean(redactor, item, name, counts, depth - 1) for item in value]
    if isinstance(value, dict):
        return _clean_object(redactor, value, counts, depth)
    if name is Name.PASSWORD and type(value) is int and abs(value) > 999:
        return _clean_string(redactor, str(value), name, counts)
    return value


def _clean_object(
    redactor: Redactor, value: dict[str, JsonValue], counts: Counter[str], depth: int
) -> dict[str, JsonValue]:
    cleaned: dict[str, JsonValue] = {}
    for key, item in value.items():
        clean_key = _clean_string(redactor, key, None, counts)
        unique, copies = clean_key, 1
        while unique in cleaned:
            copies += 1
            unique = f"{clean_key}#{copies}"
        cleaned[unique] = _clean(redactor, item, name_of(key), counts, depth - 1)
    return cleaned


def _clean_string(redactor: Redactor, text: str, name: Name | None, counts: Counter[str]) -> str:
    cleaned = redactor.clean(text)
    counts.update(cleaned.counts)
    if name is None or MARKER.search(cleaned.text) or not is_named_secret(name, cleaned.text):
        return cleaned.text
    counts[name.value] += 1
    return f"[REDACTED:{name.value}]"
