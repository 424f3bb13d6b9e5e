"""The block of YAML at the head of a Markdown file, as far as programs write it.

Read are names with a text, a list, or lines of text; anything else of YAML is kept as the text
that it is, so that nothing is lost and nothing is ever run or loaded.
"""

import json
import re
from dataclasses import dataclass, field
from typing import Final

_FENCE: Final = re.compile(r"---[ \t]*")
_ENTRY: Final = re.compile(r"(?P<name>\w[^:]*?)\s*:(?:[ \t]+(?P<value>.*))?")
_BLOCK: Final = re.compile(r"[|>][+\-0-9]*")
_MOST_LINES: Final = 2000
"""Lines after which a block that was not closed is none."""


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What a file begins with.

    Attributes:
        fields: texts and lists of texts by name; empty when there is no such block.
        body: the rest of the file, as it is.
    """

    body: str
    fields: dict[str, str | list[str]] = field(default_factory=dict[str, "str | list[str]"])


def front_matter(text: str) -> FrontMatter:
    """Part a file into the block at its head and its body."""
    text = text.removeprefix("\ufeff")
    lines = text.splitlines(keepends=True)
    start = next((number for number, line in enumerate(lines) if line.strip()), len(lines))
    if start == len(lines) or not _is_fence(lines[start]):
        return FrontMatter(text)
    for end in range(start + 1, min(len(lines), start + _MOST_LINES)):
        if _is_fence(lines[end]):
            block = [line.rstrip("\r\n") for line in lines[start + 1 : end]]
            return FrontMatter("".join(lines[end + 1 :]), _fields(block))
    return FrontMatter(text)


def _is_fence(line: str) -> bool:
    return _FENCE.fullmatch(line.rstrip("\r\n")) is not None


def _fields(lines: list[str]) -> dict[str, str | list[str]]:
    found: dict[str, str | list[str]] = {}
    name, value, more = "", "", list[str]()
    for line in lines:
        entry = _ENTRY.fullmatch(line)
        if entry is None:
            more.append(line)
            continue
        _keep(found, name, value, more)
        name, value, more = entry["name"].strip(), (entry["value"] or "").strip(), []
    _keep(found, name, value, more)
    return found


def _keep(found: dict[str, str | list[str]], name: str, value: str, more: list[str]) -> None:
    if name:
        found[name] = _value(value, more)


def _value(value: str, more: list[str]) -> str | list[str]:
    """The value of a name from what stands beside it and the lines under it."""
    under = [line for line in more if line.strip() and not line.lstrip().startswith("#")]
    if _BLOCK.fullmatch(value):
        return "\n".join(line.strip() for line in more).strip()
    if not value and under and all(line.lstrip().startswith("- ") for line in under):
        return [_scalar(line.lstrip()[2:].strip()) for line in under]
    if not value and under:
        return "\n".join(more).strip()  # something nested
    # A long text goes on in the next lines.
    whole = " ".join([value, *(line.strip() for line in under)])
    if whole.startswith("[") and whole.endswith("]"):
        return [_scalar(each.strip()) for each in _listed(whole[1:-1]) if each.strip()]
    return _scalar(whole)


def _listed(text: str) -> list[str]:
    """Parts between commas, of which none lies within quotes."""
    parts, quote = [""], ""
    for sign in text:
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'" and not parts[-1].strip():
            quote = sign
        elif sign == ",":
            parts.append("")
            continue
        parts[-1] += sign
    return parts


def _scalar(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if len(text) > 1 and text[0] == text[-1] == '"':
        try:
            found: object = json.loads(text)
        except ValueError:
            return text[1:-1]
        return found if isinstance(found, str) else text
    return re.split(r"\s#", text, maxsplit=1)[0].strip()
