"""One answer of its pieces, and how long a conversation is about."""

import json
import math
from collections.abc import Iterator
from typing import Final

from cloxy_hookspecs import (
    ChatAnswer,
    ChatDelta,
    ChatRequest,
    FinishReason,
    TokenUsage,
    ToolCall,
)

BYTES_A_TOKEN: Final = 3
TOKENS_A_MESSAGE: Final = 8


class Joining:
    """Collects pieces of an answer."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._calls: dict[int, _Call] = {}
        self._finish: FinishReason = "stop"
        self._usage: TokenUsage | None = None

    def add(self, delta: ChatDelta) -> None:
        """Take the next piece."""
        self._texts.append(delta.text)
        for part in delta.tool_calls:
            call = self._calls.setdefault(part.index, _Call())
            call.id = call.id or part.id
            call.name = call.name or part.name
            call.arguments.append(part.arguments)
        self._finish = delta.finish or self._finish
        self._usage = delta.usage or self._usage

    def answer(self) -> ChatAnswer:
        """The whole, as far as it came."""
        calls = tuple(call.whole(index) for index, call in sorted(self._calls.items()))
        return ChatAnswer("".join(self._texts), calls, self._finish, self._usage)


class _Call:
    def __init__(self) -> None:
        self.id: str | None = None
        self.name: str | None = None
        self.arguments: list[str] = []

    def whole(self, index: int) -> ToolCall:
        return ToolCall(self.id or f"call_{index}", self.name or "", "".join(self.arguments))


def estimated_tokens(request: ChatRequest) -> int:
    """About how many tokens a conversation has, rather too many than too few.

    English has some four bytes a token and Chinese three, with the vocabularies of small models.
    """
    size = sum(len(text.encode("utf-8", "replace")) for text in _texts(request))
    return math.ceil(size / BYTES_A_TOKEN) + TOKENS_A_MESSAGE * len(request.messages)


def _texts(request: ChatRequest) -> Iterator[str]:
    for message in request.messages:
        yield message.text
        yield message.name or ""
        for call in message.tool_calls:
            yield call.name
            yield call.arguments
    for tool in request.tools:
        yield tool.name
        yield tool.description
        yield json.dumps(dict(tool.parameters), default=str)
    if request.response_format is not None and request.response_format.schema is not None:
        yield json.dumps(dict(request.response_format.schema), default=str)
