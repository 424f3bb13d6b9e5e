"""Messages as clients of OpenAI's API send them."""

import json
from collections.abc import Iterator, Mapping
from typing import get_args

from cloxy_hookspecs import ChatMessage, ChatRole, ToolCall
from cloxy_plugins.model_api.fields import (
    MOST_MESSAGES,
    FieldError,
    kind,
    list_field,
    object_field,
    text_field,
)

ROLES: Mapping[str, ChatRole] = {
    "developer": "system",
    **{role: role for role in get_args(ChatRole)},
}
TEXT_ONLY = "Send text parts only; this server's models read nothing else."
NOT_TAKEN = {
    "image_url": "images are not taken",
    "input_image": "images are not taken",
    "image": "images are not taken",
    "input_audio": "audio is not taken",
    "file": "files are not taken",
}


def read_messages(value: object) -> tuple[ChatMessage, ...]:
    """A conversation.

    Args:
        value: the field `messages`.

    Raises:
        FieldError: a message cannot be used; it is named by its place.
    """
    if value is None:
        raise FieldError("messages", "is missing", hint="Send a list of messages.")
    items = list_field(value, "messages", MOST_MESSAGES)
    if not items:
        raise FieldError("messages", "must hold at least one message")
    return tuple(_message(item, f"messages[{index}]") for index, item in enumerate(items))


def _message(value: object, place: str) -> ChatMessage:
    fields = object_field(value, place)
    role = _role(fields, place)
    if fields.get("function_call") is not None:
        raise FieldError(f"{place}.function_call", "is an old form", hint="Use `tool_calls`.")
    text = _text(fields.get("content"), f"{place}.content")
    refused = text_field(fields, "refusal", f"{place}.")
    call_id = text_field(fields, "tool_call_id", f"{place}.")
    if role == "tool" and not call_id:
        raise FieldError(
            f"{place}.tool_call_id", "is missing", hint="Name the call that the result is of."
        )
    return ChatMessage(
        role=role,
        text=text or refused or "",
        tool_calls=tuple(_calls(fields, place)) if role == "assistant" else (),
        tool_call_id=call_id if role == "tool" else None,
        name=text_field(fields, "name", f"{place}."),
    )


def _role(fields: Mapping[str, object], place: str) -> ChatRole:
    name = text_field(fields, "role", f"{place}.")
    if name is None:
        raise FieldError(f"{place}.role", "is missing")
    if name == "function":
        raise FieldError(f"{place}.role", "`function` is an old form", hint="Use the role `tool`.")
    if name not in ROLES:
        raise FieldError(f"{place}.role", "must be " + ", ".join(sorted(ROLES)))
    return ROLES[name]


def _text(content: object, place: str) -> str:
    """Text of a content: a string, a list of parts, or nothing."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise FieldError(place, f"must be a string or a list of parts, not {kind(content)}")
    parts = list_field(content, place)
    return "\n".join(_part(part, f"{place}[{index}]") for index, part in enumerate(parts))


def _part(value: object, place: str) -> str:
    fields = object_field(value, place)
    sort = text_field(fields, "type", f"{place}.")
    if sort in ("text", "refusal"):
        text = text_field(fields, sort, f"{place}.")
        if text is None:
            raise FieldError(f"{place}.{sort}", "is missing")
        return text
    if sort is None:
        raise FieldError(f"{place}.type", "is missing", hint=TEXT_ONLY)
    problem = NOT_TAKEN.get(sort, "parts of this type are not taken")
    raise FieldError(place, f"`{sort[:40]}`: {problem}", hint=TEXT_ONLY)


def _calls(fields: Mapping[str, object], place: str) -> Iterator[ToolCall]:
    given = fields.get("tool_calls")
    if given is None:
        return
    for index, value in enumerate(list_field(given, f"{place}.tool_calls")):
        at = f"{place}.tool_calls[{index}]"
        call = object_field(value, at)
        sort = text_field(call, "type", f"{at}.") or "function"
        if sort != "function":
            raise FieldError(f"{at}.type", f"`{sort[:40]}`: only calls of functions are taken")
        function = object_field(call.get("function"), f"{at}.function")
        yield ToolCall(
            id=_required(call, "id", f"{at}."),
            name=_required(function, "name", f"{at}.function."),
            arguments=_arguments(function.get("arguments"), f"{at}.function.arguments"),
        )


def _required(fields: Mapping[str, object], name: str, place: str) -> str:
    value = text_field(fields, name, place)
    if not value:
        raise FieldError(place + name, "is missing")
    return value


def _arguments(value: object, place: str) -> str:
    """Arguments as JSON text; some clients send the object itself."""
    if value is None:
        return "{}"
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    if not isinstance(value, str):
        raise FieldError(place, f"must be a string of JSON, not {kind(value)}")
    return value or "{}"
