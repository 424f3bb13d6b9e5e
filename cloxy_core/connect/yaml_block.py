"""Continue reads a YAML file of our own: only the few lines that we write are ever understood."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from cloxy_core.connect.edits import Edit
from cloxy_core.connect.entry import Values, merged
from cloxy_core.connect.errors import TextFault

_HEADER: Final = ("name: Cloxy", "version: 0.0.1", "schema: v1", "mcpServers:")
# Words that no reader of YAML takes for something else.
_PLAIN: Final = frozenset({"mcp", "stdio", "streamable-http"})
_ITEM: Final = re.compile(r"  - name: ([A-Za-z0-9_-]+)[ \t]*")
_INSIDE: Final = re.compile(r"    (?P<key>[A-Za-z]+):(?: (?P<value>.+?))?[ \t]*")
_LIST_ITEM: Final = re.compile(r"      - (?P<value>.+?)[ \t]*")
_PAIR: Final = re.compile(r"      (?P<key>[A-Z0-9_]+): (?P<value>.+?)[ \t]*")


@dataclass(frozen=True, slots=True)
class YamlBlock:
    """A block file of Continue: a head and a list of servers.

    Other servers in the list, and whatever stands around, stay as they are. A file whose head is
    another is not ours, and is refused.
    """

    def entries(self, text: str) -> dict[str, Values]:
        """See Format."""
        lines = _lines(text)
        if not text.strip():
            return {}
        if "mcpServers:" not in lines:
            raise TextFault("this is not a file that `cloxy connect` wrote", 1, 1)
        return {name: _parsed(lines[start + 1 : end]) for name, start, end in _items(lines)}

    def has_container(self, text: str) -> bool:
        """See Format."""
        return "mcpServers:" in _lines(text)

    def added(self, text: str, name: str, values: Values) -> tuple[Edit, ...]:
        """See Format."""
        newline = "\r\n" if "\r\n" in text else "\n"
        if not text.strip():
            return (Edit(len(text), "", _file(name, values)),)
        gap = "" if text.endswith("\n") else newline
        lines = _lines(text)
        if not _items(lines) and lines[-1:] != ["mcpServers:"]:
            raise TextFault("this is not a file that `cloxy connect` wrote", 1, 1)
        return (Edit(len(text), "", gap + newline.join(_item(name, values)) + newline),)

    def updated(self, text: str, name: str, values: Values) -> str:
        """See Format."""
        return self.replaced(text, name, merged(self.entries(text)[name], values))

    def replaced(self, text: str, name: str, values: Values) -> str:
        """See Format."""
        start, end = _span(text, name)
        newline = "\r\n" if "\r\n" in text else "\n"
        return text[:start] + newline.join(_item(name, values)) + newline + text[end:]

    def removed(self, text: str, name: str, *, container: bool) -> str:
        """See Format."""
        start, end = _span(text, name)
        return text[:start] + text[end:]

    def is_empty(self, text: str) -> bool:
        """See Format."""
        return not text.strip() or tuple(line for line in _lines(text) if line.strip()) == _HEADER

    def snippet(self, name: str, values: Values) -> str:
        """See Format."""
        return _file(name, values)

    def warning(self, text: str) -> str | None:
        """See Format."""
        return None


def _lines(text: str) -> list[str]:
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]


def _items(lines: list[str]) -> list[tuple[str, int, int]]:
    """Name, first line, and the line behind each server, by indices from 0."""
    found: list[tuple[str, int, int]] = []
    for number, line in enumerate(lines):
        match = _ITEM.fullmatch(line)
        if match is None:
            continue
        end = number + 1
        while end < len(lines) and lines[end].startswith("    "):
            end += 1
        found.append((match[1], number, end))
    return found


def _span(text: str, name: str) -> tuple[int, int]:
    lines = text.split("\n")
    for found, start, end in _items(_lines(text)):
        if found == name:
            before = sum(len(line) + 1 for line in lines[:start])
            return before, min(len(text), before + sum(len(line) + 1 for line in lines[start:end]))
    raise KeyError(name)


def _parsed(lines: list[str]) -> Values:
    """The values of a server; lines of another shape are not understood and left out."""
    values: Values = {}
    current = ""
    for line in lines:
        inside, item, pair = (each.fullmatch(line) for each in (_INSIDE, _LIST_ITEM, _PAIR))
        if inside:
            current = inside["key"]
            values[current] = _plain(inside["value"]) if inside["value"] else None
        elif item and not isinstance(values.get(current), dict):
            known = values.get(current)
            values[current] = [*(known if isinstance(known, list) else []), _plain(item["value"])]
        elif pair:
            known = values.get(current)
            table = known if isinstance(known, dict) else {}
            values[current] = {**table, pair["key"]: _plain(pair["value"])}
    return values


def _plain(text: str) -> str:
    if text.startswith('"') and text.endswith('"'):
        try:
            return str(json.loads(text))
        except ValueError:
            return text
    return text


def _file(name: str, values: Values) -> str:
    return "\n".join([*_HEADER, *_item(name, values)]) + "\n"


def _item(name: str, values: Values) -> list[str]:
    lines = [f"  - name: {name}"]
    for key, value in values.items():
        if isinstance(value, list):
            lines += [f"    {key}:", *(f"      - {_quoted(each)}" for each in value)]
        elif isinstance(value, Mapping):
            lines += [f"    {key}:", *(f"      {k}: {_quoted(v)}" for k, v in value.items())]
        else:
            lines.append(f"    {key}: {_quoted(value)}")
    return lines


def _quoted(value: object) -> str:
    # JSON's text in quotes is also YAML's.
    text = str(value)
    return text if text in _PLAIN else json.dumps(text, ensure_ascii=False)
