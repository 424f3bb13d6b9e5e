"""Pieces of an answer out of what servers send, whatever that is."""

import json
import secrets
from collections.abc import Mapping
from typing import Any, Final

from cloxy_hookspecs import ChatDelta, FinishReason, ModelError, TokenUsage, ToolCallDelta
from cloxy_plugins.llm_http.refusals import refusal_of

FINISHES: Final[Mapping[str, FinishReason]] = {
    "length": "length",
    "max_tokens": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "content_filter",
}


class ChunkReader:
    """Makes deltas of the chunks of one answer.

    Attributes:
        finished: whether the answer said that it has ended.
    """

    def __init__(self) -> None:
        """Begin an answer."""
        self.finished = False
        self._usage: TokenUsage | None = None
        self._told = False
        self._ids: list[str] = []
        self._names: list[bool] = []

    def read(self, text: str) -> list[ChatDelta]:
        """Deltas of a chunk, or of a whole answer of a server that does not stream.

        Raises:
            Refusal: it is an error.
            ModelError: it is nothing that is known.
        """
        try:
            chunk = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ModelError(
                f"the server of models sends what is no JSON: {text[:100]!r}",
                hint="check that CLOXY_LLM_BASE_URL is an OpenAI-compatible API",
            ) from error
        if not isinstance(chunk, dict):
            raise ModelError(f"the server of models sends what is no chunk: {text[:100]!r}")
        if chunk.get("error"):
            raise refusal_of(None, chunk)
        self._usage = _usage(chunk.get("usage")) or self._usage
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        return self._choice(choice) if isinstance(choice, dict) else self._rest()

    def _choice(self, choice: Mapping[str, Any]) -> list[ChatDelta]:
        if self.finished:
            return self._rest()
        part = choice.get("delta") or choice.get("message") or {}
        part = part if isinstance(part, dict) else {}
        said = ChatDelta(_text(part.get("content")), self._calls(part.get("tool_calls")))
        reason = choice.get("finish_reason")
        if not isinstance(reason, str) or not reason:
            return [said]  # empty for a piece of thinking, which is no text but a sign of life
        end = self._finish(FINISHES.get(reason, "stop"))
        return [said, *end] if said.text or said.tool_calls else end

    def _finish(self, reason: FinishReason) -> list[ChatDelta]:
        self.finished = True
        if reason == "stop" and self._ids:
            reason = "tool_calls"  # some servers say "stop" to both
        self._told = self._usage is not None
        return [ChatDelta(finish=reason, usage=self._usage)]

    def _rest(self) -> list[ChatDelta]:
        """The cost, when it comes after the end."""
        if not self.finished or self._told or self._usage is None:
            return []
        self._told = True
        return [ChatDelta(usage=self._usage)]

    def done(self) -> list[ChatDelta]:
        """The server said that nothing more comes."""
        return self._rest() if self.finished else self._finish("stop")

    def broke_off(self) -> list[ChatDelta]:
        """The connection ended.

        Raises:
            ModelError: before the answer did.
        """
        if self.finished:
            return self._rest()
        raise ModelError(
            "the server of models broke off in the midst of its answer",
            hint="look into its log: it may have run out of memory",
        )

    def _calls(self, calls: object) -> tuple[ToolCallDelta, ...]:
        if not isinstance(calls, list):
            return ()
        return tuple(self._call(call) for call in calls if isinstance(call, dict))

    def _call(self, call: Mapping[str, Any]) -> ToolCallDelta:
        function = call.get("function")
        function = function if isinstance(function, dict) else {}
        given, name = call.get("id"), function.get("name")
        index = self._index(call.get("index"), given, name)
        new = index == len(self._ids)
        if new:
            self._ids.append(given if isinstance(given, str) and given else _new_id())
            self._names.append(False)
        named = isinstance(name, str) and bool(name) and not self._names[index]
        self._names[index] |= named
        return ToolCallDelta(
            index=index,
            id=self._ids[index] if new else None,
            name=name if named else None,
            arguments=_arguments(function.get("arguments")),
        )

    def _index(self, index: object, given: object, name: object) -> int:
        """Which call a part belongs to; servers leave the index out, or say 0 to every call."""
        count = len(self._ids)
        if isinstance(given, str) and given in self._ids:
            return self._ids.index(given)
        if isinstance(index, int) and 0 <= index < count:
            another = bool(given) and bool(name) and self._names[index]
            return count if another else index
        if isinstance(index, int) or given or name or not count:
            return count
        return count - 1


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = (part.get("text") for part in content if isinstance(part, dict))
        return "".join(part for part in parts if isinstance(part, str))
    return ""


def _arguments(found: object) -> str:
    if found is None:
        return ""
    return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)


def _usage(found: object) -> TokenUsage | None:
    if not isinstance(found, dict):
        return None
    details = found.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    prompt, completion = found.get("prompt_tokens"), found.get("completion_tokens")
    if not isinstance(prompt, int) or not isinstance(completion, int):
        return None
    return TokenUsage(prompt, completion, cached if isinstance(cached, int) else 0)


def _new_id() -> str:
    return f"call_{secrets.token_hex(12)}"
