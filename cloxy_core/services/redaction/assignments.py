"""Values that a name gives away: `password = …`, `"api_key": "…"`, `--token …`, `pwd is …`."""

import re
from enum import Enum
from functools import partial

from cloxy_core.services.redaction.rule import Rule
from cloxy_core.services.redaction.shape import (
    has_letter_and_digit,
    is_code,
    is_hexadecimal,
    is_human_password,
    is_path,
    is_placeholder,
    is_version_or_date,
    looks_random,
    mean_segment,
)


class Name(Enum):
    """What the name in front promises; passwords are short and human, the others drawn."""

    PASSWORD = "password"  # noqa: S105 - the name of a kind
    SECRET = "secret"  # noqa: S105 - the name of a kind
    API_KEY = "api_key"
    TOKEN = "token"  # noqa: S105 - the name of a kind


_KEYWORDS: dict[Name, str] = {
    Name.PASSWORD: r"pass(?:word|wd|wort|phrase|code)?|pwd|passwords",
    Name.SECRET: r"secrets?|credentials?",
    Name.API_KEY: r"key",
    Name.TOKEN: r"token|auth|jwt",
}
_TRIGGERS: dict[Name, tuple[str, ...]] = {
    Name.PASSWORD: ("pass", "pwd"),
    Name.SECRET: ("secret", "credential"),
    Name.API_KEY: ("key",),
    Name.TOKEN: ("token", "auth", "jwt"),
}
_SUFFIX = (
    r"(?:[_-]?(?:base|value|string|str|text|plain|raw|prod|production|dev|staging|test|live|old|"
    r"new|current|previous|primary|secondary|b64|base64|hex|v?[0-9]{1,2}))?"
)
_CLOSE = r"(?P<close>\\{0,3}[\"'`])?\]?\)?"
_ANNOTATION = r"[ \t]{0,4}:[ \t]{0,4}&?[A-Za-z_'][A-Za-z0-9_.\[\]|<>?' ]{0,40}?[ \t]{0,4}=(?!=)"
_SEPARATOR = (
    rf"(?:(?P<assign>{_ANNOTATION}|[ \t]{{0,20}}(?:={{1,3}}>?|:=|::|:|\?=|\|\|=|!==?|\?\?=?))"
    r"|(?P<call>\((?=[bru]?\\{0,3}[\"'`])|,(?=[ \t]{0,4}\\{0,3}[\"'`]))"
    r"|(?P<attribute>,?\s{1,40}\\{0,3}[\"'`]?value\\{0,3}[\"'`]?[ \t]{0,4}[:=])"
    r"|(?P<element>>)"
    r"|(?P<prose>(?=[ \t])"
    r"(?:[ \t]{1,4}(?:is|was|are|now|set|to|will|be|=|:|->|→)(?=[ \t:])){0,3}:?))"
    r"[ \t]{0,20}"
)
_WRAPPER = r"(?P<wrapper>[A-Za-z_][A-Za-z0-9_.:]{0,40}\([ \t]{0,4})?(?:[bBrRuUfF]{1,2}(?=[\"'`]))?"
_QUOTE = r"\\{0,7}[\"'`]"
_QUOTED = r"(?:(?!(?P=quote))(?:\\.|[^\n])){1,600}+(?=(?P=quote))"
_BARE = (
    r"(?:[A-Za-z0-9_./+=@!#$%^*?~:{}()\[\]\-\u00a1-\u024f]"
    # A separator belongs to the value only where nothing new begins behind it.
    r"|[,;](?!\s|\Z|[A-Za-z_][A-Za-z_ ]{0,40}=)"
    r"|&(?!\s|\Z|&|amp;|[A-Za-z_][A-Za-z0-9_.-]{0,40}=)"
    r"|\|(?!\s|\Z|\|)|\\(?![nrtu\"'\\\s])){3,600}+"
)
# A quote that is never closed belongs to a text that was cut; the value is then read as bare.
_VALUE = rf"(?:(?P<quote>{_QUOTE})|(?:{_QUOTE})?)(?P<value>(?(quote){_QUOTED}|{_BARE}))"

# Names that end in a keyword and yet hold nothing secret.
_HARMLESS_LEFT = (
    "page", "next", "prev", "previous", "continuation", "cursor", "sync", "pad", "eos", "bos",
    "unk", "mask", "sep", "cls", "stop", "end", "start", "begin", "special", "max", "min",
    "num", "total", "input", "output", "prompt", "completion", "public", "publishable",
    "primary", "foreign", "sort", "partition", "cache", "idempotency", "by", "first", "last",
    "tool", "image", "hashed", "encrypted", "bcrypt",
)  # fmt: skip
_SECRET_KEY_LEFT = (
    "api", "access", "secret", "private", "signing", "signature", "encryption", "encrypt",
    "decryption", "master", "account", "shared", "auth", "app", "application", "service",
    "client", "license", "licence", "deploy", "storage", "admin", "webhook", "hmac", "jwt",
    "aes", "subscription", "host", "server", "write", "session", "cookie", "project",
    "integration", "function", "consumer", "security", "anon", "role", "rsa", "ssh", "tls",
    "root", "vault", "wallet", "bearer", "user", "personal", "developer", "team", "org", "bot",
)  # fmt: skip
_ENVIRONMENT_LEFT = re.compile(r"(?<![a-z])[A-Z][A-Z0-9_]*_\Z")
_FLAG_LEFT = re.compile(r"(?<![A-Za-z0-9])--?[A-Za-z0-9-]{0,40}\Z")
_LONE_LINE_LEFT = re.compile(r"(?:\A|\n|\\n)[ \t]*(?:- )?[\"']?[A-Za-z0-9_.-]{0,40}\Z")
_AWS_LEFT = re.compile(r"aws|access", re.IGNORECASE)
_AWS_SECRET = re.compile(r"[A-Za-z0-9/+]{40}")
_URL_USER_LEFT = re.compile(r"://[A-Za-z0-9_.-]*\Z")
_LOOK_BACK = 48


def _compile(keyword: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?:{keyword}){_SUFFIX}(?![A-Za-z0-9_]){_CLOSE}{_SEPARATOR}{_WRAPPER}{_VALUE}",
        re.IGNORECASE,
    )


def assignment_rules() -> tuple[Rule, ...]:
    """Return one rule per class of name."""
    return tuple(
        Rule(
            name.value,
            _TRIGGERS[name],
            _compile(keyword),
            group="value",
            ignore_case=True,
            accept=_ACCEPT[name],
        )
        for name, keyword in _KEYWORDS.items()
    )


def name_of(text: str) -> Name | None:
    """Return the class of a name as it stands alone, for example a key of a JSON object."""
    for name, pattern in _WHOLE_NAME.items():
        if (match := pattern.fullmatch(text)) is not None and _left_fits(name, match["left"]):
            return name
    return None


def is_named_secret(name: Name, value: str) -> bool:
    """Tell whether a whole string under a secret name is a secret, not a stand-in for one."""
    if name is Name.PASSWORD:
        return len(value) >= 4 and not is_placeholder(value)
    return _quoted_is_secret(name, value)


_WHOLE_NAME = {
    name: re.compile(rf"(?P<left>.{{0,80}}?)(?:{keyword}){_SUFFIX}", re.IGNORECASE)
    for name, keyword in _KEYWORDS.items()
}


def _left_fits(name: Name, left: str) -> bool:
    """Tell whether the part of the name before the keyword makes it the name of a secret."""
    stem = left.rstrip("_-. ")
    if any(_ends_with_word(stem, word) for word in _HARMLESS_LEFT):
        return False
    if name is Name.API_KEY:
        return stem.lower().endswith(_SECRET_KEY_LEFT) or _ENVIRONMENT_LEFT.search(left) is not None
    return True


def _ends_with_word(stem: str, word: str) -> bool:
    """Tell `page` in `next_page` and `nextPage` from `min` in `admin`."""
    if not stem.lower().endswith(word):
        return False
    start = len(stem) - len(word)
    return (
        start == 0
        or not stem[start - 1].isalpha()
        or (stem[start].isupper() and stem[start - 1].islower())
    )


def _accepts(name: Name, match: re.Match[str]) -> bool:
    """Decide on a match: the name first, then the value by the way it is written."""
    start = match.start()
    left = match.string[max(0, start - _LOOK_BACK) : start]
    value = match["value"]
    if match["assign"] == ":" and _URL_USER_LEFT.search(left) is not None:
        return False
    if not _left_fits(name, left) or not _begins_word(match, left):
        return False
    if name in (Name.API_KEY, Name.SECRET) and _is_aws_secret(left, value):
        return True
    if is_placeholder(value):
        return False
    quoted = match["quote"] is not None
    if match["wrapper"] is not None and not quoted:
        return False
    if match["prose"] is not None:
        return _spaced_is_secret(name, match, left, value, quoted)
    if match["call"] is not None and match["close"] is None and match["call"] == ",":
        return False
    if match["element"] is not None and not match.string.startswith("<", match.end()):
        return False
    if quoted or match["attribute"] is not None or match["element"] is not None:
        return _quoted_is_secret(name, value)
    return _bare_is_secret(name, match, left, value)


def _is_aws_secret(left: str, value: str) -> bool:
    return (
        _AWS_SECRET.fullmatch(value) is not None
        and _AWS_LEFT.search(left) is not None
        and "EXAMPLE" not in value
        and not is_hexadecimal(value)
    )


def _begins_word(match: re.Match[str], left: str) -> bool:
    """Refuse `compass` and `bypass`: a short keyword counts only at the start of a word."""
    if match.group().lower().startswith(("passw", "passphrase", "passcode")):
        return True
    if not match.group().lower().startswith(("pass", "pwd", "auth", "key")):
        return True
    first = match.string[match.start()]
    return (
        not left[-1:].isalpha()
        or (first.isupper() and left[-1].islower())
        or (left.lower().endswith(("db", "user", "root", "admin", "api", "access", "secret")))
    )


def _quoted_is_secret(name: Name, value: str) -> bool:
    """Judge a value whose ends are certain: a string literal, an attribute, an element."""
    if is_placeholder(value) or is_path(value) or is_version_or_date(value):
        return False
    if " " in value or "\\n" in value:
        return looks_random(value)
    if looks_random(value) or (
        len(value) >= 16 and is_hexadecimal(value) and has_letter_and_digit(value)
    ):
        return True
    if name is Name.PASSWORD:
        symbol = re.search(r"[^A-Za-z0-9_.\- /:]", value) is not None
        return len(value) >= 6 and (any(map(str.isdigit, value)) or symbol) and not is_code(value)
    if name is Name.TOKEN:
        return False
    return len(value) >= 10 and value.isalnum() and has_letter_and_digit(value)


def _bare_is_secret(name: Name, match: re.Match[str], left: str, value: str) -> bool:
    """Judge a value without quotes, which in most languages would be an expression."""
    if is_path(value) or is_code(value) or is_version_or_date(value):
        return False
    if looks_random(value) or (
        len(value) >= 16 and is_hexadecimal(value) and has_letter_and_digit(value)
    ):
        return True
    if name is not Name.PASSWORD and _is_words(value):
        return False
    if _is_literal_place(match, left):
        return len(value) >= 6 and (has_letter_and_digit(value) or _has_odd_symbol(value))
    if name is not Name.PASSWORD or not is_human_password(value):
        return False
    return _has_odd_symbol(value) or (len(value) >= 12 and mean_segment(value) < 4)


def _is_literal_place(match: re.Match[str], left: str) -> bool:
    """Tell whether a bare value must be a literal: environment line, option, lone YAML line."""
    text, start, end = match.string, match.start(), match.end()
    word = match.group()[: match.start("assign") - start] if match["assign"] is not None else ""
    if match["assign"] == "=" and word.isupper() and not re.search(r"[a-z]\Z", left):
        return True
    if _FLAG_LEFT.search(left) is not None:
        return True
    lone = _LONE_LINE_LEFT.search(left) is not None and (
        end == len(text) or text[end] in "\r\n" or text.startswith("\\n", end)
    )
    return lone and match["assign"] is not None and match["assign"].strip() == ":"


def _spaced_is_secret(
    name: Name, match: re.Match[str], left: str, value: str, quoted: bool
) -> bool:
    """Judge a value that only words or spaces tie to the name."""
    if _FLAG_LEFT.search(left) is not None:
        return (
            _quoted_is_secret(name, value) if quoted else _bare_is_secret(name, match, left, value)
        )
    value = value.rstrip(".,;:!?)")
    if " " in value or is_path(value) or is_code(value) or is_hexadecimal(value):
        return False
    if "/" in value or is_version_or_date(value):
        return False
    if name is Name.PASSWORD:
        return is_human_password(value) or (len(value) >= 10 and looks_random(value))
    return len(value) >= 16 and looks_random(value) and has_letter_and_digit(value)


def _is_words(value: str) -> bool:
    return re.fullmatch(r"[A-Za-z]+(?:[-_.:/][A-Za-z0-9]+)+[,;)]*", value) is not None


def _has_odd_symbol(value: str) -> bool:
    return re.search(r"[!@#$%^&*?~+]", value) is not None


_ACCEPT = {name: partial(_accepts, name) for name in Name}
