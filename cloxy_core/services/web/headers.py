"""Headers that somebody wants to be sent along."""

import re
from collections.abc import Mapping

from cloxy_hookspecs import InputError

MOST = 32
CHARACTERS = 8_192
_NAME = re.compile(r"[a-z0-9!#$%&'*+.^_`|~-]+")
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
OURS = frozenset(
    {
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "expect",
        "forwarded",
        "host",
        "http2-settings",
        "keep-alive",
        "proxy-authorization",
        "proxy-connection",
        "range",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "via",
    }
)
"""What decides about the connection, or about whom it is to: nobody else's to set."""


def checked(headers: Mapping[str, str]) -> Mapping[str, str]:
    """The headers with names in lower case, if they can be sent.

    Raises:
        InputError: one cannot; it is named, its value is not.
    """
    if len(headers) > MOST:
        raise InputError(f"at most {MOST} headers can be sent along")
    sent: dict[str, str] = {}
    for given, value in headers.items():
        name = given.strip().lower()
        if not _NAME.fullmatch(name) or name.startswith("proxy-") or name in OURS:
            raise InputError(
                f"the header {given!r} cannot be set", hint="leave it out; it is set by itself"
            )
        if not _VALUE.fullmatch(value):
            raise InputError(f"the value of the header {given!r} cannot be sent")
        sent[name] = value.strip()
    if sum(len(name) + len(value) for name, value in sent.items()) > CHARACTERS:
        raise InputError(f"the headers have more than {CHARACTERS:,} characters together")
    return sent
