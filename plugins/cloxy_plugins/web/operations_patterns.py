"""Finding lines by words or by a regular expression, in a time that a page cannot stretch.

Regular expressions are those of RE2, whose time grows with the text and with the pattern, never
with their product's powers. What is left is bounded: the size of a compiled pattern, and the time
for one page, looked at between windows of the text.
"""

import time
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from cloxy_hookspecs import InputError, MissingExtraError

MOST_PROGRAM: Final = 2_000
"""Instructions of a compiled pattern."""
MOST_MEMORY: Final = 8 * 1024 * 1024
SECONDS: Final = 2.0
"""For all lines of a page."""
WINDOW: Final = 20_000
"""Bytes of a long line that are searched at a time; the clock is looked at after each."""
OVERLAP: Final = 2_000
"""Bytes of a window that the next one sees again: longer matches may be missed there."""
_HINT: Final = (
    "write it in the syntax of RE2: no look-around and no back-references; or leave out `regex`"
)


@dataclass(frozen=True, slots=True)
class Found:
    """Which lines match.

    Attributes:
        lines: numbers of lines, from 0, growing.
        complete: whether there was time for all lines.
    """

    lines: Sequence[int]
    complete: bool = True


def find_text(lines: Sequence[str], text: str) -> Found:
    """Lines that hold a text, whatever the case."""
    wanted = _folded(text)
    return Found([number for number, line in enumerate(lines) if wanted in _folded(line)])


def find_pattern(
    lines: Sequence[str], pattern: str, clock: Callable[[], float] = time.monotonic
) -> Found:
    """Lines in which a regular expression matches, whatever the case.

    Args:
        lines: of a page.
        pattern: in the syntax of RE2; it sees one line at a time.
        clock: seconds.

    Raises:
        InputError: the pattern is none, or too large.
        MissingExtraError: the engine is not installed.
    """
    compiled = _compiled(pattern)
    until = clock() + SECONDS
    found: list[int] = []
    for number, line in enumerate(lines):
        data = line.encode("utf-8", "replace")
        for start in range(0, max(len(data) - OVERLAP, 1), WINDOW - OVERLAP):
            # The engine sees what stands around a window: anchors and borders stay what they are.
            if compiled.search(data, start, min(start + WINDOW, len(data))) is not None:
                found.append(number)
                break
            if clock() > until:
                return Found(found, complete=False)
    return Found(found)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()


def _compiled(pattern: str) -> Any:  # noqa: ANN401 - the engine has no types
    engine = _engine()
    options = engine.Options()
    options.case_sensitive = False
    options.never_capture = True
    options.log_errors = False
    options.max_mem = MOST_MEMORY
    try:
        compiled = engine.compile(pattern, options)
    except (engine.error, UnicodeError) as error:
        raise InputError(f"the pattern cannot be used: {_reason(error)}", hint=_HINT) from error
    finally:
        engine.purge()  # it would keep megabytes of the last 128 patterns
    if compiled.programsize > MOST_PROGRAM:
        raise InputError(
            "the pattern is too large", hint="count with smaller numbers, or give fewer choices"
        )
    return compiled


def _engine() -> Any:  # noqa: ANN401 - it has no types
    """The engine, loaded when somebody needs it.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        return import_module("re2")
    except ImportError as error:
        raise MissingExtraError(
            "regular expressions need a package that is not installed here",
            hint="run pip install google-re2, or search without `regex`",
        ) from error


def _reason(error: Exception) -> str:
    """What the engine says; it gives bytes."""
    said = error.args[0] if error.args else ""
    return said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
