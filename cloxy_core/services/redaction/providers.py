"""Tokens that carry the name of their provider: a fixed prefix and a body of known shape."""

import re
import string

from cloxy_core.services.redaction.provider_table import BROKEN_RUNS, UNBROKEN_RUNS
from cloxy_core.services.redaction.rule import Rule
from cloxy_core.services.redaction.shape import (
    has_letter_and_digit,
    is_hexadecimal,
    is_placeholder,
    looks_random,
)

# A token may follow a line break, a percent code or a colour code written out as an escape;
# the last character of the escape is then no part of a longer word.
_LEFT = (
    r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=%[0-9A-Fa-f]{2})|(?<=u00[0-9a-f]{2})"
    r"|(?<=\[[0-9]m)|(?<=[0-9;][0-9]m))"
)
_RIGHT = r"(?![A-Za-z0-9])"
# What providers without a rule of their own put in front of the drawn part.
_SECRET_WORDS = (
    "key",
    "live",
    "pat",
    "prod",
    "production",
    "sandbox",
    "secret",
    "sk",
    "tkn",
    "token",
)


def provider_rules() -> tuple[Rule, ...]:
    """Return the rules for tokens that are known by their prefix or their shape alone."""
    return (
        *(_prefixed(*row, in_run=True) for row in UNBROKEN_RUNS),
        *(_prefixed(*row, in_run=False) for row in BROKEN_RUNS),
        *_SHAPED,
    )


def _prefixed(kind: str, prefixes: str, body: str, *, in_run: bool) -> Rule:
    literals = tuple(prefixes.split())
    either = "|".join(map(re.escape, literals))
    # A body that ends in a possessive repeat has no right edge to check; a fixed one has.
    right = "" if body.endswith("+") else _RIGHT
    return Rule(kind, literals, re.compile(f"{_LEFT}(?:{either}){body}{right}"), in_run=in_run)


def _is_no_documented_example(match: re.Match[str]) -> bool:
    return "EXAMPLE" not in match.group()


def _has_random_body(match: re.Match[str]) -> bool:
    return looks_random(match.group("body"))


def _has_secret_name(match: re.Match[str]) -> bool:
    """Judge a token of an unknown provider: `acme_pat_…`, `acme-live-…`, `acmekey_…`."""
    start = match.start()
    name = match.string[max(0, start - _LONGEST_NAME) : start]
    name = name[len(name.rstrip(_NAME_CHARACTERS)) :]
    # A longer run is no name but part of an encrypted or encoded text.
    if len(name) == _LONGEST_NAME or looks_random(name) or _PUBLIC_NAME.search(name) is not None:
        return False
    if _FILE_RIGHT.match(match.string, match.end()) is not None:
        return False
    body = max(re.split(r"[_-]", match["body"]), key=len)
    if is_hexadecimal(match["body"]):
        digits = len(match["body"].replace("-", ""))
        return digits >= 32 and match["word"] not in ("key", "token")
    return len(body) >= 12 and has_letter_and_digit(body) and looks_random(body)


_NAME_CHARACTERS = string.ascii_letters + string.digits + "_-+/"
_LONGEST_NAME = 32
_PUBLIC_NAME = re.compile(
    r"pk|pub|cache|idempotency|page|next|cursor|sync|primary|partition|sort|foreign|etag|csrf|"
    r"test|example",
    re.IGNORECASE,
)
_FILE_RIGHT = re.compile(r"\.[a-z][a-z0-9]{1,4}(?![A-Za-z0-9])|/")

_SHAPED: tuple[Rule, ...] = (
    Rule(
        "mailgun_key",
        ("key-",),
        re.compile(_LEFT + r"(?<![_.-])key-[0-9a-f]{32}" + _RIGHT),
        in_run=True,
    ),
    Rule(
        "terraform_token",
        (".atlasv1.",),
        re.compile(r"\.atlasv1\.(?P<secret>[A-Za-z0-9_=-]{50,}+)"),
        group="secret",
        in_run=True,
    ),
    Rule(
        "openai_key",
        ("sk-",),
        re.compile(_LEFT + r"sk-(?P<body>[A-Za-z0-9_-]{20,}+)"),
        in_run=True,
        accept=_has_random_body,
    ),
    Rule(
        "notion_token",
        ("secret_",),
        re.compile(_LEFT + r"secret_(?P<body>[A-Za-z0-9]{40,}+)"),
        in_run=True,
        accept=_has_random_body,
    ),
    Rule(
        "aws_access_key_id",
        ("AKIA", "ASIA", "ABIA", "ACCA"),
        re.compile(_LEFT + r"A(?:KI|SI|BI|CC)A[A-Z0-9]{16}" + _RIGHT),
        in_run=True,
        accept=_is_no_documented_example,
    ),
    Rule(
        # A secret that follows its id without a name of its own, as in a CSV export.
        "aws_secret_key",
        ("AKIA", "ASIA"),
        re.compile(
            r"A[KS]IA[A-Z0-9]{16}[\s,:;|\"'/]{1,6}"
            r"(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])"
        ),
        group="secret",
        in_run=True,
        accept=_is_no_documented_example,
    ),
    Rule(
        "jwt",
        ("eyJ",),
        re.compile(
            _LEFT + r"eyJ[A-Za-z0-9_-]{8,2000}+\.[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+"
            r"(?:\.[A-Za-z0-9_-]{8,}+){0,2}"
        ),
        in_run=True,
    ),
    Rule(
        "telegram_bot_token",
        (":AA",),
        re.compile(
            r"[0-9](?:(?<![0-9][0-9])|(?<=%[0-9A-F]{2}[0-9]))[0-9]{7,9}:AA[A-Za-z0-9_-]{32,34}(?![A-Za-z0-9_-])"
        ),
        anchored=False,
    ),
    Rule(
        "discord_bot_token",
        (),
        re.compile(
            r"[MNO](?:(?<![A-Za-z0-9_.-][MNO])|(?<=\\[nrt][MNO])|(?<=[0-9]m[MNO])|(?<=%[0-9A-F]{2}[MNO]))[A-Za-z0-9_-]{23,27}"
            r"\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}+"
        ),
        anchored=False,
        in_run=True,
        accept=lambda match: looks_random(match.group()),
    ),
    Rule(
        "azure_client_secret",
        ("Q~",),
        re.compile(r"[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,40}"),
        anchored=False,
    ),
    Rule(
        "webhook_url",
        ("://",),
        re.compile(
            r"://(?:hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/"
            r"|(?:[a-z]{2,8}\.)?discord(?:app)?\.com/api/(?:v[0-9]{1,2}/)?webhooks/(?=[0-9])"
            r"|[a-z0-9.]{1,80}\.office\.com/webhook[a-z0-9]{0,4}/(?=[0-9a-f])"
            r"|hooks\.zapier\.com/hooks/catch/"
            r"|chat\.googleapis\.com/v1/spaces/)"
            r"(?P<secret>[A-Za-z0-9_@/?&=%.-]{14,}+)"
        ),
        group="secret",
        accept=lambda match: not is_placeholder(match["secret"]),
    ),
    Rule(
        "provider_token",
        (*(f"{word}_" for word in _SECRET_WORDS), *(f"{word}-" for word in _SECRET_WORDS)),
        re.compile(
            rf"(?P<word>{'|'.join(_SECRET_WORDS)})[_-](?P<body>[A-Za-z0-9][A-Za-z0-9_-]{{19,}}+)"
        ),
        group="body",
        in_run=True,
        accept=_has_secret_name,
    ),
)
