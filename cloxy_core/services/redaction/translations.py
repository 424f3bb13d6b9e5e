"""Passwords and tokens that are named in another language than English."""

import re

from cloxy_core.services.redaction.rule import Rule
from cloxy_core.services.redaction.shape import (
    has_letter_and_digit,
    is_code,
    is_human_password,
    is_path,
    is_placeholder,
    looks_random,
)

_PASSWORD_WORDS = (
    "密码", "密碼", "口令", "パスワード", "비밀번호", "пароль", "contraseña", "hasło",
)  # fmt: skip
_TOKEN_WORDS = ("令牌", "密钥", "密鑰", "金鑰", "トークン", "토큰", "токен")
_TAIL = (
    r"[ \t]{0,4}(?P<says>是|为|為|は|(?:is|es|est|é|to)(?![a-z]))?[ \t]{0,4}"
    r"(?P<colon>[:：=])?[ \t]{0,4}"
    r"[\"'`「“]?(?P<secret>[A-Za-z0-9_.!@#$%^&*?~+/=-]{6,400}+)"
)


def translation_rules() -> tuple[Rule, ...]:
    """Return the rules for names in the languages that developers write to agents most."""
    return (_rule("password", _PASSWORD_WORDS), _rule("token", _TOKEN_WORDS))


def _rule(kind: str, words: tuple[str, ...]) -> Rule:
    pattern = re.compile(f"(?:{'|'.join(words)}){_TAIL}", re.IGNORECASE)

    def accept(match: re.Match[str]) -> bool:
        value = match["secret"].rstrip(".")
        if is_placeholder(value) or is_path(value) or is_code(value):
            return False
        if kind == "token":
            return len(value) >= 16 and has_letter_and_digit(value) and looks_random(value)
        if match["colon"] is not None:
            return has_letter_and_digit(value) or looks_random(value)
        return is_human_password(value) or (len(value) >= 10 and looks_random(value))

    return Rule(kind, words, pattern, "secret", ignore_case=True, accept=accept)
