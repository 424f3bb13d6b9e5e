"""What a client is told when something fails, and what only the log is told."""

import logging
import traceback

from cloxy_core.surfaces.mcp.neutral import neutral_text
from cloxy_hookspecs import CloxyError

_FRAMES = 8
_log = logging.getLogger("cloxy.mcp")


def in_words(error: CloxyError) -> str:
    """What is wrong and what to do about it; an error may quote what it was given."""
    words = f"{error.message.removesuffix('.')}; {error.hint}" if error.hint else error.message
    return neutral_text(words)


def masked(where: str, error: Exception) -> str:
    """Log an error that nobody foresaw, and return the words for the client.

    The text of such an error may quote the request or a memory; its place in the code may not.
    """
    frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
    places = " < ".join(f"{f.filename}:{f.lineno} {f.name}" for f in reversed(frames))
    _log.error("unhandled %s in %s at %s", type(error).__name__, where, places)
    return f"something inside Cloxy failed ({type(error).__name__}); the server's log says where"
