"""Which part of a user line's text a person wrote.

The harness speaks in the user's name too: reminders, notices of the editor, output of commands,
notifications. What it wraps around or puts before a person's words is taken off; the words
themselves stay exactly as they were typed.
"""

import re

from cloxy_hookspecs.logs.words import Wrappers

_WRAPPERS = Wrappers(
    (
        "ide_opened_file",
        "ide_selection",
        "ide_diagnostics",
        "system-reminder",
        "user-prompt-submit-hook",
    ),
    unclosed=False,
)
_COMMAND = re.compile(r"\s*<(command-[a-z]{1,20})>")
_INTERRUPTED = re.compile(r"\s*\[Request interrupted by user[^\]\n]{0,100}\]")
_SHELL = re.compile(r"\s*<bash-input>")
_MACHINE = (
    "<local-command-",
    "<bash-stdout",
    "<bash-stderr",
    "<task-notification",
    "[Request interrupted",
    "Caveat: The messages below",
)


def human_words(text: str) -> str:
    """What a person wrote in a text; empty when it is the harness's alone."""
    words = _WRAPPERS.taken_off(text)
    start = words.lstrip()
    if start.startswith("["):
        words, start = _after_interruption(words, start)
    if start.startswith(_MACHINE):
        return ""
    if start.startswith(("<command-name>", "<command-message>")):
        return _command_words(words)
    if start.startswith("<bash-input>"):
        return _shell_words(words)
    return words if start else ""


def _after_interruption(words: str, start: str) -> tuple[str, str]:
    mark = _INTERRUPTED.match(words)
    if mark is None:
        return words, start
    rest = words[mark.end() :].lstrip()
    return rest, rest


def _command_words(text: str) -> str:
    """The arguments that were typed behind a command, and what follows its tags."""
    words: list[str] = []
    position = 0
    while tag := _COMMAND.match(text, position):
        closing = f"</{tag[1]}>"
        end = text.find(closing, tag.end())
        if end < 0:
            break
        if tag[1] == "command-args":
            words.append(text[tag.end() : end].strip())
        position = end + len(closing)
    words.append(text[position:].strip())
    return "\n\n".join(part for part in words if part)


def _shell_words(text: str) -> str:
    """The line that was typed for the shell, without its output."""
    opening = _SHELL.match(text)
    if opening is None:
        return text
    end = text.find("</bash-input>", opening.end())
    return text[opening.end() : end if end >= 0 else len(text)].strip()
