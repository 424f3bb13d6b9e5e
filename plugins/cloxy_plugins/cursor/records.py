"""Values of records."""

_TEXT_LIMIT = 200
_NUMBER_LIMIT = 2**53


def time_of(value: object) -> int | float | str | None:
    """A value that may be a time; whether it can be is the parser's to say."""
    if isinstance(value, str) and len(value) < _TEXT_LIMIT:
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value if abs(value) < _NUMBER_LIMIT else None
