"""A change as lines for people: what we write in full, what is around it without its secrets."""

import difflib
import re
import shlex
from typing import Final

from cloxy_core.connect.plan import Action, Step

_CONTEXT: Final = 2
_WIDEST: Final = 200
_SECRET: Final = re.compile(
    r"((?:key|token|secret|passw|auth|credential|cookie|bearer)[\w.-]*[\"']?\s*[:=,]\s*)"
    r"(\"(?:[^\"\\]|\\.)*\"?|'[^']*'?|[^\s,}\]]+)",
    re.IGNORECASE,
)
_IN_ADDRESS: Final = re.compile(r"(?<=://)[^/\s\"'@]+(?=@)")


def change_lines(step: Step) -> list[str]:
    """The lines that go and come, with `-`, `+` or a space before each; commands with `$`."""
    if step.commands:
        return [f"$ {shlex.join(command)}" for command in step.commands]
    if not step.changes:
        return []
    before, after = step.content.text, step.after
    if after is None:
        return [*(f"-{masked(line)}" for line in before.splitlines()), "(the file is deleted)"]
    lines = list(
        difflib.unified_diff(before.splitlines(), after.splitlines(), n=_CONTEXT, lineterm="")
    )[2:]
    if step.action is Action.ADD and any(len(line) > _WIDEST for line in lines):
        return [f"+{line}" for edit in step.edits for line in edit.inserted.splitlines()]
    return [masked(line)[:_WIDEST] for line in lines]


def masked(line: str) -> str:
    """A line in which the values of keys, tokens and passwords are replaced by dots."""
    return _IN_ADDRESS.sub("…", _SECRET.sub(r"\1…", line))


def summary(step: Step) -> str:
    """What is done, in a word or two."""
    words = {
        Action.ADD: "new entry",
        Action.UPDATE: "brought up to date",
        Action.REPLACE: "entry of another program overwritten",
        Action.SAME: "connected already, nothing to change",
        Action.REMOVE: "entry taken out",
        Action.ABSENT: "not connected, nothing to change",
        Action.PRINT: "only shown: where this client keeps its file here is not confirmed",
    }
    return words[step.action]
