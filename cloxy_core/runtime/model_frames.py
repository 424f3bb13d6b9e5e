"""What a process with a model and its owner say to each other, as JSON and back.

Both sides use this, so it imports the contract alone.
"""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from cloxy_hookspecs.types.llm import (
    ChatDelta,
    ChatMessage,
    ChatRequest,
    HostedOptions,
    ModelChoice,
    ModelInfo,
    ResponseFormat,
    TokenUsage,
    ToolCall,
    ToolCallDelta,
    ToolChoice,
    ToolSpec,
)

Frame = Mapping[str, Any]


def request_to_frame(request: ChatRequest) -> Frame:
    """A request as JSON has it."""
    form = request.response_format
    return {
        "messages": [asdict(message) for message in request.messages],
        "model": request.model,
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
        "top_p": request.top_p,
        "stop": list(request.stop),
        "seed": request.seed,
        "tools": [
            {"name": t.name, "description": t.description, "parameters": dict(t.parameters)}
            for t in request.tools
        ],
        "tool_choice": asdict(request.tool_choice),
        "response_format": None
        if form is None
        else {"schema": None if form.schema is None else dict(form.schema), "name": form.name},
    }


def request_from_frame(frame: Frame) -> ChatRequest:
    """The request again."""
    form = frame["response_format"]
    return ChatRequest(
        **{
            **frame,
            "messages": tuple(map(_message, frame["messages"])),
            "stop": tuple(frame["stop"]),
            "tools": tuple(ToolSpec(**tool) for tool in frame["tools"]),
            "tool_choice": ToolChoice(**frame["tool_choice"]),
            "response_format": None if form is None else ResponseFormat(**form),
        }
    )


def _message(frame: Frame) -> ChatMessage:
    calls = tuple(ToolCall(**call) for call in frame["tool_calls"])
    return ChatMessage(**{**frame, "tool_calls": calls})


def delta_to_frame(delta: ChatDelta) -> Frame:
    """A part of an answer as JSON has it; what is empty is left out, there are many."""
    frame: dict[str, Any] = {}
    if delta.text:
        frame["text"] = delta.text
    if delta.tool_calls:
        frame["tool_calls"] = [asdict(call) for call in delta.tool_calls]
    if delta.finish is not None:
        frame["finish"] = delta.finish
    if delta.usage is not None:
        frame["usage"] = asdict(delta.usage)
    return frame


def delta_from_frame(frame: Frame) -> ChatDelta:
    """The part of an answer again."""
    usage = frame.get("usage")
    return ChatDelta(
        text=frame.get("text", ""),
        tool_calls=tuple(ToolCallDelta(**call) for call in frame.get("tool_calls", ())),
        finish=frame.get("finish"),
        usage=None if usage is None else TokenUsage(**usage),
    )


def options_to_frame(options: HostedOptions) -> Frame:
    """What a process is told that is to load a model."""
    return {
        "choice": asdict(options.choice),
        "threads": options.threads,
        "settings": dict(options.settings),
    }


def options_from_frame(frame: Frame) -> HostedOptions:
    """The same again."""
    return HostedOptions(**{**frame, "choice": ModelChoice(**frame["choice"])})


def info_to_frame(info: ModelInfo) -> Frame:
    """What is known of a model."""
    return asdict(info)


def info_from_frame(frame: Frame) -> ModelInfo:
    """The same again."""
    return ModelInfo(**frame)
