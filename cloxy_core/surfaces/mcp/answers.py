"""From the output of an operation to what a model reads: text in a fence, and the same as data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import BaseModel

from cloxy_core.services.echo import fence
from cloxy_core.surfaces.mcp.neutral import as_json, neutral_text, neutral_value
from cloxy_core.surfaces.mcp.pages import Kept, Piece, Place, Shelf, new_id, write_cursor
from cloxy_core.surfaces.mcp.parts import MOST_TEXT, Part, part_at
from cloxy_core.surfaces.mcp.schemas import NEXT_CURSOR
from cloxy_hookspecs import AsText, Prompt, Resource, Tool

CUT: Final = "(The rest is left out: the answer is too long to be shown as text.)"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool answers.

    Attributes:
        text: for a reader.
        value: the same as a JSON object; None for an error.
        failed: whether it is an error, told to the model so that it can do better.
    """

    text: str
    value: Mapping[str, object] | None = None
    failed: bool = False


def shown(door: Tool | Resource | Prompt, output: BaseModel) -> str:
    """A whole output as text, in a fence when it quotes."""
    text = neutral_text(plain(door.text, output))
    return fence(text) if door.untrusted else text


def plain(text: AsText | None, output: BaseModel) -> str:
    """An output as plain text."""
    return as_json(output.model_dump(mode="json")) if text is None else text(output)


def whole_answer(door: Tool, output: BaseModel) -> Answer:
    """The answer of a tool that has no parts."""
    text = neutral_text(plain(door.text, output))
    note = ""
    if len(text) > MOST_TEXT:
        text, note = text[:MOST_TEXT], f"\n{CUT}"
    value = neutral_value(output.model_dump(mode="json"))
    assert isinstance(value, dict)  # a model is an object
    return Answer((fence(text) if door.untrusted else text) + note, value)


def first_answer(
    door: Tool, arguments: Mapping[str, object], output: BaseModel, shelf: Shelf, asked: int
) -> Answer:
    """The first part of an answer that may be long; the rest is kept.

    Args:
        door: the tool.
        arguments: what it was asked.
        output: the answer.
        shelf: keeps the rest.
        asked: what `shelf.cleared` was when it was asked.
    """
    assert door.pages is not None  # asked only of such tools
    items: Sequence[object] = getattr(output, door.pages)
    if not items:
        value = neutral_value({**output.model_dump(mode="json"), NEXT_CURSOR: None})
        assert isinstance(value, dict)  # a model is an object
        # No fence: nothing is quoted where nothing was found.
        return Answer(neutral_text(plain(door.text, output)), value)
    value = output.model_dump(mode="json")
    values = value.pop(door.pages)
    pieces = [
        _piece(door, output, door.pages, item, one) for item, one in zip(items, values, strict=True)
    ]
    rest = neutral_value(value)
    assert isinstance(rest, dict)  # a model is an object
    kept = Kept(new_id(), door.name, arguments, output, rest, pieces)
    part = part_at(pieces, Place())
    if part.next is not None:
        shelf.put(kept, asked)
    return part_answer(door, kept, part)


def part_answer(door: Tool, kept: Kept, part: Part) -> Answer:
    """One part of a long answer, with the cursor of the next."""
    assert door.pages is not None  # only such answers have parts
    text = part.text
    if text is None:
        items = getattr(kept.output, door.pages)[part.items]
        shown_now = kept.output.model_copy(update={door.pages: items})
        text = neutral_text(plain(door.text, shown_now))
    if door.untrusted:
        text = fence(text)
    if part.text is not None:
        text += f"\n(Part {part.window[0]} of {part.window[1]} of one long item.)"
    cursor = None
    if part.next is not None:
        cursor = write_cursor(kept.id, part.next)
        text += f'\n(There is more: repeat the call with cursor="{cursor}".)'
    value = {**kept.rest, door.pages: list(part.values), NEXT_CURSOR: cursor}
    return Answer(text, value)


def _piece(door: Tool, output: BaseModel, pages: str, item: object, value: object) -> Piece:
    if door.text is None:
        text = neutral_text(as_json(value))
    else:
        text = neutral_text(door.text(output.model_copy(update={pages: [item]})))
    harmless = neutral_value(value)
    return Piece(text, harmless, len(as_json(harmless)))
