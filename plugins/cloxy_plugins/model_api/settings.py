"""Settings of the model APIs."""

from collections.abc import Callable, Mapping
from typing import Any

from cloxy_hookspecs import Setting

_OFF = frozenset({"", "0", "false", "no", "off"})
_ON = frozenset({"1", "true", "yes", "on"})
PLACES = ("turn", "question", "system")
MOST_MEMORIES = 20
LEAST_TOKENS = 50
MOST_TOKENS = 100_000


def parse_switch(text: str) -> bool:
    """On or off.

    Raises:
        ValueError: it is neither.
    """
    word = text.strip().lower()
    if word in _ON or word in _OFF:
        return word in _ON
    raise ValueError("1 or 0")


def whole_number(least: int, most: int) -> Callable[[str], int]:
    """A parser of whole numbers between two bounds, both included."""

    def parse(text: str) -> int:
        word = text.strip()
        if word.isascii() and word.isdigit() and least <= int(word[:18]) <= most:
            return int(word)
        raise ValueError(f"a whole number from {least} to {most}")

    return parse


def parse_place(text: str) -> str:
    """Where the memories stand.

    Raises:
        ValueError: there is no such place.
    """
    word = text.strip().lower()
    if word in PLACES:
        return word
    raise ValueError("one of " + ", ".join(PLACES))


def parse_aliases(text: str) -> Mapping[str, str]:
    """Names of models and what they mean: `gpt-*=qwen2.5:7b, claude-haiku-*=small`.

    Raises:
        ValueError: a pair is none, a name comes twice, or a `*` is not at the end of a name.
    """
    aliases: dict[str, str] = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        name, equals, model = (piece.strip() for piece in part.partition("="))
        if not (name and equals and model):
            raise ValueError(f"name=model pairs, separated by commas; {part!r} is none")
        if "*" in name[:-1]:
            raise ValueError(f"a * only at the end of a name, unlike {name!r}")
        if name in aliases:
            raise ValueError(f"one model for {name!r}, not two")
        aliases[name] = model
    return aliases


CHAT_MEMORY: Setting[bool] = Setting(
    name="chat.memory",
    default=False,
    parse=parse_switch,
    help="Whether chats are given memories when the request does not say.",
    empty_is_value=True,
)
CHAT_MEMORY_TOP_K: Setting[int] = Setting(
    name="chat.memory_top_k",
    default=5,
    parse=whole_number(1, MOST_MEMORIES),
    help="Memories that a turn of a chat is given at most.",
)
CHAT_MEMORY_TOKENS: Setting[int] = Setting(
    name="chat.memory_tokens",
    default=1500,
    parse=whole_number(LEAST_TOKENS, MOST_TOKENS),
    help="Tokens that the memories of a turn take at most, estimated.",
)
CHAT_MEMORY_PLACE: Setting[str] = Setting(
    name="chat.memory_place",
    default="turn",
    parse=parse_place,
    help="Where memories stand: a turn of their own, ahead in the question, or the system message.",
)
MODEL_ALIASES: Setting[Mapping[str, str]] = Setting(
    name="model_api.aliases",
    env="CLOXY_MODEL_ALIASES",
    default={},
    parse=parse_aliases,
    help="Models behind names that clients send: name=model pairs; a name may end in *.",
)

SETTINGS: tuple[Setting[Any], ...] = (
    CHAT_MEMORY,
    CHAT_MEMORY_TOP_K,
    CHAT_MEMORY_TOKENS,
    CHAT_MEMORY_PLACE,
    MODEL_ALIASES,
)
