"""Which part of a text that stands as the user's a person wrote."""

import re

from cloxy_hookspecs.logs.words import Wrappers, without_between

# One that was cut off before its end is the program's, too.
_WRAPPERS = Wrappers(
    (
        "session_context",
        "hook_context",
        "system-reminder",
        "task-notification",
        "system_reminder",
    ),
    unclosed=True,
)
_MACHINE = ("I ran the following shell command:",)
# `/help`, `/chat save x`, `?`; a path that a sentence begins with is none.
_COMMAND = re.compile(r"/[A-Za-z?][\w:.-]*(?:\s|\Z)|\?\w*\s*\Z")

_FILES_START = "--- Content from referenced files ---"
_FILES_END = "--- End of content ---"


def human_words(text: str) -> str:
    """What a person wrote in a text; empty when all of it was put in by the program."""
    words = _WRAPPERS.taken_off(text)
    start = words.lstrip()
    if start.startswith(_MACHINE) or _COMMAND.match(start):
        return ""
    return words if start else ""


def without_files(texts: list[str]) -> list[str]:
    """Texts of one message without the content of files that it names.

    The content may stand in parts of its own between two lines, or with its lines in a part that
    begins with words; without a second line it goes on to the end.
    """
    return without_between(texts, _FILES_START, _FILES_END)
