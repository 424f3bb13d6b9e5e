"""Answers in the form of OpenAI's API."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from time import time

from cloxy_hookspecs import ChatAnswer, ChatDelta, TokenUsage, ToolCallDelta

Json = dict[str, object]


def new_id() -> str:
    """Name of an answer."""
    return f"chatcmpl-{secrets.token_hex(12)}"


@dataclass(frozen=True, slots=True)
class Head:
    """What all parts of one answer have in common.

    Attributes:
        model: who answers.
        id: name of the answer.
        created: seconds since the epoch.
    """

    model: str
    id: str = field(default_factory=new_id)
    created: int = field(default_factory=lambda: int(time()))

    def whole(self, answer: ChatAnswer, meta: Mapping[str, object]) -> Json:
        """A whole answer."""
        message: Json = {
            "role": "assistant",
            "content": answer.text or (None if answer.tool_calls else ""),
            "refusal": None,
        }
        if answer.tool_calls:
            message["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments},
                }
                for call in answer.tool_calls
            ]
        choice: Json = {
            "index": 0,
            "message": message,
            "logprobs": None,
            "finish_reason": answer.finish,
        }
        body = self._fields("chat.completion") | {"choices": [choice]}
        if answer.usage is not None:
            body["usage"] = usage(answer.usage)
        return body | {"cloxy_meta": dict(meta)}

    def first_chunk(self) -> Json:
        """The chunk that says whose turn it is."""
        return self._chunk({"role": "assistant", "content": ""})

    def chunk(self, delta: ChatDelta) -> Json:
        """A piece of the answer."""
        content: Json = {}
        if delta.text:
            content["content"] = delta.text
        if delta.tool_calls:
            content["tool_calls"] = [_call(call) for call in delta.tool_calls]
        return self._chunk(content)

    def last_chunk(self, delta: ChatDelta, meta: Mapping[str, object]) -> Json:
        """The chunk that says why the answer ended."""
        return self._chunk({}, delta.finish) | {"cloxy_meta": dict(meta)}

    def usage_chunk(self, cost: TokenUsage) -> Json:
        """The chunk that says what it cost."""
        return self._fields("chat.completion.chunk") | {"choices": [], "usage": usage(cost)}

    def _chunk(self, delta: Json, finish: str | None = None) -> Json:
        choice: Json = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return self._fields("chat.completion.chunk") | {"choices": [choice]}

    def _fields(self, sort: str) -> Json:
        return {"id": self.id, "object": sort, "created": self.created, "model": self.model}


def usage(cost: TokenUsage) -> Json:
    """What an answer cost."""
    return {
        "prompt_tokens": cost.prompt,
        "completion_tokens": cost.completion,
        "total_tokens": cost.prompt + cost.completion,
        "prompt_tokens_details": {"cached_tokens": cost.cached},
    }


def _call(call: ToolCallDelta) -> Json:
    """A part of a call: who is called only with its first part."""
    function: Json = {"arguments": call.arguments}
    if call.name is not None:
        function = {"name": call.name, "arguments": call.arguments}
    if call.id is None:
        return {"index": call.index, "function": function}
    return {"index": call.index, "id": call.id, "type": "function", "function": function}
