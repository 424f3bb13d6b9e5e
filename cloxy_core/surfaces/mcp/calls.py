"""Calling tools, reading resources and asking prompts, without a word of the protocol."""

from collections.abc import Mapping
from typing import Final

from pydantic import BaseModel
from pydantic import ValidationError as PydanticError

from cloxy_core.surfaces.mcp.answers import (
    Answer,
    first_answer,
    part_answer,
    shown,
    whole_answer,
)
from cloxy_core.surfaces.mcp.catalogue import Catalogue, Way
from cloxy_core.surfaces.mcp.failures import in_words, masked
from cloxy_core.surfaces.mcp.neutral import neutral_text
from cloxy_core.surfaces.mcp.pages import Shelf
from cloxy_core.surfaces.mcp.parts import part_at
from cloxy_core.surfaces.mcp.schemas import CURSOR, arguments_model
from cloxy_core.surfaces.mending import mended
from cloxy_core.surfaces.operations import invalid
from cloxy_hookspecs import CloxyError, Prompt, Tool, ValidationError

TOOL_HINT: Final = "the tool's input schema describes its arguments"
PROMPT_HINT: Final = "prompts/list describes the arguments"


class Calls:
    """Runs operations for the MCP doors."""

    def __init__(self, catalogue: Catalogue, shelf: Shelf) -> None:
        """Use these doors.

        Args:
            catalogue: the doors.
            shelf: keeps the rest of long answers.
        """
        self.catalogue = catalogue
        self._shelf = shelf

    async def tool(self, way: Way[Tool], given: Mapping[str, object]) -> Answer:
        """Call a tool; whatever goes wrong is told in the answer."""
        try:
            return await self._tool(way, given)
        except CloxyError as error:
            return Answer(in_words(error), failed=True)
        except Exception as error:
            return Answer(masked(f"the tool {way.door.name}", error), failed=True)

    async def resource(self, uri: str) -> str:
        """Read a resource.

        Raises:
            NotFoundError: nothing is there.
            CloxyError: whatever the operation raises.
        """
        way, fields = self.catalogue.resource(uri)
        return shown(way.door, await way.operation.run(fields))

    async def prompt(self, way: Way[Prompt], given: Mapping[str, object]) -> tuple[str, str]:
        """The person's question, and what was found.

        Raises:
            ValidationError: an argument is missing or too long.
            CloxyError: whatever the operation raises.
        """
        door = way.door
        asked = {name: mended(value) for name, value in given.items()}
        arguments = _validated(door.input, asked, PROMPT_HINT)
        output = await way.operation.run(_fields(door, arguments))
        return neutral_text(door.question(arguments)), shown(door, output)

    async def _tool(self, way: Way[Tool], given: Mapping[str, object]) -> Answer:
        door = way.door
        asked = {str(name): mended(value) for name, value in given.items()}
        cursor = asked.pop(CURSOR, None) if door.pages is not None else None
        arguments = _validated(arguments_model(way), asked, TOOL_HINT)
        explicit = arguments.model_dump(exclude_unset=True)
        if cursor is not None:
            if not isinstance(cursor, str):
                raise ValidationError("cursor: must be a text", hint=TOOL_HINT)
            kept, place = self._shelf.find(cursor, door.name, explicit)
            return part_answer(door, kept, part_at(kept.pieces, place))
        asked_at = self._shelf.cleared
        output = await way.operation.run(_fields(door, arguments))
        if door.pages is None:
            return whole_answer(door, output)
        return first_answer(door, explicit, output, self._shelf, asked_at)


def _validated(model: type[BaseModel], given: Mapping[str, object], hint: str) -> BaseModel:
    """Arguments, checked.

    Raises:
        ValidationError: one is missing, of a wrong type or out of range; all are named.
    """
    try:
        return model.model_validate(given)
    except PydanticError as error:
        refused = invalid(error.errors(include_url=False, include_input=False))
        raise ValidationError(refused.message, hint=hint) from error


def _fields(door: Tool | Prompt, arguments: BaseModel) -> Mapping[str, object]:
    """The fields of the operation's input that arguments stand for."""
    if door.into is not None:
        return door.into(arguments)
    # What a door of its own says by default counts, too.
    return arguments.model_dump(exclude_unset=door.input is None)
