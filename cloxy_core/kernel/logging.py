"""Logging: a logger for each plugin, secrets masked, one record one line that none can forge."""

import logging
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

from cloxy_core.escaping import escape

ROOT = "cloxy"
PLUGINS = f"{ROOT}.plugins"
FILE_NAME = "cloxy.log"
FILE_BYTES = 5_000_000
FILES_KEPT = 3

_FILE_MODE = 0o600
_FOLDER_MODE = 0o700
_LINE = "%(asctime)s %(levelname)s %(name)s: %(message)s"
_TIME = "%Y-%m-%dT%H:%M:%S%z"


def plugin_logger(plugin: str) -> logging.Logger:
    """The logger of a plugin."""
    return logging.getLogger(f"{PLUGINS}.{plugin}")


class SafeFormatter(logging.Formatter):
    """Masks secrets first, then shows control characters instead of writing them.

    The lines of a traceback follow their record, each behind a bar, so that no text inside one
    can look like a record.
    """

    def __init__(self, mask: Callable[[str], str]) -> None:
        """Format with a mask.

        Args:
            mask: replaces secrets in a text.
        """
        super().__init__(_LINE, _TIME)
        self._mask = mask

    def format(self, record: logging.LogRecord) -> str:
        """The record as one line, and the lines of its traceback."""
        safe = logging.makeLogRecord(record.__dict__)
        safe.msg, safe.args = _shown(self._masked(_message(record))), None
        # The base class would append these to the line as they are.
        safe.exc_info = safe.exc_text = safe.stack_info = None
        lines = [super().format(safe)]
        for text in (self._traceback(record), record.stack_info):
            if text:
                lines += [f"  | {_shown(line)}" for line in self._masked(text).splitlines()]
        return "\n".join(lines)

    def _traceback(self, record: logging.LogRecord) -> str | None:
        if record.exc_info and record.exc_info[0] is not None:
            return self.formatException(record.exc_info)
        return None

    def _masked(self, text: str) -> str:
        try:
            return self._mask(text)
        except Exception as error:
            # Whatever the reason, the text must not be written unmasked.
            return f"(not written: masking failed with {type(error).__name__})"


class PrivateRotatingFile(RotatingFileHandler):
    """A log file that only its owner can read, with a few older ones beside it.

    A record that cannot be written, for example on a full disk, is counted and dropped.
    """

    def __init__(self, file: Path) -> None:
        """Open the file for appending.

        Args:
            file: the log file; its folder must exist.

        Raises:
            OSError: it cannot be opened, or is a link.
        """
        self.dropped = 0
        super().__init__(
            file,
            maxBytes=FILE_BYTES,
            backupCount=FILES_KEPT,
            encoding="utf-8",
            errors="backslashreplace",
        )

    def handleError(self, record: logging.LogRecord) -> None:
        """Count what could not be written; the base class would print it, unmasked."""
        self.dropped += 1

    def _open(self) -> TextIOWrapper:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
        descriptor = os.open(self.baseFilename, flags | getattr(os, "O_CLOEXEC", 0), _FILE_MODE)
        if stat.S_IMODE(os.fstat(descriptor).st_mode) != _FILE_MODE and hasattr(os, "fchmod"):
            os.fchmod(descriptor, _FILE_MODE)
        return os.fdopen(descriptor, "a", encoding=self.encoding, errors=self.errors)


@contextmanager
def logging_to(
    folder: Path, *, level: str, mask: Callable[[str], str]
) -> Iterator[PrivateRotatingFile]:
    """Write the log of the engine and of its plugins to a folder meanwhile.

    Args:
        folder: made with mode 0700 if it is not there.
        level: least level that is written: debug, info, warning or error.
        mask: replaces secrets in a text.

    Raises:
        OSError: the log file cannot be opened.
    """
    folder.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
    handler = PrivateRotatingFile(folder / FILE_NAME)
    handler.setFormatter(SafeFormatter(mask))
    logger = logging.getLogger(ROOT)
    before = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(level.upper())
    # Handlers of the root logger, if somebody sets any up, would not mask.
    logger.propagate = False
    try:
        yield handler
    finally:
        logger.setLevel(before[0])
        logger.propagate = before[1]
        logger.removeHandler(handler)
        handler.close()


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception as error:
        # A wrong format in a plugin's call: say so, rather than lose the record.
        return f"{record.msg} (its arguments do not fit: {type(error).__name__})"


def _shown(text: str) -> str:
    return escape(text)
