"""Field paths: how people say where in a record something stands.

    message.text            a field in a field
    "tool.name".value       a name in quotes may hold any character
    content[].text          a field of all elements of a list
    items[0].text           of one element; items[-1] is the last
    content[type=text].text of the elements with such a field; `!=` of those without
    [type=meta].id          only of records with such a field

The value behind `=` is compared as `matches` does it.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from cloxy_hookspecs.logs.json_values import Record, is_record, list_of

MOST = 10_000
"""Values of one path in one record."""

Step = Callable[[list[object]], list[object]]

_NAME = re.compile(r'"([^"]+)"|([^.\[\]"=!]+)')
_INDEX = re.compile(r"\[(-?[0-9]{1,6})\]")
_TEST = re.compile(r'\[((?:"[^"]+"|[^\[\]"=!.]+)(?:\.(?:"[^"]+"|[^\[\]"=!.]+))*)(!?=)([^\[\]]*)\]')
_ANY = "*"
_QUOTE = '"'


@dataclass(frozen=True, slots=True)
class FieldPath:
    """Where in a record something stands.

    Attributes:
        text: as people wrote it.
        steps: what leads there, step by step.
    """

    text: str
    steps: tuple[Step, ...]

    def values(self, record: Record) -> Sequence[object]:
        """All values that stand there, in order, without `null`."""
        found: list[object] = [record]
        for step in self.steps:
            found = step(found)[:MOST]
            if not found:
                return ()
        return [value for value in found if value is not None]

    def is_there(self, record: Record) -> bool | None:
        """Whether a record has such a field, be it empty; None of a record that is not meant.

        Elements of a list that are not of the kind that is meant, or of any kind, need not have it.
        """
        found: list[object] = [record]
        of_any_kind = False
        for step in self.steps:
            before, found = found, step(found)[:MOST]
            if found:
                of_any_kind = of_any_kind or step is _every
            elif isinstance(step, _Name):
                return of_any_kind
            elif isinstance(step, _Test) and not any(isinstance(each, list) for each in before):
                return None
            else:
                return True
        return True


def field_path(text: str) -> FieldPath:
    """The path that a text means.

    Raises:
        ValueError: it means none; says where it goes wrong.
    """
    steps: list[Step] = []
    position = 0
    while position < len(text):
        if text[position] == "[":
            step, position = _bracket(text, position)
        else:
            if steps and text[position] != ".":
                raise _wrong(text, position, "wants a dot or [")
            position += bool(steps)
            name = _NAME.match(text, position)
            if name is None:
                raise _wrong(text, position, "wants the name of a field")
            step, position = _Name(name[1] or name[2].strip()), name.end()
        steps.append(step)
    if not any(isinstance(step, _Name) for step in steps):
        raise ValueError(f"{text!r} names no field")
    return FieldPath(text, tuple(steps))


def matches(value: object, wanted: str) -> bool:
    """Whether a value is what is wanted.

    Texts, numbers, `true` and `false` are compared as text; `*` in it stands for anything, and
    alone for whatever is there.
    """
    if wanted == _ANY:
        return value is not None
    if isinstance(value, bool):
        return wanted == ("true" if value else "false")
    if isinstance(value, (int, float)):
        return wanted == str(value)
    if not isinstance(value, str):
        return False
    if _ANY not in wanted:
        return value == wanted
    first, *others = wanted.split(_ANY)
    if not value.startswith(first):
        return False
    position = len(first)
    for part in others[:-1]:
        found = value.find(part, position)
        if found < 0:
            return False
        position = found + len(part)
    last = others[-1]
    return len(value) - len(last) >= position and value.endswith(last)


@dataclass(frozen=True, slots=True)
class _Name:
    name: str

    def __call__(self, values: Iterable[object]) -> list[object]:
        return [value[self.name] for value in values if is_record(value) and self.name in value]


@dataclass(frozen=True, slots=True)
class _Index:
    index: int

    def __call__(self, values: Iterable[object]) -> list[object]:
        found: list[object] = []
        for value in values:
            elements = list_of(value)
            if -len(elements) <= self.index < len(elements):
                found.append(elements[self.index])
        return found


@dataclass(frozen=True, slots=True)
class _Test:
    """Elements of lists, or single values, with a field that is (or is not) so."""

    names: tuple[str, ...]
    wanted: str
    equal: bool

    def __call__(self, values: Iterable[object]) -> list[object]:
        return [each for each in _elements(values) if self._holds(each) == self.equal]

    def _holds(self, value: object) -> bool:
        for name in self.names:
            value = value.get(name) if is_record(value) else None
        return matches(value, self.wanted)


def _every(values: Iterable[object]) -> list[object]:
    return [element for value in values for element in list_of(value)]


def _elements(values: Iterable[object]) -> Iterable[object]:
    for value in values:
        if isinstance(value, list):
            yield from list_of(value)
        else:
            yield value


def _bracket(text: str, position: int) -> tuple[Step, int]:
    if text.startswith("[]", position):
        return _every, position + 2
    index = _INDEX.match(text, position)
    if index is not None:
        return _Index(int(index[1])), index.end()
    test = _TEST.match(text, position)
    if test is None:
        raise _wrong(text, position, "wants [], [0], [field=value] or [field!=value]")
    names = tuple(found[1] or found[2].strip() for found in _NAME.finditer(test[1]))
    return _Test(names, test[3].strip().strip(_QUOTE), test[2] == "="), test.end()


def _wrong(text: str, position: int, wants: str) -> ValueError:
    return ValueError(f"{text!r} {wants} at character {position + 1}")
