"""Titles that are none."""

import re

_PLACEHOLDER = re.compile(r"\s*(?:(?:New|Child) session\b.{0,3}\d{4}-\d\d-\d\d[T ]|\Z)", re.I)


def is_placeholder(title: str) -> bool:
    """Whether a title is only what a session is called before it has one."""
    return _PLACEHOLDER.match(title) is not None
