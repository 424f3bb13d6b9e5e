"""What a person meant by what was typed: words, a command, or nothing of their own."""

import re
from dataclasses import dataclass

# Commands whose words are for the model.
_FOR_THE_MODEL = ("architect", "ask", "code", "context", "help")
_COMMAND = re.compile(r"/([a-z][a-z0-9_-]*)(?:\s+|\Z)")
_CHOICE = "(Y)es/(N)o"
_CHOSEN = re.compile(r" \[[^\[\]]*\]: *\w*\Z")
_AMBIGUOUS = "co"
_BLANK = "<blank>"
_SHORTEST = 2


@dataclass(frozen=True, slots=True)
class Typed:
    """What was typed.

    Attributes:
        words: what a person says; empty when it is a command, or nothing.
        command: whether the words stood behind a command.
    """

    words: str
    command: bool = False


def typed(text: str) -> Typed:
    """Read what was typed.

    A command may be cut short, as long as it can be no other. Aider notes the words behind one
    once more, as if they had been typed for themselves.
    """
    stripped = text.strip()
    if stripped in ("", _BLANK) or stripped.startswith("!") or _is_choice(stripped):
        return Typed("", command=True)
    found = _COMMAND.match(stripped)
    if found is None:
        return Typed(text.strip("\n").rstrip())
    words = stripped[found.end() :].strip() if _is_for_the_model(found[1]) else ""
    return Typed(words, command=True)


def plain(text: str) -> str:
    """A text for comparison: white space at the ends of lines does not count."""
    return "\n".join(line.rstrip() for line in text.strip().split("\n"))


def _is_choice(text: str) -> bool:
    """Whether it is the answer to a question of Aider's, noted with the question."""
    before, _choice, behind = text.partition(_CHOICE)
    asked = behind and "\n" not in before and "\n" not in behind
    return bool(asked and _CHOSEN.search(behind))


def _is_for_the_model(name: str) -> bool:
    if name in _FOR_THE_MODEL:
        return True
    if len(name) < _SHORTEST or name == _AMBIGUOUS:
        return False
    return any(each.startswith(name) for each in _FOR_THE_MODEL)
