"""JSON Schemas of tools."""

from typing import Any

from pydantic import BaseModel

from cloxy_core.surfaces.mcp.catalogue import Way
from cloxy_hookspecs import Tool

CURSOR = "cursor"
NEXT_CURSOR = "next_cursor"
_CURSOR = {
    "anyOf": [{"type": "string"}, {"type": "null"}],
    "default": None,
    "title": "Cursor",
    "description": "Where a long answer goes on: the next_cursor of the answer before. Give the "
    "same other arguments.",
}
_NEXT_CURSOR = {
    "anyOf": [{"type": "string"}, {"type": "null"}],
    "title": "Next Cursor",
    "description": "Give this as cursor for the next part; absent or null when this is the last.",
}


def arguments_model(way: Way[Tool]) -> type[BaseModel]:
    """The model of a tool's own arguments."""
    return way.door.input or way.operation.record.input


def input_schema(way: Way[Tool]) -> dict[str, Any]:
    """What a tool takes."""
    schema = _object(arguments_model(way).model_json_schema(mode="validation"))
    if way.door.pages is not None:
        schema["properties"][CURSOR] = dict(_CURSOR)
    return schema


def output_schema(way: Way[Tool]) -> dict[str, Any]:
    """What a tool's structured answer looks like."""
    model: type[BaseModel] = way.operation.record.output
    schema = _object(model.model_json_schema(mode="serialization", by_alias=False))
    if way.door.pages is not None:
        schema["properties"][NEXT_CURSOR] = dict(_NEXT_CURSOR)
    return schema


def _object(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema whose root says that it is an object, as the protocol demands."""
    if schema.get("type") != "object":
        schema = {**schema, "type": "object"}
    return {**schema, "properties": dict(schema.get("properties", {}))}
