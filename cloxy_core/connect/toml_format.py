"""Codex keeps its servers in TOML, one table for each."""

import re
import tomllib
from collections.abc import MutableMapping
from dataclasses import dataclass
from typing import Final

import tomlkit
from tomlkit.exceptions import TOMLKitError

from cloxy_core.connect.edits import Edit
from cloxy_core.connect.entry import Values, merged
from cloxy_core.connect.errors import TextFault
from cloxy_core.connect.formats import tables

_PLACE: Final = re.compile(r"\(at line (\d+), column (\d+)\)")
_HEADER: Final = re.compile(r"^[ \t]*\[", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class TomlFormat:
    """TOML with one table of tables; what is written is read again before it is used.

    Attributes:
        container: name of the table that holds the entries.
    """

    container: str

    def entries(self, text: str) -> dict[str, Values]:
        """See Format."""
        holder = _read(text).get(self.container, {})
        if not isinstance(holder, dict):
            raise TextFault(f"{self.container} must be a table", *self._line(text))
        return tables(holder)

    def has_container(self, text: str) -> bool:
        """See Format."""
        return self.container in _read(text)

    def added(self, text: str, name: str, values: Values) -> tuple[Edit, ...]:
        """See Format."""
        before = _read(text)
        newline = "\r\n" if "\r\n" in text else "\n"
        gap = "" if not text else newline if text.endswith("\n") else newline * 2
        block = gap + self._block(name, values).replace("\n", newline)
        edit = Edit(len(text), "", block)
        self._check(text + block, {**self._holder(before), name: values}, before)
        return (edit,)

    def updated(self, text: str, name: str, values: Values) -> str:
        """See Format."""
        return self._set(text, name, merged(self.entries(text)[name], values))

    def replaced(self, text: str, name: str, values: Values) -> str:
        """See Format."""
        return self._set(text, name, values)

    def removed(self, text: str, name: str, *, container: bool) -> str:
        """See Format."""
        before = _read(text)
        holder = {k: v for k, v in self._holder(before).items() if k != name}
        for start, end in self._blocks(text, name):
            shorter = _without(text, start, end)
            if self._says(shorter, holder, before):
                return shorter
        shorter = self._removed_by_library(text, name)
        self._check(shorter, holder, before)
        return shorter

    def is_empty(self, text: str) -> bool:
        """See Format."""
        return not text.strip()

    def snippet(self, name: str, values: Values) -> str:
        """See Format."""
        return self._block(name, values)

    def warning(self, text: str) -> str | None:
        """See Format."""
        return None

    def _block(self, name: str, values: Values) -> str:
        lines = [f"[{self.container}.{name}]"]
        plain = {key: value for key, value in values.items() if not isinstance(value, dict)}
        lines += [f"{key} = {tomlkit.item(value).as_string()}" for key, value in plain.items()]
        for key, value in values.items():
            if isinstance(value, dict) and value:
                lines += ["", f"[{self.container}.{name}.{key}]"]
                lines += [f"{k} = {tomlkit.item(v).as_string()}" for k, v in value.items()]
        return "\n".join(lines) + "\n"

    def _blocks(self, text: str, name: str) -> list[tuple[int, int]]:
        """Spans that may be the tables of an entry; which one is, only reading again tells."""
        own = re.compile(
            rf"^[ \t]*\[[ \t]*{self.container}[ \t]*\.[ \t]*([\"']?){name}\1[ \t]*[.\]]",
            re.MULTILINE,
        )
        headers = [match.start() for match in _HEADER.finditer(text)] + [len(text)]
        return [
            (first.start(), _content_end(text, first.start(), end))
            for first in own.finditer(text)
            for end in headers
            if end > first.start() and not own.match(text, end)
        ]

    def _removed_by_library(self, text: str, name: str) -> str:
        document = _document(text)
        holder = document[self.container]
        if isinstance(holder, MutableMapping):  # tables out of order are no table for the library
            del holder[name]
        return tomlkit.dumps(document)

    def _set(self, text: str, name: str, values: Values) -> str:
        before = _read(text)
        document = _document(text)
        entry = document[self.container][name]
        if isinstance(entry, MutableMapping):
            for key in [each for each in entry if each not in values]:
                del entry[key]
            for key, value in values.items():
                if key not in entry or entry[key] != value:
                    entry[key] = value
        changed = tomlkit.dumps(document)
        self._check(changed, {**self._holder(before), name: values}, before)
        return changed

    def _holder(self, document: Values) -> Values:
        holder = document.get(self.container, {})
        return dict(holder) if isinstance(holder, dict) else {}

    def _says(self, text: str, holder: Values, before: Values) -> bool:
        try:
            after = _read(text)
        except TextFault:
            return False
        rest = {key: value for key, value in before.items() if key != self.container}
        others = {key: value for key, value in after.items() if key != self.container}
        return others == rest and _without_nothing(self._holder(after)) == _without_nothing(holder)

    def _check(self, text: str, holder: Values, before: Values) -> None:
        """Refuse what would say something else than is wanted."""
        if not self._says(text, holder, before):
            raise TextFault(
                f"{self.container} is written in a way that cannot be changed here",
                *self._line(text),
            )

    def _line(self, text: str) -> tuple[int, int]:
        match = re.search(rf"^[ \t\[]*{self.container}\b", text, re.MULTILINE)
        return (text.count("\n", 0, match.start()) + 1 if match else 1), 1


def _read(text: str) -> Values:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        match = _PLACE.search(str(error))
        reason = _PLACE.sub("", str(error)).strip()
        if match is None:  # at the end of the document
            raise TextFault(reason, text.count("\n") + 1, 1) from error
        raise TextFault(reason, int(match[1]), int(match[2])) from error


def _document(text: str) -> tomlkit.TOMLDocument:
    try:
        return tomlkit.parse(text)
    except TOMLKitError as error:
        raise TextFault(str(error), 1, 1) from error


def _without_nothing(values: Values) -> Values:
    """The values without empty tables in an entry, which are not written."""
    return {
        name: {k: v for k, v in entry.items() if v != {}} if isinstance(entry, dict) else entry
        for name, entry in values.items()
    }


def _content_end(text: str, start: int, end: int) -> int:
    """Where a block ends without the empty lines and comments that lead to what follows."""
    lines = text[start:end].splitlines(keepends=True)
    while lines and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        lines.pop()
    return start + sum(map(len, lines))


def _without(text: str, start: int, end: int) -> str:
    """The text without a span and the empty line before it."""
    before = text[:start]
    for newline in ("\r\n", "\n"):
        if before.endswith(newline * 2):
            before = before.removesuffix(newline)
            break
    return before + text[end:]
