"""What a request wants of the memory: fields that are Cloxy's own, beside those of the API."""

from collections.abc import Mapping
from dataclasses import dataclass

from cloxy_hookspecs import SettingsView
from cloxy_plugins.model_api.fields import FieldError, flag_field, text_field, whole_field
from cloxy_plugins.model_api.settings import (
    CHAT_MEMORY,
    CHAT_MEMORY_TOKENS,
    CHAT_MEMORY_TOP_K,
    LEAST_TOKENS,
    MOST_MEMORIES,
    MOST_TOKENS,
)

LONGEST_NAME = 1024
"""Characters of a project or a session."""


@dataclass(frozen=True, slots=True)
class MemoryWish:
    """What a request wants of the memory.

    Attributes:
        wanted: whether the model is given memories.
        top_k: memories of one turn at most.
        project: only memories of this project; None for all.
        tokens: tokens that the memories of one turn take at most, estimated.
        store: whether the turn and its answer are kept.
        session: name under which they are kept; None for one made of the conversation.
    """

    wanted: bool
    top_k: int
    project: str | None
    tokens: int
    store: bool
    session: str | None


def memory_wish(body: Mapping[str, object], settings: SettingsView) -> MemoryWish:
    """Read `memory`, `memory_top_k`, `memory_project`, `memory_tokens` and `memory_store`.

    Args:
        body: the request; what it leaves open the settings decide.
        settings: values of settings.

    Raises:
        FieldError: a field has the wrong type or is out of range.
    """
    wanted = flag_field(body, "memory")
    top_k = whole_field(body, "memory_top_k", 1, MOST_MEMORIES)
    tokens = whole_field(body, "memory_tokens", LEAST_TOKENS, MOST_TOKENS)
    return MemoryWish(
        wanted=settings[CHAT_MEMORY] if wanted is None else wanted,
        top_k=settings[CHAT_MEMORY_TOP_K] if top_k is None else top_k,
        project=_name(body, "memory_project"),
        tokens=settings[CHAT_MEMORY_TOKENS] if tokens is None else tokens,
        store=flag_field(body, "memory_store") or False,
        session=_name(body, "memory_session"),
    )


def _name(body: Mapping[str, object], field: str) -> str | None:
    value = (text_field(body, field) or "").strip()
    if len(value) > LONGEST_NAME:
        raise FieldError(field, f"must have {LONGEST_NAME} characters at most")
    if any(character < " " or character == "\x7f" for character in value):
        raise FieldError(field, "must not hold control characters")
    return value or None
