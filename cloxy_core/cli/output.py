"""What commands print: escaped for the terminal, UTF-8 whatever the locale says."""

import json
import os
import re
import sys
import unicodedata
from collections.abc import Sequence
from io import TextIOWrapper
from typing import Protocol, TextIO

# Characters that move the cursor, change the terminal, hide, or reorder what a person reads:
# C0, DEL and C1; soft hyphen; joiners and zero-width marks; bidi controls; line separators;
# lone surrogates; annotation marks; tag characters and the second block of variation selectors.
_UNSAFE = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e01ef"
)
_IN_LINES = re.compile(f"[{_UNSAFE}]")
_IN_ONE_LINE = re.compile(f"[\\t\\n{_UNSAFE}]")
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


class Reportable(Protocol):
    """An error that can be shown to a person."""

    message: str
    hint: str | None


def prepare_streams() -> None:
    """Make both streams UTF-8 and unable to fail on a character."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def escape(text: object, *, lines: bool = False) -> str:
    r"""Show control, invisible and reordering characters instead of obeying them.

    Args:
        text: anything; what is not text is converted.
        lines: keep line breaks and tabs, for a text that is printed as a block of its own;
            otherwise they are shown as `\n` and `\t`, so that a field stays in its line.
    """
    plain = text if isinstance(text, str) else str(text)
    if lines:
        return _IN_LINES.sub(_shown, plain.replace("\r\n", "\n"))
    return _IN_ONE_LINE.sub(_shown, plain)


def _shown(match: re.Match[str]) -> str:
    character = match[0]
    code = ord(character)
    if character in _SHORT:
        return _SHORT[character]
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def print_line(text: str = "", *, error: bool = False) -> None:
    """Print one line that is already safe; to standard error for talk."""
    stream: TextIO | None = sys.stderr if error else sys.stdout
    if stream is not None:  # a closed descriptor leaves no stream at all
        stream.write(text + "\n")


def print_json(value: object) -> None:
    """Print a value as JSON, in which no raw control or invisible character is left."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    print_line(_IN_LINES.sub(_json_shown, text))


def _json_shown(match: re.Match[str]) -> str:
    return json.dumps(match[0])[1:-1] if match[0] != "\x7f" else "\\u007f"


def table(rows: Sequence[Sequence[object]], *, indent: str = "") -> list[str]:
    """Lines of aligned columns; every cell is escaped."""
    cells = [[escape(cell) for cell in row] for row in rows]
    columns = max((len(row) for row in cells), default=0)
    widths = [
        max((_width(row[i]) for row in cells if i < len(row)), default=0) for i in range(columns)
    ]
    lines = []
    for row in cells:
        padded = [cell + " " * (widths[i] - _width(cell)) for i, cell in enumerate(row)]
        lines.append((indent + "  ".join(padded)).rstrip())
    return lines


def _width(text: str) -> int:
    """Terminal columns that a text takes."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def bold(text: str) -> str:
    """The text in bold where the output is a terminal that shows it."""
    return f"\x1b[1m{text}\x1b[0m" if _styled() else text


def dim(text: str) -> str:
    """The text in a fainter colour where the output is a terminal that shows it."""
    return f"\x1b[2m{text}\x1b[0m" if _styled() else text


def _styled() -> bool:
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return is_terminal(sys.stdout)


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a person is likely to watch the stream."""
    return stream is not None and not stream.closed and stream.isatty()


def warn(text: str) -> None:
    """Print a warning to standard error."""
    print_line(f"warning: {escape(text)}", error=True)


def in_words(error: Reportable) -> str:
    """What is wrong and what to do about it, as one sentence."""
    # The boundary of the server speaks in whole sentences, everything else in halves.
    return f"{error.message.removesuffix('.')}; {error.hint}" if error.hint else error.message


def fail(error: Reportable) -> None:
    """Print an error and what to do about it to standard error."""
    print_line(f"cloxy: {escape(in_words(error))}", error=True)
