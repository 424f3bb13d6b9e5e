"""Removing what a person marked as private.

Privacy comes before completeness: a block that is never closed reaches to the end of the text,
also when the opening tag was only mentioned, for example between backticks.
"""

import re

_TAG = re.compile(
    # JSON encoders may write the angle brackets of a string as \u003c and \u003e.
    r"(?:<|\\{1,4}u003c)\s{0,40}(?P<close>/?)\s{0,40}private"
    r"(?:[\s/](?:(?!\\{1,4}u003e)[^<>]){0,1000})?(?:>|\\{1,4}u003e)",
    re.IGNORECASE,
)


def strip_private(text: str) -> str:
    """Remove every `<private>…</private>` block.

    Tags are recognised in any case, with white space or attributes inside, nested, and with
    JSON-escaped angle brackets. A block that is not closed is removed to the end of the text;
    a closing tag without an opening one is left as it is.
    """
    return strip_private_blocks(text)[0]


def strip_private_blocks(text: str) -> tuple[str, int]:
    """Remove private blocks; return the remaining text and how many outermost blocks went."""
    # Cheap refusal first: every text of the store passes here.
    if ("<" not in text and "\\u003" not in text) or "private" not in text.lower():
        return text, 0
    kept: list[str] = []
    position = depth = blocks = 0
    for tag in _TAG.finditer(text):
        if not tag["close"]:
            if depth == 0:
                kept.append(text[position : tag.start()])
                blocks += 1
            depth += 1
        elif depth > 0:
            depth -= 1
            position = tag.end()
    if blocks == 0:
        return text, 0
    if depth == 0:
        kept.append(text[position:])
    return "".join(kept), blocks
