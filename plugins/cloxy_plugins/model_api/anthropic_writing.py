"""An answer while a model writes it."""

import json
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from cloxy_hookspecs import ChatDelta, FinishReason, ModelError, TokenUsage, ToolCallDelta
from cloxy_plugins.model_api.anthropic_stops import StopWatch

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_REASONS: Mapping[FinishReason, str] = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "end_turn",  # where there are calls, they say so themselves
    "content_filter": "refusal",
}
_SHOWN = 200
"""Characters of a broken call that an error quotes."""


class BrokenCallError(ModelError):
    """A model wrote a call that nobody can make."""

    code = "model_api.broken_call"
    http_status = 502
    retryable = True


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A call that is complete.

    Attributes:
        id: unique within the conversation.
        name: the tool.
        input: its arguments.
    """

    id: str
    name: str
    input: Mapping[str, object]


@dataclass(slots=True)
class _Call:
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list[str])


class Writing:
    """Takes the pieces of an answer, gives what can be shown, and knows how it ended.

    Text goes on at once. A call is held until the answer ends and its arguments are known to be
    a JSON object: what is no object breaks clients, and cannot be called back once it was sent.
    """

    def __init__(self, stops: Sequence[str] = (), used_ids: Sequence[str] = ()) -> None:
        """Begin.

        Args:
            stops: texts before which the answer ends.
            used_ids: ids of calls that the conversation holds already.
        """
        self._watch = StopWatch(stops)
        self._used = set(used_ids)
        self._calls: dict[int, _Call] = {}
        self._finish: FinishReason | None = None
        self.usage: TokenUsage | None = None

    def take(self, delta: ChatDelta) -> str:
        """The text that can be shown now."""
        shown = self._watch.take(delta.text)
        if not self.stopped:
            for part in delta.tool_calls:
                self._add(part)
        self._finish = delta.finish or self._finish
        self.usage = delta.usage or self.usage
        return shown

    def rest(self) -> str:
        """The text that is left at the end."""
        return self._watch.rest()

    @property
    def stopped(self) -> bool:
        """Whether one of the stops was met, so that nothing more is wanted."""
        return self._watch.matched is not None

    @property
    def stop_sequence(self) -> str | None:
        """The stop that was met."""
        return self._watch.matched

    def stop_reason(self, uses: Sequence[ToolUse]) -> str:
        """Why the answer ended, in the words of the Messages API."""
        if self.stopped:
            return "stop_sequence"
        if self._finish == "length":
            return "max_tokens"
        return "tool_use" if uses else _REASONS[self._finish or "stop"]

    def uses(self) -> Sequence[ToolUse]:
        """The calls, in order. One that was cut off by the end of the room is left out.

        Raises:
            BrokenCallError: the arguments of a call are no JSON object. The client asks again; to
                call a tool with other arguments than were meant would be worse.
        """
        calls = [self._calls[number] for number in sorted(self._calls)]
        found: list[ToolUse] = []
        for call in calls:
            written = "".join(call.arguments)
            arguments = _arguments(written)
            is_cut = self._finish == "length" and call is calls[-1]
            if is_cut and (arguments is None or not written.strip()):
                break
            if arguments is None or not call.name:
                raise _broken(call)
            found.append(ToolUse(self._id(call.id), call.name, arguments))
        return found

    def _add(self, part: ToolCallDelta) -> None:
        call = self._calls.setdefault(part.index, _Call())
        call.id = part.id or call.id
        call.name = part.name or call.name
        call.arguments.append(part.arguments)

    def _id(self, given: str) -> str:
        is_usable = _ID.fullmatch(given) is not None and given not in self._used
        chosen = given if is_usable else f"toolu_{secrets.token_hex(12)}"
        self._used.add(chosen)
        return chosen


def _arguments(text: str) -> Mapping[str, object] | None:
    """A call's arguments; None when they are no JSON object.

    No text at all is an object without members, and an object inside a JSON string is that object:
    many small models write both.
    """
    value: object = text.strip() or "{}"
    for _ in range(2):
        if not isinstance(value, str):
            break
        try:
            value = json.loads(value, parse_constant=_refuse)
        except (ValueError, RecursionError):
            return None
    if value is None:
        return {}
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else None


def _refuse(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def _broken(call: _Call) -> BrokenCallError:
    written = "".join(call.arguments)
    quoted = written if len(written) <= _SHOWN else f"{written[:_SHOWN]}…"
    return BrokenCallError(
        f"The model called {call.name or 'a tool without a name'} with arguments that are no JSON "
        f"object: {quoted}",
        hint="Ask again, or use a model that is better with tools (`cloxy init`).",
    )
