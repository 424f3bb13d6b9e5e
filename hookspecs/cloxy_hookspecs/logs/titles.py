"""Titles of sessions, and which of them wins."""

NAMED = 4
"""Rank of a name that a person or the agent gave."""

LISTED = 3
"""Rank of a name from a list beside the session, or of one that the agent makes up."""

SUMMARY = 2
"""Rank of a summary, which is rather long."""

FIRST_WORDS = 1
"""Rank of the first words that were said."""

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


def title_of_name(name: str) -> str:
    """A name that a session was given, on one line, within reason."""
    return " ".join(name[: 20 * _LIMIT].split())[:_LIMIT]
