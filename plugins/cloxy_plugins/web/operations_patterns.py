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
"""Bytes of a window that the next one sees again; longer matches are looked for in a second pass,
over the whole line, for which the engine cannot be stopped."""
_HINT: Final = (
    "write it in the syntax of RE2: no look-around and no back-references; or leave out `regex`"
)


@dataclass(frozen=True, slots=True)
class Found:
    """Which lines match.

    Attributes:
        lines: numbers of lines, from 0, growing.
        complete: whether there was time for all lines.
        whole: whether matches of any length were looked for, in all lines that were searched.
    """

    lines: Sequence[int]
    complete: bool = True
    whole: bool = True


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
    is_whole = True
    for number, line in enumerate(lines):
        data = line.encode("utf-8", "replace")
        began = clock()
        matches = _in_windows(compiled, data, until, clock)
        if matches is None:
            return Found(found, complete=False, whole=is_whole)
        if not matches and len(data) > WINDOW:
            # The second pass takes about as long as the first.
            now = clock()
            is_time = now + (now - began) <= until
            is_whole = is_whole and is_time
            matches = is_time and compiled.search(data) is not None
        if matches:
            found.append(number)
    return Found(found, whole=is_whole)


def _in_windows(
    compiled: Any,  # noqa: ANN401 - the engine has no types
    data: bytes,
    until: float,
    clock: Callable[[], float],
) -> bool | None:
    """Whether a line matches within a window of it; None when there was no time to tell."""
    for start in range(0, max(len(data) - OVERLAP, 1), WINDOW - OVERLAP):
        # The engine sees what stands around a window: anchors and borders stay what they are.
        if compiled.search(data, start, min(start + WINDOW, len(data))) is not None:
            return True
        if clock() > until:
            return None
    return False


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
