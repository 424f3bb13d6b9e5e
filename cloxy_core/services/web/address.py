"""Addresses of pages, read strictly: what two programs could read differently is no address.

Nothing is looked up here. The form is that of RFC 3986 with the host of the WHATWG URL standard,
but whatever that standard would mend (backslashes, spaces, other digits, other dots, short and
octal forms of IPv4) is refused instead. Names follow IDNA 2008 (RFC 5891).
"""

import re
import unicodedata
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from typing import Final
from urllib.parse import quote, urljoin

import idna

from cloxy_hookspecs import InputError

MOST_CHARACTERS: Final = 4096
DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_SHOWN: Final = 80

_URL: Final = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<authority>[^/?#]*)(?P<rest>.*)", re.DOTALL
)
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_BRACKETED: Final = re.compile(r"\[(?P<host>[0-9A-Fa-f:.]+)\](?P<port>:.*)?", re.DOTALL)
_PORT: Final = re.compile(r"[1-9][0-9]{0,4}")
_LABEL: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER: Final = re.compile(r"[0-9]+|0[xX][0-9A-Fa-f]*")
_MOST_NAME: Final = 253
_OTHER_DOTS: Final = "\u3002\uff0e\uff61"
_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp"})
_PLAIN: Final = "!#$%&'()*+,-./:;=?@[]_~|^{}`<>\""
"""ASCII that stays as it stands behind the host; what is not ASCII is written by its bytes."""


@dataclass(frozen=True, slots=True)
class Address:
    """An address in canonical form.

    Attributes:
        url: all of it but the fragment, in ASCII.
        scheme: `http` or `https`.
        host: name or IP address, in lower case, without brackets and final dot.
        port: the port.
        is_literal: whether the host is an IP address.
    """

    url: str
    scheme: str
    host: str
    port: int
    is_literal: bool

    @property
    def origin(self) -> tuple[str, str, int]:
        """Scheme, host and port."""
        return self.scheme, self.host, self.port


def parse(text: str) -> Address:
    """Read an address.

    Raises:
        InputError: it is none, or could be read in two ways.
    """
    _check_characters(text)
    match = _URL.fullmatch(text)
    scheme = match["scheme"].lower() if match else ""
    if match is None or scheme not in DEFAULT_PORTS:
        raise _bad(text, "it does not begin with http:// or https://")
    host, port, is_literal = _authority(match["authority"], text)
    shown = f"[{host}]" if ":" in host else host
    place = shown if port in (None, DEFAULT_PORTS[scheme]) else f"{shown}:{port}"
    rest = quote(match["rest"].partition("#")[0], safe=_PLAIN)
    if not rest.startswith("/"):
        rest = f"/{rest}"
    chosen = DEFAULT_PORTS[scheme] if port is None else port
    canonical = f"{scheme}://{place}{rest}"
    _check_length(canonical)
    return Address(canonical, scheme, host, chosen, is_literal)


def join(base: Address, location: str) -> Address:
    """Where a page leads: the address that a `Location` means.

    Raises:
        InputError: it is no address, or could be read in two ways.
    """
    there = location.replace(" ", "%20")
    # Before anything reads it: what joins addresses drops some characters in silence.
    _check_characters(there)
    if _SCHEME.match(there):
        return parse(there)
    if there.startswith("//"):
        return parse(f"{base.scheme}:{there}")
    return parse(urljoin(base.url, there))


def _check_characters(text: str) -> None:
    """Refuse what two programs would read differently, wherever it stands.

    Raises:
        InputError: so it is, or there is too much of it.
    """
    _check_length(text)
    if any(unicodedata.category(character) in _UNSEEN for character in text):
        raise _bad(text, "it holds a space, or a character that nobody sees")
    if "\\" in text:
        raise _bad(text, "it holds a backslash")


def _check_length(text: str) -> None:
    if len(text) > MOST_CHARACTERS:
        raise InputError(f"an address has at most {MOST_CHARACTERS:,} characters")


def _authority(text: str, url: str) -> tuple[str, int | None, bool]:
    """Host, port and whether the host is an IP address."""
    if "@" in text:
        raise InputError(
            "an address with a user name in it is not read", hint="leave out what is before the @"
        )
    if "%" in text:
        raise _bad(url, "its host holds a percent sign")
    if text.startswith("["):
        match = _BRACKETED.fullmatch(text)
        if match is None:
            raise _bad(url, "what is in brackets is no IPv6 address")
        return _ipv6(match["host"], url), _port(match["port"] or "", url), True
    host, colon, port = text.partition(":")
    number = _port(colon + port, url)
    host, is_literal = _host(host, url)
    return host, number, is_literal


def _port(text: str, url: str) -> int | None:
    """The port of `:80`; None where there is none."""
    if text in ("", ":"):
        return None
    if not _PORT.fullmatch(text[1:]) or int(text[1:]) > 65_535:
        raise _bad(url, "its port is none")
    return int(text[1:])


def _ipv6(text: str, url: str) -> str:
    try:
        return str(IPv6Address(text))
    except ValueError as error:
        raise _bad(url, "what is in brackets is no IPv6 address") from error


def _host(text: str, url: str) -> tuple[str, bool]:
    name = text.removesuffix(".").lower()
    if not name:
        raise _bad(url, "it has no host")
    if unicodedata.normalize("NFKC", name) != name or any(dot in name for dot in _OTHER_DOTS):
        raise _bad(url, "its host has characters that stand for others")
    labels = [_label(label, url) for label in name.split(".")]
    name = ".".join(labels)
    if len(name) > _MOST_NAME:
        raise _bad(url, "its host is too long")
    if not _NUMBER.fullmatch(labels[-1]):
        return name, False
    try:
        return str(IPv4Address(name)), True
    except ValueError as error:
        raise _bad(url, "its host is a number, but no plain IPv4 address") from error


def _label(text: str, url: str) -> str:
    """One part of a name, in ASCII."""
    try:
        if not text.isascii():
            text = idna.encode(text, strict=True, std3_rules=True).decode("ascii")
        elif text.startswith("xn--"):
            idna.decode(text, strict=True)
    except (idna.IDNAError, UnicodeError) as error:
        raise _bad(url, "its host is no name") from error
    if not _LABEL.fullmatch(text):
        raise _bad(url, "its host is no name")
    return text


def _bad(url: str, why: str) -> InputError:
    shown = url if len(url) <= _SHOWN else f"{url[:_SHOWN]}…"
    return InputError(
        f"{shown!r} cannot be read as an address: {why}",
        hint="write it like https://example.com/page",
    )
