"""The words and pictures in the content of a message."""

from collections.abc import Mapping

from cloxy_hookspecs.logs.google_parts import Part, is_whole, marks_in, spoken_parts, texts_in
from cloxy_hookspecs.logs.words import paragraphs
from cloxy_plugins.gemini_cli.human import human_words, without_files

Record = Mapping[str, object]

AGENTS = ("gemini", "qwen")
"""Types of messages of agents."""

THANKS = "Got it. Thanks for the additional context!"
"""What the CLI puts in the agent's mouth behind the summary of a history that was shortened."""

_STATE = "<state_snapshot"


def is_spoken(kind: object) -> bool:
    """Whether somebody speaks in messages of a type."""
    return kind == "user" or kind in AGENTS


def is_known(content: object) -> bool:
    """Whether a content has a known form, and each of its parts what its kind always has."""
    parts = content if isinstance(content, list) else [content]
    return all(isinstance(part, str) or is_whole(part) for part in parts)


def typed(record: Record) -> str:
    """What a person typed, and marks of what was attached.

    `displayContent` is what was typed where the CLI put more into the message.
    """
    shown = texts_in(_parts(record.get("displayContent")))
    parts = _parts(record.get("content"))
    texts = shown if any(text.strip() for text in shown) else texts_in(parts)
    words = [human_words(text) for text in without_files(texts)]
    return paragraphs([*words, marks_in(parts)])


def answered(record: Record) -> str:
    """What the agent said, without its thoughts."""
    parts = _parts(record.get("content"))
    return paragraphs([*texts_in(parts), marks_in(parts)])


def is_state(record: Record) -> bool:
    """Whether a message of the user is a summary by its own words."""
    texts = texts_in(_parts(record.get("content")))
    return bool(texts) and texts[0].lstrip().startswith(_STATE)


def _parts(content: object) -> list[Part]:
    parts = content if isinstance(content, list) else [content]
    return list(spoken_parts({"text": each} if isinstance(each, str) else each for each in parts))
