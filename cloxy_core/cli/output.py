"""What commands print: escaped for the terminal, UTF-8 whatever the locale says."""

import os
import sys
import unicodedata
from collections.abc import Sequence
from io import TextIOWrapper
from typing import Protocol, TextIO

from cloxy_core.escaping import escape, safe_json

__all__ = [
    "Reportable",
    "bold",
    "dim",
    "escape",
    "fail",
    "in_words",
    "is_terminal",
    "prepare_streams",
    "print_json",
    "print_line",
    "table",
    "warn",
]


class Reportable(Protocol):
    """An error that can be shown to a person."""

    message: str
    hint: str | None


def prepare_streams() -> None:
    """Make both streams UTF-8 and unable to fail on a character."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def print_line(text: str = "", *, error: bool = False) -> None:
    """Print one line that is already safe; to standard error for talk."""
    stream: TextIO | None = sys.stderr if error else sys.stdout
    if stream is not None:  # a closed descriptor leaves no stream at all
        stream.write(text + "\n")


def print_json(value: object) -> None:
    """Print a value as JSON, in which no raw control or invisible character is left."""
    print_line(safe_json(value, indent=2))


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
