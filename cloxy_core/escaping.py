"""Text that others wrote, made harmless for a reader: a terminal, a line of a log, a model.

What is escaped stays readable: a character is shown by its code instead of being obeyed.
"""

import json
import re
from typing import Final

# Characters that move the cursor, change the terminal, hide, or reorder what a person reads:
# C0, DEL and C1; soft hyphen; joiners, fillers and zero-width marks; bidi controls; line
# separators; lone surrogates; annotation marks; tag characters and the second block of variation
# selectors.
UNSAFE: Final = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""The inside of a character class; line feed and tab are not in it."""

_IN_LINES: Final = re.compile(f"[{UNSAFE}]")
_IN_ONE_LINE: Final = re.compile(f"[\\t\\n{UNSAFE}]")
_SHORT: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def escape(text: object, *, lines: bool = False) -> str:
    r"""Show control, invisible and reordering characters instead of obeying them.

    Args:
        text: anything; what is not text is converted.
        lines: keep line breaks and tabs, for a text that is shown as a block of its own;
            otherwise they are shown as `\n` and `\t`, so that a field stays in its line.
    """
    plain = text if isinstance(text, str) else str(text)
    if lines:
        return _IN_LINES.sub(_shown, plain.replace("\r\n", "\n"))
    return _IN_ONE_LINE.sub(_shown, plain)


def safe_json(value: object, *, indent: int | None = None, compact: bool = False) -> str:
    """A value as JSON, in which no raw control, invisible or reordering character is left.

    Whoever reads it gets the value as it was.

    Args:
        value: what JSON knows.
        indent: spaces for each level; None for one line.
        compact: no spaces at all.

    Raises:
        TypeError: the value cannot be written as JSON.
    """
    marks = (",", ":") if compact else None
    text = json.dumps(value, ensure_ascii=False, indent=indent, separators=marks)
    return _IN_LINES.sub(_json_shown, text)


def _shown(match: re.Match[str]) -> str:
    character = match[0]
    code = ord(character)
    if character in _SHORT:
        return _SHORT[character]
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _json_shown(match: re.Match[str]) -> str:
    # DEL is the only one of them that JSON does not write by its code.
    return json.dumps(match[0])[1:-1] if match[0] != "\x7f" else "\\u007f"
