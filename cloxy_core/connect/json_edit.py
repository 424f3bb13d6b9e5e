"""Puts a member into a JSON text and takes one out, and touches nothing else of it."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from cloxy_core.connect.edits import Edit, remove
from cloxy_core.connect.jsonc import Document, Member, Node

_DEFAULT_UNIT: Final = "  "
_LINE_START: Final = re.compile(r"[ \t]*")
_LINE_END: Final = re.compile(r"[ \t]*\r?\n")

Json = object


@dataclass(frozen=True, slots=True)
class Layout:
    """How a text is written.

    Attributes:
        newline: the line end that it uses.
        unit: what one level of nesting adds to the left.
        compact: the whole value stands in one line.
    """

    newline: str
    unit: str
    compact: bool


def layout_of(document: Document) -> Layout:
    """How a text is written; the usual way where it does not show."""
    text, root = document.text, document.root
    newline = "\r\n" if "\r\n" in text else "\n"
    if root is None or not root.members:
        return Layout(newline, _DEFAULT_UNIT, compact=False)
    if "\n" not in text[root.start : root.end]:
        return Layout(newline, _DEFAULT_UNIT, compact=True)
    base = _margin(text, root.start)
    for member in root.members:
        margin = _own_margin(text, member.start)
        if margin is not None and margin.startswith(base) and len(margin) > len(base):
            return Layout(newline, margin[len(base) :], compact=False)
    return Layout(newline, _DEFAULT_UNIT, compact=False)


def written(value: Json, layout: Layout, margin: str) -> str:
    """A value as text, in a file's own style.

    Args:
        value: plain Python.
        layout: how the file is written.
        margin: space to the left of the line in which the value begins.
    """
    if layout.compact:
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping) and value:
        inner = margin + layout.unit
        lines = (
            f"{inner}{json.dumps(key, ensure_ascii=False)}: {written(each, layout, inner)}"
            for key, each in value.items()
        )
        return (
            "{" + layout.newline + f",{layout.newline}".join(lines) + layout.newline + margin + "}"
        )
    return json.dumps(value, ensure_ascii=False)


def insertion(document: Document, parent: Node, key: str, value: Json) -> tuple[Edit, ...]:
    """The edits that add a member as the last of an object: insertions only.

    Args:
        document: the text.
        parent: an object in it, without that key.
        key: the new key.
        value: plain Python.
    """
    text, layout = document.text, layout_of(document)
    name = json.dumps(key, ensure_ascii=False)
    if not parent.members:
        return _into_empty(document, parent, layout, name, value)
    last = parent.members[-1]
    comma = "" if last.comma is not None else ","
    after = last.value.end if last.comma is None else last.comma + 1
    if "\n" not in text[parent.start : parent.end]:
        layout = replace(layout, compact=True)
    margin = None if layout.compact else _own_margin(text, last.start)
    if margin is None:
        margin = _margin(text, last.start)
        end = "," if last.comma is not None else ""
        member = f"{name}: {written(value, layout, margin)}{end}"
        return (Edit(after, "", f"{comma} {member}"),)
    end = "," if last.comma is not None else ""
    member = f"{layout.newline}{margin}{name}: {written(value, layout, margin)}{end}"
    place = _tail(document, after, parent.end - 1)
    if not comma:
        return (Edit(place, "", member),)
    if place == after:
        return (Edit(after, "", comma + member),)
    return (Edit(after, "", comma), Edit(place, "", member))


def _into_empty(
    document: Document, parent: Node, layout: Layout, name: str, value: Json
) -> tuple[Edit, ...]:
    text = document.text
    if layout.compact:
        # A block comment may stand between the brackets, but no line comment: there is one line.
        return (Edit(parent.start + 1, "", f"{name}: {written(value, layout, '')}"),)
    base = _margin(text, parent.start)
    margin = base + layout.unit
    place = _tail(document, parent.start + 1, parent.end - 1)
    member = f"{layout.newline}{margin}{name}: {written(value, layout, margin)}"
    if "\n" not in text[place : parent.end]:
        member += layout.newline + base
    return (Edit(place, "", member),)


def new_document(document: Document, value: Json) -> tuple[Edit, ...]:
    """The edits that write a whole value into a text that has none, behind its comments."""
    layout = layout_of(document)
    place = _tail(document, 0, len(document.text))
    before = layout.newline if place else ""
    rest = document.text[place:]
    after = "" if rest.endswith("\n") else layout.newline
    return (Edit(place, "", before + written(value, layout, "") + after),)


def removal(document: Document, parent: Node, member: Member) -> tuple[Edit, ...]:
    """The edits that take a member out, with the space before it and one comma."""
    text = document.text
    position = parent.members.index(member)
    joined = member.comma == member.value.end
    end = member.value.end + joined
    start = _space_before(document, member.start, end)
    edits = [remove(text, start, end)]
    if member.comma is not None:
        if not joined:
            edits.append(remove(text, member.comma, member.comma + 1))
    elif position > 0:
        comma = parent.members[position - 1].comma
        if comma is not None:
            edits.insert(0, remove(text, comma, comma + 1))
    if position == 0 and member.comma is not None and layout_of(document).compact:
        edits.append(_space_after(text, member.comma + 1))
    return tuple(edit for edit in edits if edit.removed)


def emptied(document: Document, parent: Node) -> tuple[Edit, ...]:
    """The edits that close up an object that holds nothing but space."""
    inside = document.text[parent.start + 1 : parent.end - 1]
    if parent.members or inside.strip() or not inside:
        return ()
    return (remove(document.text, parent.start + 1, parent.end - 1),)


def replacement(document: Document, node: Node, value: Json) -> tuple[Edit, ...]:
    """The edits that put another value in the place of one."""
    text = document.text
    new = written(value, layout_of(document), _margin(text, node.start))
    old = text[node.start : node.end]
    return () if new == old else (Edit(node.start, old, new),)


def _tail(document: Document, start: int, end: int) -> int:
    """Behind the last comment between two places; the first of them when there is none."""
    inside = [stop for first, stop in document.comments if start <= first and stop <= end]
    return max(inside, default=start)


def _margin(text: str, offset: int) -> str:
    """The space at the left of the line in which a place is."""
    start = text.rfind("\n", 0, offset) + 1
    match = _LINE_START.match(text, start, offset)
    return match[0] if match else ""


def _own_margin(text: str, offset: int) -> str | None:
    """The space before a place when nothing else is before it in its line; else None."""
    start = text.rfind("\n", 0, offset) + 1
    before = text[start:offset]
    return before if start > 0 and not before.strip(" \t") else None


def _space_before(document: Document, offset: int, end: int) -> int:
    """Where the space before a place begins that can go with what stands there.

    A line comment before it needs a line end: its own, unless another follows behind `end`.
    """
    text, start = document.text, offset
    while start > 0 and text[start - 1] in " \t\r\n":
        start -= 1
    is_line = any(
        stop == start and text[first : first + 2] == "//" for first, stop in document.comments
    )
    if is_line and not _LINE_END.match(text, end):
        return text.index("\n", start) + 1
    return start


def _space_after(text: str, offset: int) -> Edit:
    end = offset
    while end < len(text) and text[end] in " \t":
        end += 1
    return remove(text, offset, end)
