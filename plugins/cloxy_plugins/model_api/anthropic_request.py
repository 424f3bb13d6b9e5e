"""A whole request of the Messages API."""

from collections.abc import Mapping
from dataclasses import dataclass

from cloxy_hookspecs import ChatRequest, InputError, ResponseFormat
from cloxy_plugins.model_api.anthropic_tools import read_output_schema, read_tools
from cloxy_plugins.model_api.anthropic_turns import read_conversation
from cloxy_plugins.model_api.fields import (
    FieldError,
    flag_field,
    json_object,
    list_field,
    number_field,
    object_field,
    text_field,
    whole_field,
)

MOST_STOPS = 64
"""Each is looked for in every piece of the answer."""
_ELSEWHERE = ("thread", "compaction")
"""Fields that ask for a conversation which the server would have to hold, or for its summary."""


@dataclass(frozen=True, slots=True)
class MessagesRequest:
    """What a client asks.

    Attributes:
        body: all fields as they came, for those that are Cloxy's own.
        model: the model as the client names it.
        chat: the conversation for a model. Its `stop` is empty, for the texts before which the
            answer ends are watched for here: a back-end would not say which one it met.
        humans: indices of the turns that a human wrote.
        stops: texts before which the answer ends.
        stream: whether the answer is wanted piece by piece.
    """

    body: Mapping[str, object]
    model: str
    chat: ChatRequest
    humans: tuple[int, ...]
    stops: tuple[str, ...] = ()
    stream: bool = False


def read_request(raw: bytes, *, counting: bool = False) -> MessagesRequest:
    """Read a request.

    What steers Anthropic's own servers or models and loses no text is left aside: `cache_control`,
    `thinking`, `metadata`, `context_management`, `service_tier`, `top_k` and every unknown field.

    Args:
        raw: the body.
        counting: whether only tokens are to be counted, which takes no `max_tokens`.

    Raises:
        InputError: it cannot be used; names the field.
    """
    try:
        return _read(json_object(raw), counting)
    except RecursionError as error:
        raise InputError("The body is nested too deeply.") from error


def _read(body: Mapping[str, object], counting: bool) -> MessagesRequest:
    for name in _ELSEWHERE:
        if body.get(name) is not None:
            raise FieldError(name, "this server keeps no conversations: send all messages")
    model = text_field(body, "model")
    if model is None:
        raise FieldError("model", "Field required")
    conversation = read_conversation(body)
    tools, choice = read_tools(body)
    schema = read_output_schema(body)
    chat = ChatRequest(
        messages=conversation.messages,
        model=model,
        max_tokens=_max_tokens(body, counting),
        temperature=number_field(body, "temperature", 0, 2),
        top_p=number_field(body, "top_p", 0, 1),
        tools=tools,
        tool_choice=choice,
        response_format=None if schema is None else ResponseFormat(schema=schema),
    )
    _check_aside(body)
    return MessagesRequest(
        body=body,
        model=model,
        chat=chat,
        humans=conversation.humans,
        stops=_stops(body),
        stream=flag_field(body, "stream") or False,
    )


def _max_tokens(body: Mapping[str, object], counting: bool) -> int:
    value = whole_field(body, "max_tokens", 1)
    if value is None and not counting:
        raise FieldError("max_tokens", "Field required")
    return value or 1


def _stops(body: Mapping[str, object]) -> tuple[str, ...]:
    value = body.get("stop_sequences")
    if value is None:
        return ()
    stops: list[str] = []
    for index, item in enumerate(list_field(value, "stop_sequences", MOST_STOPS)):
        if not isinstance(item, str) or not item:
            raise FieldError(f"stop_sequences.{index}", "must be a string that is not empty")
        stops.append(item)
    return tuple(stops)


def _check_aside(body: Mapping[str, object]) -> None:
    """Fields without effect here still have a form, so that a mistake is not found elsewhere."""
    for name in ("thinking", "metadata", "context_management"):
        if body.get(name) is not None:
            object_field(body[name], name)
