"""Private key blocks: PEM and PGP armour, PuTTY files and JSON Web Keys."""

import re

from cloxy_core.services.redaction.rule import Rule
from cloxy_core.services.redaction.shape import looks_random

# What may stand between two lines of a key: white space, a written-out line break, quotes and
# plus signs of a string joined in source code, quoting and diff marks.
_GAP = r"(?:[\s>|#*\"'`,;]|\\{1,4}[nrt\"']|\\(?=\n)|-(?!-))"
_LINE_NUMBER = r"(?:[0-9]{1,6}(?:→|[|:] ?|\t))?"
_END_OF_LINE = r"(?=[ \t\r]*+(?:\n|\\|[\"'`]|-----|\Z))"
_HEADER = r"(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|MessageID)(?:: |:)[^\n\\\"]{0,200}"
# A mention of the head line is followed by prose, so the first line has to be a long one.
_FIRST = rf"(?:{_GAP}|\+(?=\s)){{0,24}}+{_LINE_NUMBER}(?:{_HEADER}|[A-Za-z0-9+/=]{{16,}}+)"
_BODY = (
    rf"(?>{_GAP}{{0,24}}+{_LINE_NUMBER}"
    rf"(?:{_HEADER}|[A-Za-z0-9+/=]{{16,}}+|[A-Za-z0-9+/=]{{1,15}}+{_END_OF_LINE}))"
)

_ARMOUR = re.compile(
    r"-----BEGIN (?:[A-Z0-9]{1,12}[ -]){0,4}PRIVATE KEY(?: BLOCK)?-----"
    # A truncated block has no END line; what looks like its body goes all the same.
    rf"{_FIRST}{_BODY}{{0,4000}}+"
    rf"(?:{_GAP}{{0,24}}+{_LINE_NUMBER}\+?-----END [A-Z0-9 -]{{0,60}}-----)?",
)
_PUTTY = re.compile(
    r"Private-Lines: [0-9]{1,4}(?P<secret>(?:\s{1,4}|\\[nr])" + _BODY + r"{1,400}+)"
)
_WEB_KEY = re.compile(
    r'"(?:d|k|p|q|dp|dq|qi)\\?"\s{0,4}:\s{0,4}\\?"(?P<secret>[A-Za-z0-9_-]{40,}+)'
)


def block_rules() -> tuple[Rule, ...]:
    """Return the rules for private keys of every common container."""
    return (
        Rule("private_key", ("-----BEGIN ",), _ARMOUR),
        Rule("private_key", ("Private-Lines: ",), _PUTTY, group="secret"),
        Rule(
            "private_key",
            ('"kty',),
            _WEB_KEY,
            group="secret",
            anchored=False,
            accept=lambda match: looks_random(match["secret"]),
        ),
    )
