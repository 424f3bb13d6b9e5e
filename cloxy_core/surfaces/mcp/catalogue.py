"""The doors that MCP clients see: tools by toolset, resources and prompts, each name once."""

import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar
from urllib.parse import unquote

from cloxy_core.surfaces.operations import Operation
from cloxy_hookspecs import InputError, NotFoundError, Prompt, Resource, Tool

ALL = "all"
DEFAULT_TOOLSET = "cloxy"

D = TypeVar("D", Tool, Resource, Prompt)

_FIELD = re.compile(r"\{([a-z][a-z0-9_]*)\}")
_log = logging.getLogger("cloxy.mcp")


@dataclass(frozen=True, slots=True)
class Way(Generic[D]):
    """A door and the operation behind it."""

    door: D
    operation: Operation


class Catalogue:
    """Every tool, resource and prompt of a server, in an order that does not change."""

    def __init__(self, operations: Iterable[Operation]) -> None:
        """Collect the doors; of two with one name the first stays, and the log says so."""
        tools: dict[str, Way[Tool]] = {}
        resources: dict[str, Way[Resource]] = {}
        prompts: dict[str, Way[Prompt]] = {}
        for operation in operations:
            for door in operation.record.doors:
                if isinstance(door, Tool):
                    _add(tools, door.name, Way(door, operation))
                elif isinstance(door, Resource):
                    _add(resources, _FIELD.sub("{}", door.uri), Way(door, operation))
                elif isinstance(door, Prompt):
                    _add(prompts, door.name, Way(door, operation))
        self.tools: Mapping[str, Way[Tool]] = dict(sorted(tools.items()))
        self.resources: Sequence[Way[Resource]] = [resources[key] for key in sorted(resources)]
        self.prompts: Mapping[str, Way[Prompt]] = dict(sorted(prompts.items()))

    def toolsets(self) -> Sequence[str]:
        """The names that can be asked for, `all` last."""
        return [*sorted({way.door.toolset for way in self.tools.values()}), ALL]

    def chosen(self, asked: str | None) -> frozenset[str]:
        """The toolsets that a client asked for, separated by commas; the default one for None.

        Raises:
            InputError: one of them does not exist.
        """
        known = self.toolsets()
        names = [name.strip() for name in (asked or DEFAULT_TOOLSET).split(",") if name.strip()]
        unknown = [name for name in names if name not in known and name != DEFAULT_TOOLSET]
        if unknown:
            shown = ", ".join(repr(name[:40]) for name in unknown[:5])
            raise InputError(
                f"there is no toolset {shown}",
                hint=f"choose from {', '.join(known)}, separated by commas",
            )
        if ALL in names:
            return frozenset(known)
        return frozenset(names or [DEFAULT_TOOLSET])

    def tools_of(self, toolsets: frozenset[str]) -> Sequence[Way[Tool]]:
        """The tools of these toolsets, by name."""
        return [way for way in self.tools.values() if way.door.toolset in toolsets]

    def tool(self, name: str, toolsets: frozenset[str]) -> Way[Tool]:
        """A tool of these toolsets.

        Raises:
            NotFoundError: there is none of that name; a tool of another toolset says which.
        """
        way = self.tools.get(name)
        if way is None:
            raise NotFoundError(f"there is no tool {name[:128]!r}", hint="tools/list names them")
        if way.door.toolset not in toolsets:
            raise NotFoundError(
                f"the tool {name!r} is of the toolset {way.door.toolset!r}, which is not chosen",
                hint=f"add toolsets={way.door.toolset} to the address, or to CLOXY_MCP_TOOLSETS",
            )
        return way

    def resource(self, uri: str) -> tuple[Way[Resource], Mapping[str, str]]:
        """The resource at an address, and the fields that the address binds.

        Raises:
            NotFoundError: nothing is there.
        """
        for way in self.resources:
            found = _pattern(way.door.uri).fullmatch(uri)
            if found is not None:
                return way, {name: unquote(text) for name, text in found.groupdict().items()}
        raise NotFoundError(
            f"there is no resource {uri[:200]!r}", hint="resources/templates/list names the forms"
        )

    def prompt(self, name: str) -> Way[Prompt]:
        """A prompt.

        Raises:
            NotFoundError: there is none of that name.
        """
        way = self.prompts.get(name)
        if way is None:
            raise NotFoundError(
                f"there is no prompt {name[:128]!r}", hint="prompts/list names them"
            )
        return way


def is_template(uri: str) -> bool:
    """Whether an address has places to fill in."""
    return _FIELD.search(uri) is not None


def _pattern(uri: str) -> re.Pattern[str]:
    """A pattern for the addresses of a template; a place is one segment."""
    parts = _FIELD.split(uri)
    written = [
        f"(?P<{part}>[^/?#]+)" if place % 2 else re.escape(part) for place, part in enumerate(parts)
    ]
    return re.compile("".join(written))


def _add(ways: dict[str, Way[D]], name: str, way: Way[D]) -> None:
    if name in ways:
        _log.warning(
            "%s and %s both bring %r to MCP clients; the first is used",
            ways[name].operation.record.name,
            way.operation.record.name,
            name,
        )
        return
    ways[name] = way
