"""The values of Kubernetes secrets, which are secret whatever their keys are called."""

import re

from cloxy_core.services.redaction.rule import Rule

_NEWLINE = r"(?:\r?\n|\\n)"
_ENTRIES = (
    rf"(?P<pairs>(?:{_NEWLINE}[ \t]{{1,12}}[A-Za-z0-9_.-]{{1,120}}:"
    r"[ \t]{1,4}[^\s\\]{1,8000}+){1,60}+)"
)
_KIND = r"kind: Secret(?![A-Za-z])"
_FILLER = rf"(?:{_NEWLINE}(?!---|kind:|(?:stringD|d)ata:)[^\n\\]{{0,300}}+){{0,40}}+"
_AFTER = re.compile(rf"{_KIND}{_FILLER}{_NEWLINE}(?:stringD|d)ata:{_ENTRIES}")
_BEFORE = re.compile(rf"(?:stringD|d)ata:{_ENTRIES}{_NEWLINE}{_KIND}")
_VALUE = re.compile(r":[ \t]{1,4}[\"']?([^\s\"'\\<{$][^\s\"'\\]{3,8000})")


def manifest_rules() -> tuple[Rule, ...]:
    """Return the rules for both orders in which the data of a secret is written."""
    return (
        Rule("kubernetes_secret", ("kind: Secret",), _AFTER, "pairs", within=_VALUE),
        Rule(
            "kubernetes_secret", ("kind: Secret",), _BEFORE, "pairs", anchored=False, within=_VALUE
        ),
    )
