"""Titles of sessions, and which of them wins."""

CUSTOM = 5
GENERATED = 4
AGENT = 3
SUMMARY = 2
FIRST_WORDS = 1

_LENGTH = 80
_LIMIT = 200


def title_of_words(text: str) -> str:
    """A title made of the first words that were said: one line of about 80 characters."""
    line = " ".join(text[: 20 * _LENGTH].split())
    if len(line) <= _LENGTH:
        return line
    cut = line[:_LENGTH]
    # Languages without spaces are cut where the length ends.
    return (cut.rsplit(" ", 1)[0] if " " in cut[_LENGTH // 2 :] else cut) + "…"


def title_of_record(text: str) -> str:
    """A recorded title on one line, within reason."""
    return " ".join(text[: 20 * _LIMIT].split())[:_LIMIT]
