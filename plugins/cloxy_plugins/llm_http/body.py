"""A request as the OpenAI API has it."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from cloxy_hookspecs import ChatMessage, ChatRequest, ToolChoice


def encode(request: ChatRequest, model: str, *, alternates: bool, with_usage: bool) -> bytes:
    """The body of a chat request; always streamed, so that it can be ended.

    Args:
        request: what is asked.
        model: the model, by the server's name; empty leaves it to the server.
        alternates: whether turns of the user that follow each other become one.
        with_usage: whether the cost is asked for.
    """
    messages = alternating(request.messages) if alternates else request.messages
    body: dict[str, Any] = {
        "messages": [_message(message) for message in messages],
        "stream": True,
        "max_tokens": request.max_tokens,
    }
    if model:
        body["model"] = model
    if with_usage:
        body["stream_options"] = {"include_usage": True}
    for name in ("temperature", "top_p", "seed"):
        if (value := getattr(request, name)) is not None:
            body[name] = value
    if request.stop:
        body["stop"] = list(request.stop)
    body |= _tools(request)
    if request.response_format is not None:
        body["response_format"] = _format(request)
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")


def alternating(messages: Sequence[ChatMessage]) -> tuple[ChatMessage, ...]:
    """The conversation with turns of the user that follow each other as paragraphs of one."""
    found: list[ChatMessage] = []
    for message in messages:
        last = found[-1] if found else None
        if last is not None and last.role == message.role == "user":
            found[-1] = replace(message, text=f"{last.text}\n\n{message.text}")
        else:
            found.append(message)
    return tuple(found)


def _message(message: ChatMessage) -> dict[str, Any]:
    # No null: some servers do not take it, all take the empty text.
    found: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.tool_calls:
        found["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in message.tool_calls
        ]
    if message.tool_call_id is not None:
        found["tool_call_id"] = message.tool_call_id
    if message.name is not None:
        found["name"] = message.name
    return found


def _tools(request: ChatRequest) -> dict[str, Any]:
    if not request.tools:
        return {}
    found: dict[str, Any] = {
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": dict(tool.parameters),
                },
            }
            for tool in request.tools
        ]
    }
    choice = request.tool_choice
    if choice.mode != "auto":
        found["tool_choice"] = _choice(choice)
    if choice.parallel is not None:
        found["parallel_tool_calls"] = choice.parallel
    return found


def _choice(choice: ToolChoice) -> object:
    if choice.mode == "named":
        return {"type": "function", "function": {"name": choice.name}}
    return choice.mode


def _format(request: ChatRequest) -> dict[str, Any]:
    wanted = request.response_format
    if wanted is None or wanted.schema is None:
        return {"type": "json_object"}
    schema = {"name": wanted.name, "schema": dict(wanted.schema), "strict": True}
    return {"type": "json_schema", "json_schema": schema}
