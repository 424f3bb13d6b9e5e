"""Settings of reading the web."""

import re
from collections.abc import Sequence
from ipaddress import IPv6Address
from typing import Any

from cloxy_hookspecs import Setting

_OFF = frozenset({"", "0", "false", "no", "off"})
_ON = frozenset({"1", "true", "yes", "on"})
MOST_SECONDS = 600.0
_PAIR = re.compile(r"(?P<host>\[[0-9a-f:.]+\]|[a-z0-9][a-z0-9._-]*):(?P<port>[0-9]{1,5})")


def parse_switch(text: str) -> bool:
    """On or off.

    Raises:
        ValueError: it is neither.
    """
    word = text.strip().lower()
    if word in _ON or word in _OFF:
        return word in _ON
    raise ValueError("1 or 0")


def parse_pairs(text: str) -> Sequence[tuple[str, int]]:
    """Pairs of host and port: `wiki.corp:80, [fd00::1]:8080`.

    Raises:
        ValueError: one is none.
    """
    pairs: list[tuple[str, int]] = []
    for part in filter(None, re.split(r"[,\s]+", text.strip().lower())):
        match = _PAIR.fullmatch(part)
        if match is None or not 1 <= int(match["port"]) <= 65_535:
            raise ValueError(f"host:port, separated by commas; {part!r} is not")
        pairs.append((_canonical(match["host"].strip("[]")), int(match["port"])))
    return tuple(pairs)


def _canonical(host: str) -> str:
    """The host as addresses of pages have it.

    Raises:
        ValueError: it is neither name nor address.
    """
    if ":" not in host:
        return host.removesuffix(".")
    try:
        return str(IPv6Address(host))
    except ValueError as error:
        raise ValueError(f"host:port, separated by commas; {host!r} is no IPv6 address") from error


def parse_seconds(text: str) -> float:
    """A time limit in seconds.

    Raises:
        ValueError: it is none.
    """
    seconds = float(text)
    if not 0 < seconds <= MOST_SECONDS:
        raise ValueError(f"seconds, more than 0 and at most {MOST_SECONDS:g}")
    return seconds


ALLOW_PRIVATE_URLS: Setting[bool] = Setting(
    name="web.allow_private_urls",
    env="CLOXY_ALLOW_PRIVATE_URLS",
    default=False,
    parse=parse_switch,
    help="Whether pages at private addresses may be read, by whoever can ask this server.",
    empty_is_value=True,
)
ALLOWED_PRIVATE_HOSTS: Setting[Sequence[tuple[str, int]]] = Setting(
    name="web.allowed_private_hosts",
    env="CLOXY_ALLOWED_PRIVATE_HOSTS",
    default=(),
    parse=parse_pairs,
    help="Private servers whose pages may be read: host:port, separated by commas.",
)
FETCH_TIMEOUT: Setting[float] = Setting(
    name="web.timeout",
    env="CLOXY_FETCH_TIMEOUT",
    default=30.0,
    parse=parse_seconds,
    help="Seconds that a server of a page may be silent; web.deadline limits the whole.",
)

SETTINGS: tuple[Setting[Any], ...] = (ALLOW_PRIVATE_URLS, ALLOWED_PRIVATE_HOSTS, FETCH_TIMEOUT)
