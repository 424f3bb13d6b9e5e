"""Settings of the server of models."""

from typing import Any

from cloxy_hookspecs import Setting
from cloxy_plugins.llm_http.address import Address, parse_address

_OFF = frozenset({"", "0", "false", "no", "off"})
_ON = frozenset({"1", "true", "yes", "on"})
MOST_SECONDS = 3600.0


def parse_switch(text: str) -> bool:
    """On or off.

    Raises:
        ValueError: it is neither.
    """
    word = text.strip().lower()
    if word in _ON or word in _OFF:
        return word in _ON
    raise ValueError("1 or 0")


def parse_seconds(text: str) -> float:
    """A time limit in seconds.

    Raises:
        ValueError: it is none.
    """
    seconds = float(text)
    if not 0 < seconds <= MOST_SECONDS:
        raise ValueError(f"seconds, more than 0 and at most {MOST_SECONDS:g}")
    return seconds


def parse_key(text: str) -> str:
    """A key that can be sent in a header.

    Raises:
        ValueError: it cannot; what it is is not told.
    """
    key = text.strip()
    if not (key.isascii() and key.isprintable()):
        raise ValueError("a key of printable ASCII characters on one line")
    return key


def parse_base_url(text: str) -> Address | None:
    """The address; None for an empty text.

    Raises:
        ValueError: it is none.
    """
    return parse_address(text) if text.strip() else None


BASE_URL: Setting[Address | None] = Setting(
    name="llm_http.base_url",
    env="CLOXY_LLM_BASE_URL",
    default=None,
    parse=parse_base_url,
    help="Server of models that speaks the OpenAI API, for example http://localhost:11434/v1.",
)
MODEL: Setting[str] = Setting(
    name="llm_http.model",
    env="CLOXY_LLM_MODEL",
    default="",
    parse=str.strip,
    help="Which of the server's models answers; empty for the first that it lists.",
)
API_KEY: Setting[str] = Setting(
    name="llm_http.api_key",
    env="CLOXY_LLM_API_KEY",
    default="",
    parse=parse_key,
    help="Key that the server of models wants.",
    secret=True,
)
ALLOW_REMOTE: Setting[bool] = Setting(
    name="llm_http.allow_remote",
    env="CLOXY_LLM_ALLOW_REMOTE",
    default=False,
    parse=parse_switch,
    help="Whether conversations, with memories in them, may be sent to a model off this machine.",
    empty_is_value=True,
)
CONNECT_SECONDS: Setting[float] = Setting(
    name="llm_http.connect_seconds",
    default=5.0,
    parse=parse_seconds,
    help="Seconds within which the server of models must take a connection.",
)
SILENT_SECONDS: Setting[float] = Setting(
    name="llm_http.silent_seconds",
    default=300.0,
    parse=parse_seconds,
    help="Seconds that the server of models may be silent, loading a model and reading included.",
)

SETTINGS: tuple[Setting[Any], ...] = (
    BASE_URL,
    MODEL,
    API_KEY,
    ALLOW_REMOTE,
    CONNECT_SECONDS,
    SILENT_SECONDS,
)
