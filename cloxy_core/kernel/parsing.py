"""From text to a value: what the environment and the command line give is always text.

Every parser raises ValueError with words that complete "wants …". Imports only the standard
library, so that thin commands can use it. A parser that makes a list says by its `separator`
how several values are written in one text; a list in config.toml is accepted for it alone.
"""

import math
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"", "0", "false", "no", "off"})
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_HOST_NAME = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*\.?")
_HOST_ENTRY = re.compile(r"([a-z0-9][a-z0-9._-]*|\[[0-9a-f:.]+\])(:(?P<port>[0-9]{1,5}))?")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def parse_flag(text: str) -> bool:
    """Yes or no: `1 true yes on`, or `0 false no off` and nothing at all, in any case."""
    word = text.strip().lower()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise ValueError("1, true, yes or on; or 0, false, no or off")


def parse_text(text: str) -> str:
    """Any text on one line, without the spaces around it."""
    if _CONTROL.search(text.strip()):
        raise ValueError("text without line breaks or other control characters")
    return text.strip()


def parse_header(text: str) -> str:
    """Text that can be sent as the value of an HTTP header."""
    if not all(" " <= character <= "~" for character in text.strip()) or not text.strip():
        raise ValueError("some text of plain ASCII characters on one line")
    return text.strip()


def parse_secret(text: str) -> str:
    """A key as it is; one that could never arrive in an HTTP header is refused."""
    if not all(" " <= character <= "~" or character > "\x9f" for character in text):
        raise ValueError("a key without line breaks or other control characters")
    if text != text.strip():
        raise ValueError("a key without spaces around it")
    return text


def parse_path(text: str) -> Path:
    """A path, with `~` expanded, made absolute."""
    if "\0" in text:
        raise ValueError("a path without NUL characters")
    try:
        return Path(text).expanduser().absolute()
    except RuntimeError:
        raise ValueError("a path whose home folder (~) exists") from None


def parse_host(text: str) -> str:
    """An address or a host name to listen on, without scheme and port."""
    host = text.strip()
    wanted = "an address or a host name without a port, for example 127.0.0.1"
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    try:
        return str(ip_address(host)) if ":" in host else _host_name(host)
    except ValueError:
        raise ValueError(wanted) from None


def parse_url(text: str) -> str:
    """The `http` or `https` address of a server, without a slash at its end."""
    wanted = "an address like http://127.0.0.1:9055"
    address = text.strip().rstrip("/")
    try:
        parts = urlsplit(address)
        usable = bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise ValueError(wanted) from None
    if parts.scheme not in ("http", "https") or not usable or _CONTROL.search(address):
        raise ValueError(wanted)
    if parts.username is not None or parts.query or parts.fragment or " " in address:
        raise ValueError(wanted + ", without user name, query and fragment")
    return address


@dataclass(frozen=True, slots=True)
class WholeNumber:
    """Parses a whole number.

    Attributes:
        minimum: least value.
        maximum: greatest value; None for no limit.
    """

    minimum: int
    maximum: int | None = None

    def __call__(self, text: str) -> int:
        """The number."""
        word = text.strip()
        if _INTEGER.fullmatch(word):
            value = int(word)
            if value >= self.minimum and (self.maximum is None or value <= self.maximum):
                return value
        limit = "up" if self.maximum is None else f"to {self.maximum}"
        raise ValueError(f"a whole number from {self.minimum} {limit}")


@dataclass(frozen=True, slots=True)
class Amount:
    """Parses a number that is not negative.

    Attributes:
        maximum: greatest value.
    """

    maximum: float

    def __call__(self, text: str) -> float:
        """The number."""
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if 0 <= value <= self.maximum:
            return value
        raise ValueError(f"a number from 0 to {self.maximum:g}")


@dataclass(frozen=True, slots=True)
class Seconds:
    """Parses a time in seconds, greater than zero.

    Attributes:
        maximum: greatest value.
    """

    maximum: float = 86_400.0

    def __call__(self, text: str) -> float:
        """The seconds."""
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if 0 < value <= self.maximum:
            return value
        raise ValueError(f"seconds, a number greater than 0 and at most {self.maximum:g}")


@dataclass(frozen=True, slots=True)
class OneOf:
    """Parses one of a few words, in any case.

    Attributes:
        choices: the words, in lower case.
    """

    choices: tuple[str, ...]

    def __call__(self, text: str) -> str:
        """The word, in lower case."""
        word = text.strip().lower()
        if word in self.choices:
            return word
        raise ValueError("one of " + ", ".join(self.choices))


@dataclass(frozen=True, slots=True)
class TextList:
    """Parses texts separated by commas; spaces around them and repetitions do not count."""

    separator: str = ","

    def __call__(self, text: str) -> tuple[str, ...]:
        """The texts, in order."""
        return _unique(parse_text(part) for part in text.split(self.separator))


@dataclass(frozen=True, slots=True)
class HostList:
    """Parses names that a server answers to, `name` or `name:port`, separated by commas."""

    separator: str = ","

    def __call__(self, text: str) -> tuple[str, ...]:
        """The names, in lower case, in order; an IPv6 address keeps its brackets."""
        names = TextList(self.separator)(text.lower())
        for name in names:
            entry = _HOST_ENTRY.fullmatch(name)
            if entry is None or (entry["port"] and not 1 <= int(entry["port"]) <= 65_535):
                raise ValueError(
                    "names like cloxy.example or cloxy.example:9055, separated by commas, "
                    "without scheme, path and *"
                )
        return names


@dataclass(frozen=True, slots=True)
class PairList:
    """Parses `key=value` pairs separated by commas; a key may occur once."""

    separator: str = ","

    def __call__(self, text: str) -> dict[str, str]:
        """The pairs, in order."""
        pairs: dict[str, str] = {}
        for part in TextList(self.separator)(text):
            key, equals, value = (piece.strip() for piece in part.partition("="))
            if not (key and equals and value):
                raise ValueError("key=value pairs separated by commas")
            if key in pairs:
                raise ValueError(f"one value for {key!r}, not two")
            pairs[key] = value
        return pairs


@dataclass(frozen=True, slots=True)
class PathList:
    """Parses paths separated as in PATH; `~` is expanded, repetitions do not count."""

    separator: str = os.pathsep

    def __call__(self, text: str) -> tuple[Path, ...]:
        """The paths in order; relative ones are refused, since a server has no place of its own."""
        parts = _unique(part.strip() for part in text.split(self.separator))
        if not all(part.startswith("~") or Path(part).is_absolute() for part in parts):
            raise ValueError("absolute paths, or such that start with ~/")
        return tuple(dict.fromkeys(parse_path(part) for part in parts))


def _host_name(text: str) -> str:
    if not _HOST_NAME.fullmatch(text):
        raise ValueError("a host name")
    return text


def _unique(parts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part for part in parts if part))
