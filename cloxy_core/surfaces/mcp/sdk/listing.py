"""Doors as the protocol lists them; what a plugin says of them is neutral, like all texts."""

from collections.abc import Sequence
from typing import Any

import mcp_types as types

from cloxy_core.surfaces.mcp.catalogue import Catalogue, Way, is_template
from cloxy_core.surfaces.mcp.neutral import neutral_text
from cloxy_core.surfaces.mcp.schemas import input_schema, output_schema
from cloxy_hookspecs import Prompt, Resource, Tool

MIME = "text/plain"


def tools(ways: Sequence[Way[Tool]]) -> list[types.Tool]:
    """Tools with schemas and all four annotations."""
    return [_tool(way) for way in ways]


def resources(catalogue: Catalogue) -> list[types.Resource]:
    """Resources that stand at one address."""
    return [
        types.Resource(
            uri=way.door.uri,
            name=way.door.name,
            title=neutral_text(way.door.title),
            description=neutral_text(way.door.description),
            mime_type=MIME,
        )
        for way in catalogue.resources
        if not is_template(way.door.uri)
    ]


def templates(catalogue: Catalogue) -> list[types.ResourceTemplate]:
    """Resources whose address has places to fill in."""
    return [_template(way) for way in catalogue.resources if is_template(way.door.uri)]


def prompts(catalogue: Catalogue) -> list[types.Prompt]:
    """Prompts with their arguments."""
    return [_prompt(way) for way in catalogue.prompts.values()]


def _tool(way: Way[Tool]) -> types.Tool:
    door, effect = way.door, way.operation.record.effect
    return types.Tool(
        name=door.name,
        title=neutral_text(door.title),
        description=neutral_text(door.description),
        input_schema=_told(input_schema(way)),
        output_schema=_told(output_schema(way)),
        annotations=types.ToolAnnotations(
            title=neutral_text(door.title),
            read_only_hint=effect == "read",
            destructive_hint=effect != "read" if door.destructive is None else door.destructive,
            idempotent_hint=effect == "read" if door.idempotent is None else door.idempotent,
            open_world_hint=door.open_world,
        ),
    )


def _told(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema whose words for people are neutral; what values are compared with stays."""
    told: dict[str, Any] = {}
    for name, item in schema.items():
        if isinstance(item, str):
            told[name] = neutral_text(item) if name in {"title", "description"} else item
        elif isinstance(item, list):
            told[name] = [_told(one) if isinstance(one, dict) else one for one in item]
        else:
            told[name] = _told(item) if isinstance(item, dict) else item
    return told


def _template(way: Way[Resource]) -> types.ResourceTemplate:
    door = way.door
    return types.ResourceTemplate(
        uri_template=door.uri,
        name=door.name,
        title=neutral_text(door.title),
        description=neutral_text(door.description),
        mime_type=MIME,
    )


def _prompt(way: Way[Prompt]) -> types.Prompt:
    door = way.door
    return types.Prompt(
        name=door.name,
        title=neutral_text(door.title),
        description=neutral_text(door.description),
        arguments=[
            types.PromptArgument(
                name=name,
                description=neutral_text(field.description or "") or None,
                required=field.is_required(),
            )
            for name, field in door.input.model_fields.items()
        ],
    )
