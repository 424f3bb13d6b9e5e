"""A conversation as chat templates take it: turns, tools, and no words that are orders."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from cloxy_hookspecs.errors import UnsupportedModelError
from cloxy_hookspecs.types.llm import ChatMessage, ChatRequest

SPLIT: Final = "\ufdd0"
"""Put into words of a conversation that would be control tokens: the text is cut there before it
becomes tokens, so that nobody ends a turn, or begins one of the system's, by writing so."""
_LONGEST_REASON: Final = 300


class TemplateTurns:
    """Makes the turns that a template wants.

    Attributes:
        alternates: whether user and assistant must be strictly by turns.
    """

    def __init__(self, source: str, controls: Collection[str]) -> None:
        """Look at a template.

        Args:
            source: its text.
            controls: texts of the control tokens; of one character, none.
        """
        source = source.lower()
        longer = {control for control in controls if len(control) > 1}
        self._controls = sorted(longer, key=len, reverse=True)
        self._no_system = "system role not supported" in source
        self.alternates = "alternat" in source

    def turns(self, messages: Sequence[ChatMessage]) -> list[dict[str, Any]]:
        """The turns of a conversation; their texts are to be cut at `SPLIT` once rendered."""
        if self._no_system:
            messages = without_system(messages)
        if self.alternates:
            messages = alternating(messages)
        return [self._turn(message) for message in messages]

    def _turn(self, message: ChatMessage) -> dict[str, Any]:
        turn: dict[str, Any] = {"role": message.role, "content": self._harmless(message.text)}
        if message.tool_calls:
            turn["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": _arguments(call.arguments)},
                }
                for call in message.tool_calls
            ]
        if message.tool_call_id is not None:
            turn["tool_call_id"] = message.tool_call_id
        if message.name is not None:
            turn["name"] = message.name
        return turn

    def _harmless(self, text: str) -> str:
        text = text.replace(SPLIT, "")
        for control in self._controls:
            if control in text:
                text = text.replace(control, control[0] + SPLIT + control[1:])
        return text


def tools_of(request: ChatRequest) -> list[Mapping[str, Any]]:
    """The tools as templates have them."""
    return [
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


def alternating(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """The conversation with turns of the user that follow each other as paragraphs of one."""
    found: list[ChatMessage] = []
    for message in messages:
        last = found[-1] if found else None
        if last is not None and last.role == message.role == "user":
            found[-1] = replace(message, text=f"{last.text}\n\n{message.text}")
        else:
            found.append(message)
    return found


def without_system(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """The conversation with what the system says as the first paragraphs of the user's turn."""
    said = [message.text for message in messages if message.role == "system"]
    rest = [message for message in messages if message.role != "system"]
    if not said:
        return rest
    if rest and rest[0].role == "user":
        return [replace(rest[0], text="\n\n".join([*said, rest[0].text])), *rest[1:]]
    return [ChatMessage("user", "\n\n".join(said)), *rest]


def without_unused(request: ChatRequest) -> ChatRequest:
    """The request without tools that must not be called."""
    if request.tools and request.tool_choice.mode == "none":
        return replace(request, tools=())
    return request


def refused(error: Exception) -> UnsupportedModelError:
    """What a template raised, whatever that was, as an error for people."""
    reason = " ".join(str(error).split())[:_LONGEST_REASON]
    return UnsupportedModelError(
        f"the model's template does not take this conversation: {reason}",
        hint="check the order of its turns, or use another model",
    )


def _arguments(text: str) -> object:
    """Templates write arguments as JSON themselves."""
    try:
        return json.loads(text)
    except ValueError:
        return text
