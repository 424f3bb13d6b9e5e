"""What is wrong with the MCP doors of an operation, in words; nothing when they are sound."""

import re
import types
from collections.abc import Iterator
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel

from cloxy_core.surfaces.mcp.catalogue import ALL
from cloxy_core.surfaces.mcp.schemas import CURSOR, NEXT_CURSOR
from cloxy_hookspecs import OperationProvider, Prompt, Resource, Tool

Record = OperationProvider[Any, Any]

LONGEST_DESCRIPTION = 1024
"""Characters that clients show to a model whole."""

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_TOOLSET = re.compile(r"[a-z][a-z0-9_-]{0,63}")
_URI = re.compile(r"[a-z][a-z0-9+.-]*://[^\s{}]*(?:\{[a-z][a-z0-9_]*\}[^\s{}]*)*")
_FIELD = re.compile(r"\{([^}]*)\}")


def tool_faults(record: Record, door: Tool) -> Iterator[str]:
    """What is wrong with a tool."""
    yield from _name_faults(door.name, door.title, door.description)
    if not _TOOLSET.fullmatch(door.toolset) or door.toolset == ALL:
        yield f"{door.toolset!r} is no name for a toolset"
    yield from _argument_faults(record, door)
    yield from _page_faults(record, door)
    if record.effect == "read" and door.destructive:
        yield f"{door.name}: what only reads destroys nothing"


def resource_faults(record: Record, door: Resource) -> Iterator[str]:
    """What is wrong with a resource."""
    yield from _name_faults(door.name, door.title, door.description)
    if record.effect != "read":
        yield f"{door.uri}: a resource only reads"
    if not _URI.fullmatch(door.uri):
        yield f"{door.uri!r} is no address, or its places are no names"
    bound = _FIELD.findall(door.uri)
    if len(bound) != len(set(bound)):
        yield f"{door.uri}: one place twice"
    fields = record.input.model_fields
    yield from (f"{door.uri}: no field {name!r}" for name in bound if name not in fields)
    missing = [name for name, field in fields.items() if field.is_required() and name not in bound]
    if missing:
        yield f"{door.uri}: nobody gives {missing}"


def prompt_faults(record: Record, door: Prompt) -> Iterator[str]:
    """What is wrong with a prompt."""
    yield from _name_faults(door.name, door.title, door.description)
    if record.effect != "read":
        yield f"{door.name}: a prompt only reads"
    for name, field in door.input.model_fields.items():
        if not _is_text(field.annotation):
            yield f"{door.name}: {name} is no text, and prompts are given nothing else"
    yield from _argument_faults(record, door)


def text_faults(door: Tool | Resource | Prompt, output: BaseModel) -> Iterator[str]:
    """What is wrong with a door's text of a real output."""
    if door.text is None:
        return
    outputs = [output]
    if isinstance(door, Tool) and door.pages is not None:
        items = getattr(output, door.pages)
        outputs += [output.model_copy(update={door.pages: [item]}) for item in items]
        outputs.append(output.model_copy(update={door.pages: []}))
    for one in outputs:
        text: object = door.text(one)
        if not isinstance(text, str) or not text.strip():
            yield f"{door.name}: the text of an output is {text!r}"


def _name_faults(name: str, title: str, description: str) -> Iterator[str]:
    if not _NAME.fullmatch(name):
        yield f"{name!r} is no name: 1 to 128 of A-Z, a-z, 0-9, `_`, `.` and `-`"
    if not title.strip():
        yield f"{name}: no title"
    if not description.strip() or len(description) > LONGEST_DESCRIPTION:
        yield f"{name}: a description has 1 to {LONGEST_DESCRIPTION} characters"


def _argument_faults(record: Record, door: Tool | Prompt) -> Iterator[str]:
    if door.input is None:
        if door.into is not None:
            yield f"{door.name}: `into` without an `input` of its own"
        return
    if door.into is None:
        unknown = set(door.input.model_fields) - set(record.input.model_fields)
        if unknown:
            yield f"{door.name}: the operation has no {sorted(unknown)}; give `into`"


def _page_faults(record: Record, door: Tool) -> Iterator[str]:
    if door.pages is None:
        return
    field = record.output.model_fields.get(door.pages)
    if field is None or get_origin(field.annotation) is not list:
        yield f"{door.name}: the output has no list {door.pages!r}"
    if NEXT_CURSOR in record.output.model_fields:
        yield f"{door.name}: {NEXT_CURSOR!r} of the output is taken"
    if CURSOR in (door.input or record.input).model_fields:
        yield f"{door.name}: {CURSOR!r} of the input is taken"


def _is_text(annotation: object) -> bool:
    """Whether a field is a text, or a text or nothing."""
    if get_origin(annotation) in (Union, types.UnionType):
        return set(get_args(annotation)) == {str, type(None)}
    return annotation is str
