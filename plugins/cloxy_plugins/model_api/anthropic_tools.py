"""Tools that a client of the Messages API offers."""

from collections.abc import Mapping

from cloxy_hookspecs import ToolChoice, ToolSpec
from cloxy_plugins.model_api.anthropic_blocks import required
from cloxy_plugins.model_api.fields import (
    MOST_TOOLS,
    FieldError,
    flag_field,
    list_field,
    object_field,
    text_field,
)

_SERVER_TOOLS = (
    "web_search_",
    "web_fetch_",
    "code_execution_",
    "tool_search_tool_",
    "advisor_",
    "mcp_toolset",
)
"""Tools that Anthropic's servers run; the client neither sees their calls nor answers them."""


def read_tools(body: Mapping[str, object]) -> tuple[tuple[ToolSpec, ...], ToolChoice]:
    """Read `tools` and `tool_choice`.

    A tool that Anthropic's servers would run is left out among others: a model that is not offered
    it does not miss it. Where it is all there is, or the one that must be called, the answer would
    be made up, so that is refused.

    Raises:
        FieldError: a field has the wrong form, or a tool cannot be offered here.
    """
    offered = body.get("tools")
    specs: list[ToolSpec] = []
    absent: dict[str, str] = {}
    for index, item in enumerate(
        [] if offered is None else list_field(offered, "tools", MOST_TOOLS)
    ):
        path = f"tools.{index}"
        tool = object_field(item, path)
        sort = text_field(tool, "type", f"{path}.") or "custom"
        if sort.startswith(_SERVER_TOOLS) and "input_schema" not in tool:
            absent[text_field(tool, "name", f"{path}.") or sort] = sort
        else:
            specs.append(_spec(tool, sort, path))
    if len({spec.name for spec in specs}) != len(specs):
        raise FieldError("tools", "Tool names must be unique.")
    choice = _choice(body.get("tool_choice"))
    if absent and (not specs or choice.name in absent):
        raise FieldError(
            "tools",
            _absent(absent),
            hint="Leave the tool out, or offer one with "
            "an input_schema that the client runs by itself.",
        )
    _check_choice(choice, specs)
    return tuple(specs), choice


def _absent(tools: Mapping[str, str]) -> str:
    return f"{', '.join(sorted(tools.values()))} runs on Anthropic's servers; there is none here"


def _spec(tool: Mapping[str, object], sort: str, path: str) -> ToolSpec:
    if "input_schema" not in tool:
        if sort == "custom":
            raise FieldError(f"{path}.input_schema", "Field required")
        raise FieldError(
            f"{path}.type",
            f"only Anthropic's own models know the form of {sort!r}",
            hint="Offer it as a tool with name, description and input_schema.",
        )
    name = required(tool, "name", path)
    if not name.strip():
        raise FieldError(f"{path}.name", "must not be empty")
    schema = object_field(tool["input_schema"], f"{path}.input_schema")
    return ToolSpec(
        name=name,
        description=text_field(tool, "description", f"{path}.") or "",
        parameters=schema,
    )


def _choice(value: object) -> ToolChoice:
    if value is None:
        return ToolChoice()
    choice = object_field(value, "tool_choice")
    mode = required(choice, "type", "tool_choice")
    single = flag_field(choice, "disable_parallel_tool_use", "tool_choice.")
    parallel = None if single is None else not single
    if mode == "tool":
        return ToolChoice("named", required(choice, "name", "tool_choice"), parallel)
    if mode == "any":
        return ToolChoice("required", None, parallel)
    if mode == "auto":
        return ToolChoice("auto", None, parallel)
    if mode == "none":
        return ToolChoice("none")
    raise FieldError("tool_choice.type", "must be 'auto', 'any', 'tool' or 'none'")


def _check_choice(choice: ToolChoice, specs: list[ToolSpec]) -> None:
    if choice.mode in {"required", "named"} and not specs:
        raise FieldError("tool_choice", "may only be given together with tools")
    if choice.mode == "named" and choice.name not in {spec.name for spec in specs}:
        raise FieldError("tool_choice.name", f"there is no tool {choice.name!r} in tools")


def read_output_schema(body: Mapping[str, object]) -> Mapping[str, object] | None:
    """Read the JSON Schema of `output_config.format`, or of its older place `output_format`.

    Raises:
        FieldError: a field has the wrong form.
    """
    config = body.get("output_config")
    found, path = body.get("output_format"), "output_format"
    if config is not None:
        inner = object_field(config, "output_config").get("format")
        if inner is not None:
            found, path = inner, "output_config.format"
    if found is None:
        return None
    form = object_field(found, path)
    if required(form, "type", path) != "json_schema":
        raise FieldError(f"{path}.type", "must be 'json_schema'")
    return object_field(form.get("schema"), f"{path}.schema")
