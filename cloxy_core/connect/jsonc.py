"""Reads JSON, with comments and commas at the end allowed, and tells where everything stands.

No kept-up Python library changes such a text in place, which is what keeps a person's comments,
order and spacing: the ones that read comments throw them away.
"""

import json
import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, Literal, NoReturn

from cloxy_core.connect.edits import Lines
from cloxy_core.connect.errors import TextFault

Kind = Literal["object", "array", "string", "number", "literal"]

_DEPTH: Final = 200
_SPACE: Final = re.compile(r"[ \t\r\n]+")
_STRING: Final = re.compile(r'"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*+"')
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORD: Final = re.compile(r"true|false|null")
_MORE: Final = re.compile(r"[\w.+-]")
_NO_VALUE: Final = "this is not a JSON value"
_LITERALS: Final = {"true": True, "false": False, "null": None}


@dataclass(frozen=True, slots=True)
class Node:
    """A value and its place.

    Attributes:
        kind: what it is.
        start: first character.
        end: behind the last character.
        scalar: the value of what is neither object nor array.
        members: of an object, in order; a key may be there twice.
        items: of an array.
        trailing_comma: behind the last member or item.
    """

    kind: Kind
    start: int
    end: int
    scalar: str | float | bool | None = None
    members: tuple["Member", ...] = ()
    items: tuple["Node", ...] = ()
    trailing_comma: bool = False

    def named(self, key: str) -> list["Member"]:
        """Members with a key."""
        return [member for member in self.members if member.key == key]

    def plain(self) -> object:
        """The value as plain Python; of a key that is there twice, the last."""
        if self.kind == "object":
            return {member.key: member.value.plain() for member in self.members}
        if self.kind == "array":
            return [item.plain() for item in self.items]
        return self.scalar


@dataclass(frozen=True, slots=True)
class Member:
    """A key and a value of an object.

    Attributes:
        key: the key, unescaped.
        start: where the key's first quote stands.
        value: the value.
        comma: where the comma behind it stands; None when there is none.
    """

    key: str
    start: int
    value: Node
    comma: int | None


@dataclass(slots=True)
class Document:
    """A whole text; not to be changed once it was read.

    Attributes:
        text: as it was read.
        root: the value; None for a text that holds nothing but space and comments.
        comments: spans of comments, in order.
        extensions: what plain JSON does not know, each with its line.
    """

    text: str
    root: Node | None = None
    comments: list[tuple[int, int]] = field(default_factory=list)
    extensions: list[tuple[str, int]] = field(default_factory=list)


@lru_cache(maxsize=4)
def parse(text: str) -> Document:
    """Read a text; the last few are remembered, since each is asked several things.

    Raises:
        TextFault: it is not JSON, nor JSON with comments.
    """
    return _Reader(text).document()


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0
        self._lines = Lines(text)
        self._document = Document(text)

    def document(self) -> Document:
        self._skip()
        if self._position < len(self._text):
            self._document.root = self._value(0)
            self._skip()
            if self._position < len(self._text):
                self._fail("something follows the end of the value")
        return self._document

    def _fail(self, reason: str, offset: int | None = None) -> NoReturn:
        line, column = self._lines.place(self._position if offset is None else offset)
        raise TextFault(reason, line, column)

    def _skip(self) -> None:
        """Go on to what is neither space nor comment."""
        while True:
            space = _SPACE.match(self._text, self._position)
            if space:
                self._position = space.end()
            mark = self._text[self._position : self._position + 2]
            if mark == "//":
                found = self._text.find("\n", self._position)
                end = len(self._text) if found < 0 else found
                # A carriage return is part of the line's end, not of the comment.
                end -= self._text[self._position : end].endswith("\r")
            elif mark == "/*":
                found = self._text.find("*/", self._position + 2)
                if found < 0:
                    self._fail("a comment does not end")
                end = found + 2
            else:
                return
            self._document.comments.append((self._position, end))
            self._extension("a comment")
            self._position = end

    def _extension(self, name: str) -> None:
        self._document.extensions.append((name, self._lines.place(self._position)[0]))

    def _value(self, depth: int) -> Node:
        if depth > _DEPTH:
            self._fail("values are nested too deep")
        start = self._text[self._position : self._position + 1]
        if start == "{":
            return self._object(depth)
        if start == "[":
            return self._array(depth)
        if start == '"':
            first = self._position
            text = self._string()
            return Node("string", first, self._position, text)
        return self._scalar()

    def _scalar(self) -> Node:
        start = self._position
        number = _NUMBER.match(self._text, start)
        match = number or _WORD.match(self._text, start)
        if match is None:
            self._fail("a value is missing" if start >= len(self._text) else _NO_VALUE)
        if _MORE.match(self._text, match.end()):
            self._fail(_NO_VALUE)
        self._position = match.end()
        if number:
            return Node("number", start, match.end(), float(match[0]))
        return Node("literal", start, match.end(), _LITERALS[match[0]])

    def _string(self) -> str:
        match = _STRING.match(self._text, self._position)
        if match is None:
            self._fail("a text in quotes does not end, or holds a character that must be escaped")
        self._position = match.end()
        return str(json.loads(match[0]))

    def _object(self, depth: int) -> Node:
        start = self._position
        self._position += 1
        members: list[Member] = []
        while not self._closed("}", start):
            if members and members[-1].comma is None:
                self._fail("a comma is missing")
            key_start = self._position
            if self._text[key_start : key_start + 1] != '"':
                self._fail("a key in double quotes is missing")
            key = self._string()
            self._skip()
            if self._text[self._position : self._position + 1] != ":":
                self._fail("a colon is missing")
            self._position += 1
            self._skip()
            value = self._value(depth + 1)
            members.append(Member(key, key_start, value, self._comma()))
        trailing = bool(members) and members[-1].comma is not None
        if trailing:
            self._extension("a comma before a closing bracket")
        self._position += 1
        return Node("object", start, self._position, None, tuple(members), (), trailing)

    def _array(self, depth: int) -> Node:
        start = self._position
        self._position += 1
        items: list[Node] = []
        comma: int | None = start
        while not self._closed("]", start):
            if comma is None:
                self._fail("a comma is missing")
            items.append(self._value(depth + 1))
            comma = self._comma()
        trailing = bool(items) and comma is not None
        if trailing:
            self._extension("a comma before a closing bracket")
        self._position += 1
        return Node("array", start, self._position, None, (), tuple(items), trailing)

    def _closed(self, bracket: str, start: int) -> bool:
        self._skip()
        if self._position >= len(self._text):
            self._fail("a bracket is opened here and not closed", start)
        return self._text[self._position] == bracket

    def _comma(self) -> int | None:
        self._skip()
        if self._text[self._position : self._position + 1] != ",":
            return None
        self._position += 1
        return self._position - 1
