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
    Name.PASSWORD: r"pass(?:word|wd|wort|phrase|code)?|pwd?|passwords|psk",
    Name.SECRET: r"secrets?|credentials?",
    Name.API_KEY: r"key",
    Name.TOKEN: r"token|auth|jwt|bearer",
}
_TRIGGERS: dict[Name, tuple[str, ...]] = {
    Name.PASSWORD: ("pass", "pw", "psk"),
    Name.SECRET: ("secret", "credential"),
    Name.API_KEY: ("key",),
    Name.TOKEN: ("token", "auth", "jwt", "bearer"),
}
_SUFFIX = (
    r"(?:[_-]?(?:base|value|string|str|text|plain|raw|prod|production|dev|staging|test|live|old|"
    r"new|current|previous|primary|secondary|b64|base64|hex|v?[0-9]{1,2}))?"
)
_CLOSE = r"(?P<close>\\{0,3}[\"'`])?\]?\)?"
_ANNOTATION = r"[ \t]{0,4}:[ \t]{0,4}&?[A-Za-z_'][A-Za-z0-9_.\[\]|<>?' ]{0,40}?[ \t]{0,4}=(?!=)"
_SEPARATOR = (
    rf"(?:(?P<assign>{_ANNOTATION}|[ \t]{{0,20}}(?:={{1,3}}>?|:=|::|:|\?=|\|\|=|!==?|\?\?=?|：))"
    r"|(?P<attribute>(?:,\s{0,40}|\s{1,40}|[ \t]{0,4}:[ \t]{0,4}\{\s{0,40})"
    r"\\{0,3}[\"'`]?value\\{0,3}[\"'`]?[ \t]{0,4}[:=])"
    r"|(?P<call>\((?=[bru]?\\{0,3}[\"'`])|,(?=[ \t]{0,4}\\{0,3}[\"'`]))"
    # A variable of Terraform: its secret is the default in its block.
    r"|(?P<block>[ \t]{0,4}\{\s{0,20}(?:[a-z_]{1,40}[ \t]{1,20}=[^\n]{0,200}\n\s{0,20}){0,4}"
    r"default[ \t]{1,20}=(?=[ \t]{1,4}\"))"
    r"|(?P<element>>)"
    r"|(?P<prose>(?=[ \t])"
    r"(?:[ \t]{1,4}for[ \t]{1,4}[^\s:]{1,40}(?=[ \t:]))?"
    r"(?:[ \t]{1,4}(?:is|was|are|now|set|to|will|be|=|:|->|→)(?=[ \t:])){0,3}:?))"
    r"[ \t]{0,20}"
)
_WRAPPER = r"(?P<wrapper>[A-Za-z_][A-Za-z0-9_.:]{0,40}\([ \t]{0,4})?(?:[bBrRuUfFN]{1,2}(?=[\"'`]))?"
_QUOTE = r"\\{0,7}[\"'`]"
_QUOTED = r"(?:(?!(?P=quote))(?:\\.|[^\n])){1,600}+(?=(?P=quote))"
_BARE = (
    r"(?:[A-Za-z0-9_./+=@!#$%^*?~:{}()\[\]\-\u00a1-\u024f]"
    # A separator belongs to the value only where nothing new begins behind it.
    r"|[,;](?!\s|\Z|[A-Za-z_][A-Za-z_. ]{0,40}=)"
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
    "integration", "function", "functions", "consumer", "security", "anon", "role", "rsa", "ssh",
    "tls", "root", "vault", "wallet", "bearer", "user", "personal", "developer", "team", "org",
    "bot",
)  # fmt: skip
_ENVIRONMENT_LEFT = re.compile(r"(?<![a-z])[A-Z][A-Z0-9_]*_\Z")
_FLAG_LEFT = re.compile(r"(?<![A-Za-z0-9])--?[A-Za-z0-9_-]{0,40}\Z")
# A command that sets the variable or option it names: what follows must be a literal.
_SET_LEFT = re.compile(
    r"(?:\b(?:ENV|ARG|setx|set -[a-z]{1,3}|configure set|config set|wifi connect [^\s]{1,32}) )"
    r"[^\s=]{0,40}\Z"
)
# What stands before `password=` where no expression can follow: a query or form field, a
# connection string, a string literal, a chain of name=value, an option of a deployment tool.
_FIELD_LEFT = re.compile(
    r"(?:[?&;\"']|--set(?:-string)?[ =]|--from-literal[ =]|-pass(?:in|out) |\bput [^\s]{1,40} "
    r"|[A-Za-z_]=[^\s,()]{1,40} |\buser(?:name)?[:=] ?[^\s,]{1,40},? )[A-Za-z0-9_.-]{0,40}\Z"
)
_LONE_NAME_LEFT = re.compile(
    r"(?:\A|\n|\\n)(?:export )?[a-z0-9_-]{0,40}\Z|[a-z0-9]\.[a-z0-9_.-]{0,40}\Z"
)
_LONE_LINE_LEFT = re.compile(r"(?:\A|\n|\\n)[ \t]*(?:- )?[\"']?[A-Za-z0-9_.-]{0,40}\Z")
_AWS_LEFT = re.compile(r"aws|access", re.IGNORECASE)
_AWS_SECRET = re.compile(r"[A-Za-z0-9/+]{40}")
_URL_USER_LEFT = re.compile(r"://[A-Za-z0-9_.-]*\Z")
# Calls whose literal names a codec, a variable or a part, and is no secret itself.
_LOOK_UP = re.compile(r"\.(?:encode|decode|getenv|get|split|replace|strip|find|join)\(|getenv\(")
_HASHED = re.compile(
    r"(?:[A-Za-z0-9_.-]{1,40}:)?\$(?:[0-9a-z]{1,2}|apr1|argon2[a-z]{1,2}|scrypt|pbkdf2[a-z0-9-]{0,12})\$|pbkdf2:|scrypt:|bcrypt\$"
)
_LOOK_BACK = 64


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
    # One test for all of them first: hardly any name ends so.
    if stem.lower().endswith(_HARMLESS_LEFT) and any(
        _ends_with_word(stem, word) for word in _HARMLESS_LEFT
    ):
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
    if is_placeholder(value) or _is_hashed(value):
        return False
    quoted = match["quote"] is not None
    if match["wrapper"] is not None and (not quoted or _LOOK_UP.search(match["wrapper"])):
        return False
    if match["prose"] is not None and _SET_LEFT.search(left) is not None:
        return _quoted_is_secret(name, value)
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


def _is_hashed(value: str) -> bool:
    """Tell whether a value is the hash of a password in one of the crypt formats."""
    return _HASHED.match(value) is not None


def _begins_word(match: re.Match[str], left: str) -> bool:
    """Refuse `compass` and `bypass`: a short keyword counts only at the start of a word."""
    if match.group().lower().startswith(("passw", "passphrase", "passcode")):
        return True
    if not match.group().lower().startswith(("pass", "pw", "psk", "auth", "key")):
        return True
    first = match.string[match.start()]
    return (
        not left[-1:].isalpha()
        or (first.isupper() and left[-1].islower())
        or (
            left.lower().endswith(
                (
                    "db",
                    "user",
                    "root",
                    "admin",
                    "api",
                    "access",
                    "secret",
                    "store",
                    "-key",
                    "ssh",
                    "smtp",
                )
            )
        )
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
        odd = any(map(str.isdigit, value)) or symbol or _is_odd_word(value)
        return len(value) >= 6 and odd and not is_code(value)
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
        return len(value) >= 6 and (
            has_letter_and_digit(value) or _has_odd_symbol(value) or _is_odd_word(value)
        )
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
    ends = end == len(text) or text[end] in "\r\n\"'&;, " or text.startswith("\\n", end)
    if match["assign"] == "=" and match["value"][-1] not in ",;)":
        if ends and _FIELD_LEFT.search(left) is not None:
            return True
        if _LONE_NAME_LEFT.search(left) is not None and (end == len(text) or text[end] in "\r\n"):
            return not left.endswith("self.") and not left.endswith("this.")
    if match["assign"] == ":" and ends and _FIELD_LEFT.search(left) is not None:
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
    value = value if is_human_password(value[-1:]) else value.rstrip(".,;:!?)")
    if " " in value or is_path(value) or is_code(value) or is_version_or_date(value):
        return False
    if is_hexadecimal(value):
        return _hexadecimal_is_secret(name, match, value)
    if "/" in value and not looks_random(value):
        return False
    if name is Name.PASSWORD and quoted and _states_value(match):
        return _quoted_is_secret(name, value)
    if name is Name.PASSWORD:
        return is_human_password(value) or (len(value) >= 10 and looks_random(value))
    return len(value) >= 16 and looks_random(value) and has_letter_and_digit(value)


def _hexadecimal_is_secret(name: Name, match: re.Match[str], value: str) -> bool:
    """Judge a hexadecimal number in prose, which is more often an id or a digest."""
    digits = len(value.replace("-", ""))
    if name is Name.PASSWORD:
        return digits >= 16 and has_letter_and_digit(value) and _states_value(match)
    named = match.group().lower().startswith(("token", "key", "bearer"))
    return named and digits >= 32 and has_letter_and_digit(value)


def _states_value(match: re.Match[str]) -> bool:
    """Tell `password is "x"`, `password: x` and SQL's `PASSWORD 'x'` from a mere mention."""
    words = str(match["prose"]).strip(" \t")
    if not match.group().lower().startswith(("passw", "passphrase", "passcode", "pw")):
        return False  # "pass to `name=`" is a verb
    return words != "" or (match.group()[:8].isupper() and match["quote"] == "'")


def _is_odd_word(value: str) -> bool:
    """Tell letters alone that mix their cases as no name does."""
    mixed = value.isalpha() and value != value.lower() and value != value.upper()
    return mixed and len(value) >= 8 and mean_segment(value) < 3


def _is_words(value: str) -> bool:
    return re.fullmatch(r"[A-Za-z]+(?:[-_.:/][A-Za-z0-9]+)+[,;)]*", value) is not None


def _has_odd_symbol(value: str) -> bool:
    return re.search(r"[!@#$%^&*?~+]", value) is not None


_ACCEPT = {name: partial(_accepts, name) for name in Name}
