"""Secrets in HTTP headers, in cookies, and behind the fixed words of a few file formats."""

import binascii
import re
from collections.abc import Callable

from cloxy_core.services.redaction.rule import Rule
from cloxy_core.services.redaction.shape import (
    is_code,
    is_hexadecimal,
    is_path,
    is_placeholder,
    looks_random,
)

_SCHEME = (
    r"(?:(?:bearer|token|bot|apikey|api-key|key|digest|negotiate|aws4-hmac-sha256|splunk)"
    r"[ \t]{1,4})"
)
_AUTHORIZATION = re.compile(
    r"authorization\\{0,3}[\"'`]?\]?[ \t]{0,4}(?::|=>?|,)[ \t]{0,4}[bfr]?\\{0,3}[\"'`]?"
    rf"{_SCHEME}?(?P<secret>[A-Za-z0-9_.~+/=-]{{8,4000}}+)",
    re.IGNORECASE,
)
_BEARER = re.compile(r"bearer,?[ \t]{1,4}(?P<secret>[A-Za-z0-9_.~+/=-]{12,4000}+)", re.IGNORECASE)
_BASIC = re.compile(r"basic[ \t]{1,4}(?P<secret>[A-Za-z0-9+/_-]{6,2000}+={0,2})", re.IGNORECASE)
_COOKIES = re.compile(
    r"cookie\\{0,3}[\"'`]?[ \t]{0,4}[:=, ][ \t]{0,4}\\{0,3}[\"'`]?"
    r"(?P<pairs>[A-Za-z0-9_.$%-]{1,100}=[^\r\n\"'`\\]{4,6000})",
    re.IGNORECASE,
)
_COOKIE_VALUE = re.compile(
    r"(?<![A-Za-z0-9_.$%-])(?!(?:expires|path|domain|samesite|max-age|priority)=)"
    r"[A-Za-z0-9_.$%-]{1,100}=((?=[^;\s]{0,99}[0-9])(?=[^;\s]{0,99}[A-Za-z])[^;\s,]{8,4000}|[^;\s,]{16,4000})",
    re.IGNORECASE,
)
_COOKIE_JAR = re.compile(
    r"cookies?[\"']?[ \t]{0,4}[:=][ \t]{0,4}\{(?P<pairs>[^{}]{8,4000})\}", re.IGNORECASE
)
_COOKIE_JAR_VALUE = re.compile(
    r"[\"']?[ \t]{0,4}:[ \t]{0,4}[\"']"
    r"((?=[^\"'\s]{0,99}[0-9])(?=[^\"'\s]{0,99}[A-Za-z])[A-Za-z0-9_.%+/=-]{16,4000})(?=[\"'])"
)
_NETRC = re.compile(r"password\s{1,8}(?P<secret>[^\s\"'`\\]{3,200})")
_NETRC_LEFT = re.compile(r"(?:login|user|account)\s{1,8}[^\s]{1,80}\s{1,8}\Z")
_TEMPLATED = re.compile(r"^[^=]{1,100}=(?:\$|\{|<|%s|%\()")
_SQL = re.compile(
    r"identified\s{1,4}by\s{1,4}(?:password\s)?'(?P<secret>[^'\n]{3,128})'", re.IGNORECASE
)


def header_rules() -> tuple[Rule, ...]:
    """Return the rules for secrets that a fixed word in front gives away."""
    return (
        _folded("authorization", ("auth",), _AUTHORIZATION, _is_opaque),
        _folded("bearer_token", ("bearer",), _BEARER, _is_opaque),
        _folded("basic_auth", ("basic",), _BASIC, _is_credential_pair),
        Rule(
            "cookie",
            ("cookie",),
            _COOKIES,
            group="pairs",
            ignore_case=True,
            within=_COOKIE_VALUE,
            accept=lambda match: _TEMPLATED.search(match["pairs"]) is None,
        ),
        Rule(
            "cookie",
            ("cookie",),
            _COOKIE_JAR,
            group="pairs",
            ignore_case=True,
            within=_COOKIE_JAR_VALUE,
        ),
        _folded("password", ("pass",), _NETRC, _is_netrc_password),
        _folded("password", ("identified",), _SQL, _is_literal),
    )


def _folded(
    kind: str,
    triggers: tuple[str, ...],
    pattern: re.Pattern[str],
    accept: Callable[[re.Match[str]], bool],
) -> Rule:
    return Rule(kind, triggers, pattern, "secret", ignore_case=True, accept=accept)


def _is_opaque(match: re.Match[str]) -> bool:
    value = match["secret"]
    if is_placeholder(value) or is_path(value) or is_code(value):
        return False
    return looks_random(value) or (len(value) >= 16 and is_hexadecimal(value))


def _is_literal(match: re.Match[str]) -> bool:
    return not is_placeholder(match["secret"])


def _is_netrc_password(match: re.Match[str]) -> bool:
    left = match.string[max(0, match.start() - 100) : match.start()]
    return _NETRC_LEFT.search(left) is not None and not is_placeholder(match["secret"])


def _is_credential_pair(match: re.Match[str]) -> bool:
    """Tell whether a value decodes to `user:password`, as basic authentication demands."""
    encoded = match["secret"].rstrip("=")
    try:
        decoded = binascii.a2b_base64(encoded + "=" * (-len(encoded) % 4))
    except binascii.Error:
        return False
    return b":" in decoded and decoded.isascii() and decoded.decode("ascii").isprintable()
