"""Secrets among the options and arguments of well-known command-line tools."""

import re
from collections.abc import Callable

from cloxy_core.services.redaction.rule import Rule
from cloxy_core.services.redaction.shape import is_path, is_placeholder, looks_random

_WORD = r"(?:(?<=['\"])[^\"'\n]{3,200}|[^\s\"'`\\]{3,200})"
_QUOTE = r"\\?[\"']?"
_CURL_USER = re.compile(
    r"(?:(?<=[\s\"',\[])-u|(?:(?<=\s-)|(?<=--proxy))-user)(?:[\"',]{0,2}[ \t=]{1,4})?[\"']?"
    r"[^\s:\"'/\\-][^\s:\"'/\\]{0,100}:"
    r"(?P<secret>(?<=['\"].)[^\"'\n]{3,200}|[^\s\"'`\\]{3,200})"
)
_CURL_COOKIE = re.compile(
    rf" -b {_QUOTE}(?P<pairs>[A-Za-z0-9_.$%-]{{1,100}}=[^\r\n\"'`\\]{{8,4000}})"
)
_PAIR_VALUE = re.compile(r"=([^;\s\"']{8,4000})")

# By option letter: the tools that take a secret behind it, and those that take it glued to it.
_SPACED = {
    "p": r"(?:docker|podman|helm registry|az|oc|cf|nerdctl) login|mongo(?:sh|dump|restore|export|"
    r"import)?|sshpass|mysql[a-z]{0,8}|mariadb(?:-[a-z]{1,8})?",
    "a": r"redis-cli|valkey-cli|keydb-cli",
    "w": r"ldap(?:search|add|modify|delete|whoami|passwd)|dsconf",
    "P": r"sqlcmd|bcp|isql|tsql|zip|unzip|mosquitto_(?:pub|sub)",
    "k": r"openssl enc",
    "U": r"smb[a-z]{1,12}|rpcclient",
}
_GLUED = {"p": r"sshpass|mysql[a-z]{0,8}|mariadb(?:-[a-z]{1,8})?|7za?|7zz|rar|unrar"}
_OPTION = re.compile(
    rf" -(?:(?P<letter>[pawPk])(?P<space> {{0,2}}){_QUOTE}|(?P<user>U) [\"']?[^\s%\"']{{1,80}}%)"
    rf"(?P<secret>{_WORD})"
)
_LOOK_BACK = 160
_NUMBER = re.compile(r"[0-9.:/]+")

_PIPED = re.compile(
    r"echo (?:-n )?(?P<quote>[\"']?)(?:[a-z_][a-z0-9_-]{0,31}:(?=[^\n]{3,200}chpasswd))?"
    r"(?P<secret>(?<=[\"':])[^\"'\n|]{4,200}|[^\s\"'|]{4,200})[\"']? ?\| ?"
    r"[^\n|]{0,80}?(?:-stdin|sudo -S|chpasswd|--with-token)"
)
_ARGUMENT = re.compile(
    r"(?:(?<=ht)passwd -[a-z]{0,6}b[a-z]{0,6} [^\s]{1,200} [^\s]{1,80}"
    r"|(?<=wpa_)passphrase [^\s]{1,80}|(?<=require)pass|(?<=master)auth"
    r"|(?<=ch)passwd <<< ?[\"']?[a-z_][a-z0-9_-]{0,31}(?=:)"
    rf"|(?<=change_)password [^\s]{{1,80}})[ :]{_QUOTE}(?P<secret>{_WORD})",
    re.IGNORECASE,
)
_SECRET_SET = re.compile(
    r"secret set [A-Za-z0-9_]{1,80} (?:-[^\n]{0,80}? )?(?:--body|-b)[ =]"
    rf"{_QUOTE}(?P<secret>{_WORD})",
    re.IGNORECASE,
)
_SECURE_STRING = re.compile(
    rf"ConvertTo-SecureString (?:-String )?{_QUOTE}(?P<secret>{_WORD})", re.IGNORECASE
)
_PASSWORD_FILE = re.compile(
    r":(?:[0-9]{2,5}|\*):(?P<base>[A-Za-z0-9_.*-]{1,64}):(?P<user>[A-Za-z0-9_.*-]{1,64}):"
    r"(?P<secret>[^\s:\"'`\\]{4,128})(?=\s|\\n|\Z|[\"'`])"
)
_HOST_LEFT = re.compile(r"(?:^|[\s\"'`])[A-Za-z0-9_.*-]{1,80}\Z")


def command_rules() -> tuple[Rule, ...]:
    """Return the rules for secrets that a command or the line of a password file holds."""
    return (
        _password(("-u",), _CURL_USER, _is_user_password),
        Rule(
            "cookie",
            (" -b ",),
            _CURL_COOKIE,
            group="pairs",
            within=_PAIR_VALUE,
            accept=_belongs_to_curl,
        ),
        _password((" -",), _OPTION, _is_option_of_tool),
        _password(("echo ",), _PIPED, _is_literal),
        _folded(("pass", "auth"), _ARGUMENT, _is_argument),
        _folded(("secret",), _SECRET_SET, _is_literal),
        _password(("ConvertTo-SecureString",), _SECURE_STRING, _is_literal),
        _password((":5432:", ":*:"), _PASSWORD_FILE, _is_password_line),
    )


def _password(
    triggers: tuple[str, ...],
    pattern: re.Pattern[str],
    accept: Callable[[re.Match[str]], bool],
) -> Rule:
    return Rule("password", triggers, pattern, "secret", accept=accept)


def _folded(
    triggers: tuple[str, ...],
    pattern: re.Pattern[str],
    accept: Callable[[re.Match[str]], bool],
) -> Rule:
    return Rule("password", triggers, pattern, "secret", ignore_case=True, accept=accept)


def _tools(names: str) -> re.Pattern[str]:
    return re.compile(rf"(?:{names})(?:\s|\Z)")


_SPACED_TOOLS = {letter: _tools(names) for letter, names in _SPACED.items()}
_GLUED_TOOLS = {letter: _tools(names) for letter, names in _GLUED.items()}
_MYSQL = _tools(r"mysql[a-z]{0,8}|mariadb(?:-[a-z]{1,8})?")
_CURL = _tools(r"curl|https?|xh")


def _is_option_of_tool(match: re.Match[str]) -> bool:
    letter, value = match["letter"] or match["user"], match["secret"]
    apart = match["user"] is not None or match["space"] != ""
    tools = (_SPACED_TOOLS if apart else _GLUED_TOOLS).get(letter)
    if tools is None or not _runs(match, tools) or not _is_literal(match):
        return False
    if not _runs(match, _MYSQL):
        return True
    if apart:
        # There a space makes the next word the name of a database.
        return looks_random(value) or value[-1] in "!@#$%^&*"
    return _NUMBER.fullmatch(value) is None


def _runs(match: re.Match[str], tools: re.Pattern[str]) -> bool:
    """Tell whether one of the tools stands in front of the option, in the same command."""
    text, end = match.string, match.start()
    start = max(0, end - _LOOK_BACK)
    for separator in "\n|;&":
        start = max(start, text.rfind(separator, start, end) + 1)
    found = tools.search(text, start, end)
    return found is not None and not text[max(0, found.start() - 1) : found.start()].isalnum()


def _belongs_to_curl(match: re.Match[str]) -> bool:
    return _runs(match, _CURL) and "$" not in match["pairs"] and "{" not in match["pairs"]


def _is_literal(match: re.Match[str]) -> bool:
    value = match["secret"]
    return not is_placeholder(value) and not is_path(value) and value[0] not in "-$<%{"


def _is_user_password(match: re.Match[str]) -> bool:
    return _is_literal(match) and _NUMBER.fullmatch(match["secret"]) is None


def _is_argument(match: re.Match[str]) -> bool:
    value = match["secret"]
    odd = any(map(str.isdigit, value)) or not value.isalpha() or looks_random(value)
    return _is_literal(match) and odd and len(value) >= 6


def _is_password_line(match: re.Match[str]) -> bool:
    left = match.string[max(0, match.start() - 81) : match.start()]
    return _HOST_LEFT.search(left) is not None and _is_argument(match)
