"""The words and pictures in the parts of a message."""

from collections.abc import Mapping

from cloxy_hookspecs.logs.google_parts import Part, is_whole, marks_in, spoken_parts, texts_in
from cloxy_hookspecs.logs.words import paragraphs
from cloxy_plugins.qwen_code.human import human_words, without_files

Record = Mapping[str, object]

_STATE = "<state_snapshot"


def has_parts(record: Record) -> bool:
    """Whether a record has a message of the known form."""
    message = record.get("message")
    return isinstance(message, Mapping) and isinstance(message.get("parts"), list)


def is_known(content: object) -> bool:
    """Whether each part of a content has what its kind always has."""
    parts = content.get("parts") if isinstance(content, Mapping) else None
    return isinstance(parts, list) and all(map(is_whole, parts))


def has_history(record: Record) -> bool:
    """Whether a record of a history that was shortened has one of the known form."""
    history = _payload(record).get("compressedHistory")
    return isinstance(history, list) and all(
        is_known(entry) and isinstance(entry.get("role"), str) for entry in history
    )


def typed(record: Record) -> str:
    """What a person typed, and marks of what was attached.

    Qwen Code notes the words as they were typed when it changed them; else they are the parts
    without what it put in.
    """
    shown = _payload(record).get("displayText")
    parts = _parts(record.get("message"))
    texts = [shown] if isinstance(shown, str) and shown.strip() else texts_in(parts)
    words = [human_words(text) for text in without_files(texts)]
    return paragraphs([*words, marks_in(parts)])


def answered(record: Record) -> str:
    """What the agent said, without its thoughts and its calls of tools."""
    parts = _parts(record.get("message"))
    return paragraphs([*texts_in(parts), marks_in(parts)])


def summarised(record: Record) -> str | None:
    """The summary at the head of a history that was shortened; None when there is none.

    Behind it stand the agent's thanks and the messages that were kept, which are in the log
    already.
    """
    history = _payload(record).get("compressedHistory")
    listed = history if isinstance(history, list) else []
    entries = [each for each in listed if isinstance(each, Mapping)]
    told = [(each.get("role"), paragraphs(texts_in(_parts(each)))) for each in entries]
    for role, text in told[:4]:
        if role == "user" and _STATE in text:
            return text
    if told and told[0][0] == "user" and (len(told) == 1 or told[1][0] == "model"):
        return human_words(told[0][1]) or None
    return None


def _payload(record: Record) -> Record:
    payload = record.get("systemPayload")
    return payload if isinstance(payload, Mapping) else {}


def _parts(content: object) -> list[Part]:
    parts = content.get("parts") if isinstance(content, Mapping) else None
    return list(spoken_parts(parts)) if isinstance(parts, list) else []
