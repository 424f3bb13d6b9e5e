"""Texts of clients that no database could store."""

import re

SURROGATE = re.compile(r"[\ud800-\udfff]")


def mended(value: object) -> object:
    """A JSON value whose texts can be stored: lone surrogates are replaced by U+FFFD."""
    if isinstance(value, str):
        return SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [mended(item) for item in value]
    if isinstance(value, dict):
        return {mended(key): mended(item) for key, item in value.items()}
    return value
