"""What the library logs, in our log, without the texts that its records and errors quote."""

import logging
from typing import Final

LIBRARY: Final = "mcp"

_log = logging.getLogger("cloxy.mcp")


class Bare(logging.Handler):
    """Passes on which record it was, and the kind of its error; nothing that was filled in."""

    def emit(self, record: logging.LogRecord) -> None:
        """Log it as ours."""
        kind = record.exc_info[0] if record.exc_info else None
        error = "" if kind is None else f" ({kind.__name__})"
        place = f"{record.name}:{record.lineno}"
        _log.log(record.levelno, "%s: %s%s", place, str(record.msg).partition(":")[0], error)


def take_logs() -> None:
    """Take over the library's loggers, once; without it they would go to standard error."""
    logger = logging.getLogger(LIBRARY)
    if not any(isinstance(handler, Bare) for handler in logger.handlers):
        logger.addHandler(Bare())
    logger.setLevel(logging.WARNING)
    logger.propagate = False
