"""Tools and forms of answers as clients of OpenAI's API describe them."""

from collections.abc import Iterator, Mapping, Sequence

from cloxy_hookspecs import ResponseFormat, ToolChoice, ToolSpec
from cloxy_plugins.model_api.fields import (
    MOST_TOOLS,
    FieldError,
    flag_field,
    kind,
    list_field,
    object_field,
    text_field,
)

NO_ARGUMENTS: Mapping[str, object] = {"type": "object", "properties": {}}
LONGEST_NAME = 128


def read_tools(value: object) -> tuple[ToolSpec, ...]:
    """The tools that may be called.

    Args:
        value: the field `tools`.

    Raises:
        FieldError: a tool cannot be used; it is named by its place.
    """
    if value is None:
        return ()
    tools = tuple(_tools(list_field(value, "tools", MOST_TOOLS)))
    seen = set[str]()
    for index, tool in enumerate(tools):
        if tool.name in seen:
            raise FieldError(f"tools[{index}].function.name", "two tools have the same name")
        seen.add(tool.name)
    return tools


def read_tool_choice(body: Mapping[str, object], tools: Sequence[ToolSpec]) -> ToolChoice:
    """Whether tools may or must be called.

    Args:
        body: the request.
        tools: its tools.

    Raises:
        FieldError: it cannot be used, or names no tool that is there.
    """
    parallel = flag_field(body, "parallel_tool_calls")
    choice = body.get("tool_choice")
    if choice is None or choice == "auto":
        return ToolChoice(parallel=parallel)
    if choice == "none":
        return ToolChoice("none", parallel=parallel)
    if not tools:
        raise FieldError("tool_choice", "wants a call, and there are no `tools`")
    if choice == "required":
        return ToolChoice("required", parallel=parallel)
    if isinstance(choice, str):
        raise FieldError("tool_choice", "must be auto, none, required, or an object")
    fields = object_field(choice, "tool_choice")
    sort = text_field(fields, "type", "tool_choice.")
    if sort != "function":
        raise FieldError("tool_choice.type", f"must be `function`, not {_named(sort)}")
    function = object_field(fields.get("function"), "tool_choice.function")
    name = text_field(function, "name", "tool_choice.function.")
    if name not in [tool.name for tool in tools]:
        raise FieldError("tool_choice.function.name", "names none of the `tools`")
    return ToolChoice("named", name, parallel)


def read_response_format(value: object) -> ResponseFormat | None:
    """The form of the answer; None for plain text.

    Args:
        value: the field `response_format`.

    Raises:
        FieldError: it cannot be used.
    """
    if value is None:
        return None
    fields = object_field(value, "response_format")
    sort = text_field(fields, "type", "response_format.")
    if sort == "text":
        return None
    if sort == "json_object":
        return ResponseFormat()
    if sort != "json_schema":
        raise FieldError("response_format.type", "must be text, json_object or json_schema")
    place = "response_format.json_schema"
    described = object_field(fields.get("json_schema"), place)
    name = text_field(described, "name", f"{place}.")
    schema = object_field(described.get("schema"), f"{place}.schema")
    return ResponseFormat(schema, name or "answer")


def _tools(items: Sequence[object]) -> Iterator[ToolSpec]:
    for index, item in enumerate(items):
        place = f"tools[{index}]"
        fields = object_field(item, place)
        sort = text_field(fields, "type", f"{place}.")
        if sort != "function":
            raise FieldError(f"{place}.type", f"must be `function`, not {_named(sort)}")
        function = object_field(fields.get("function"), f"{place}.function")
        name = text_field(function, "name", f"{place}.function.")
        if not name or len(name) > LONGEST_NAME:
            raise FieldError(f"{place}.function.name", f"must have 1 to {LONGEST_NAME} characters")
        parameters = function.get("parameters")
        yield ToolSpec(
            name=name,
            description=text_field(function, "description", f"{place}.function.") or "",
            parameters=(
                NO_ARGUMENTS
                if parameters is None
                else object_field(parameters, f"{place}.function.parameters")
            ),
        )


def _named(sort: str | None) -> str:
    return kind(None) if sort is None else f"`{sort[:40]}`"
