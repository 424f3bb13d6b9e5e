"""Answers without characters that hide or reorder, and without anything that looks like a fence."""

import json

from cloxy_core.escaping import escape
from cloxy_core.services.echo import unlike_fence


def neutral_text(text: str) -> str:
    """A text in which everything is seen, and nothing looks like the lines of a fence."""
    return unlike_fence(escape(text, lines=True))


def neutral_value(value: object) -> object:
    """A JSON value whose texts, names of members among them, are made so too."""
    if isinstance(value, str):
        return neutral_text(value)
    if isinstance(value, list):
        return [neutral_value(item) for item in value]
    if isinstance(value, dict):
        return {neutral_text(str(key)): neutral_value(item) for key, item in value.items()}
    return value


def as_json(value: object) -> str:
    """A value as a person reads JSON."""
    return json.dumps(value, ensure_ascii=False, indent=2)
