"""The server of the `mcp` library, with our doors behind its handlers."""

from collections.abc import Mapping
from typing import Any, Final

import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from cloxy_core import __version__
from cloxy_core.surfaces.mcp.calls import Calls
from cloxy_core.surfaces.mcp.failures import in_words, masked
from cloxy_core.surfaces.mcp.instructions import INSTRUCTIONS
from cloxy_core.surfaces.mcp.neutral import neutral_text
from cloxy_core.surfaces.mcp.schemas import input_schema
from cloxy_core.surfaces.mcp.sdk import listing
from cloxy_core.surfaces.mcp.sdk.progress import told
from cloxy_hookspecs import CloxyError, InputError, NotFoundError

Context = ServerRequestContext[Any, Any]

TOOLSETS: Final = "toolsets"
LIST_MS: Final = 60_000
# Another set of plugins may be there after a restart; what was said may change at any time.
_LISTS = CacheHint(ttl_ms=LIST_MS, scope="private")
_READING = CacheHint(ttl_ms=0, scope="private")


def create_server(calls: Calls) -> Server[Any]:
    """A server that serves both eras of the protocol."""
    handlers = _Handlers(calls)
    schemas = {name: input_schema(way) for name, way in calls.catalogue.tools.items()}
    server: Server[Any] = Server(
        "cloxy",
        version=__version__,
        title="Cloxy",
        description="Memory of past conversations, on this machine",
        instructions=INSTRUCTIONS,
        get_tool_input_schema=schemas.get,
        cache_hints={
            "tools/list": _LISTS,
            "resources/list": _LISTS,
            "resources/templates/list": _LISTS,
            "resources/read": _READING,
            "prompts/list": _LISTS,
            "server/discover": _LISTS,
        },
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
    )
    # In place of the library's own, which would hand requests to a tracer of the machine.
    server.middleware[:] = [handlers.check_toolsets]
    return server


class _Handlers:
    """One method for each request of the protocol."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._catalogue = calls.catalogue

    async def check_toolsets(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Refuse every request whose address asks for toolsets that do not exist."""
        if ctx.request_id is not None:  # a notification has nobody to tell
            self._toolsets(ctx)
        return await call_next(ctx)

    async def list_tools(
        self, ctx: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        """The tools of the chosen toolsets."""
        ways = self._catalogue.tools_of(self._toolsets(ctx))
        return types.ListToolsResult(tools=listing.tools(ways))

    async def call_tool(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        """Call a tool; what goes wrong inside is part of the result."""
        try:
            way = self._catalogue.tool(params.name, self._toolsets(ctx))
        except NotFoundError as error:
            raise _refusal(error) from error
        async with told(ctx):
            answer = await self._calls.tool(way, params.arguments or {})
        return types.CallToolResult(
            content=[types.TextContent(text=answer.text)],
            structured_content=None if answer.value is None else dict(answer.value),
            is_error=answer.failed,
        )

    async def list_resources(
        self, _ctx: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """Resources at one address."""
        return types.ListResourcesResult(resources=listing.resources(self._catalogue))

    async def list_templates(
        self, _ctx: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        """Resources whose address is filled in."""
        return types.ListResourceTemplatesResult(
            resource_templates=listing.templates(self._catalogue)
        )

    async def read_resource(
        self, ctx: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        """The text of a resource."""
        uri = str(params.uri)
        try:
            async with told(ctx):
                text = await self._calls.resource(uri)
        except Exception as error:
            raise _refusal(error, "a resource") from error
        contents = types.TextResourceContents(uri=uri, mime_type=listing.MIME, text=text)
        return types.ReadResourceResult(contents=[contents])

    async def list_prompts(
        self, _ctx: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        """All prompts."""
        return types.ListPromptsResult(prompts=listing.prompts(self._catalogue))

    async def get_prompt(
        self, ctx: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        """The person's question, with what was found; nobody speaks for the system."""
        try:
            way = self._catalogue.prompt(params.name)
            async with told(ctx):
                question, found = await self._calls.prompt(way, params.arguments or {})
        except Exception as error:
            raise _refusal(error, "a prompt") from error
        return types.GetPromptResult(
            description=neutral_text(way.door.description),
            messages=[
                types.PromptMessage(
                    role="user", content=types.TextContent(text=f"{question}\n\n{found}")
                )
            ],
        )

    def _toolsets(self, ctx: Context) -> frozenset[str]:
        """What the address of the request chooses.

        Raises:
            MCPError: there is no such toolset.
        """
        query: Mapping[str, str] = {} if ctx.request is None else ctx.request.query_params
        try:
            return self._catalogue.chosen(query.get(TOOLSETS))
        except InputError as error:
            raise _refusal(error) from error


def _refusal(error: Exception, where: str = "a request") -> MCPError:
    """The error of the protocol that tells a client what is wrong."""
    if isinstance(error, MCPError):
        return error
    if not isinstance(error, CloxyError):
        return MCPError(code=types.INTERNAL_ERROR, message=masked(where, error))
    is_theirs = isinstance(error, InputError | NotFoundError)
    code = types.INVALID_PARAMS if is_theirs else types.INTERNAL_ERROR
    return MCPError(code=code, message=in_words(error), data={"code": error.code})
