"""Credentials inside URLs: passwords before the host, and signed query parameters."""

import re

from cloxy_core.services.redaction.rule import Rule
from cloxy_core.services.redaction.shape import is_placeholder, looks_random

_USER = r"(?P<user>[^\s:/?#@\"'<>`|\\]{0,128}+)"
_HOST_AHEAD = r"(?=@[A-Za-z0-9_.\-\[%$*{<])"
_BASIC = re.compile(
    # A hash is part of the password where the colon is not followed by a port.
    rf"://{_USER}:(?![0-9]{{1,5}}#)(?P<password>(?:(?!://)[^\s/?\"'<>`|\\]){{1,256}}){_HOST_AHEAD}"
)
# The authority ends at the first slash. A password with a raw slash, question mark or hash is
# malformed but common in database URLs, so there it may hold them when it cannot be a port.
_LOOSE = re.compile(
    rf"://{_USER}:(?![0-9]{{1,5}}[/?#])(?P<password>(?:(?!://)[^\s?\"'<>`|\\]){{1,256}}"
    rf"|(?:(?!://)[^\s\"'<>`|\\]){{1,256}}?){_HOST_AHEAD}"
)
_DATABASE = re.compile(
    r"(?:postgres|mysql|maria|mongo|redis|amqp|mssql|sqlserver|oracle|clickhouse|cockroach|ldap|"
    r"smtp|imap|sftp|ftp|kafka|nats|mqtt|jdbc|snowflake|neo4j|bolt)[a-z0-9+]{0,20}\Z"
)
_TOKEN_USER = re.compile(r"://(?P<secret>[A-Za-z0-9_~.-]{20,200}+)(?::(?:x-oauth-basic)?)?@")
_SIGNATURE = re.compile(
    r"(?:sig|signature|key)=(?P<secret>[A-Za-z0-9%+/=_.~-]{20,2000}+)", re.IGNORECASE
)
_PARAMETER = re.compile(r"[?&;](?:amp;)?(?:x-(?:amz|goog)-)?\Z", re.IGNORECASE)


def url_rules() -> tuple[Rule, ...]:
    """Return the rules for secrets that stand inside a URL; user and host stay."""
    return (
        Rule("url_password", ("://",), _BASIC, group="password", accept=_is_password),
        Rule("url_password", ("://",), _LOOSE, group="password", accept=_is_database_password),
        Rule(
            "url_token",
            ("://",),
            _TOKEN_USER,
            group="secret",
            accept=lambda match: looks_random(match["secret"]),
        ),
        Rule(
            "url_signature",
            ("sig", "key"),
            _SIGNATURE,
            group="secret",
            ignore_case=True,
            accept=_is_signature,
        ),
    )


def _is_password(match: re.Match[str]) -> bool:
    return not is_placeholder(match["password"])


def _is_database_password(match: re.Match[str]) -> bool:
    scheme = match.string[max(0, match.start() - 32) : match.start()]
    return _DATABASE.search(scheme) is not None and _is_password(match)


def _is_signature(match: re.Match[str]) -> bool:
    start = match.start()
    name_left = match.string[max(0, start - 16) : start]
    return _PARAMETER.search(name_left) is not None and looks_random(match["secret"])
