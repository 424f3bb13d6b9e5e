"""Turns of the Messages API as the turns that a model's template knows."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from cloxy_hookspecs import ChatMessage, ToolCall
from cloxy_plugins.model_api.anthropic_blocks import members, readable, required, result_text
from cloxy_plugins.model_api.fields import (
    MOST_MESSAGES,
    FieldError,
    flag_field,
    list_field,
    object_field,
)
from cloxy_plugins.model_api.turn_words import spoken

_ACCOUNTING = "x-anthropic-billing-header:"
"""Begins a system block that Claude Code writes for its maker's accounts. It is no instruction, and
as it differs from one conversation to the next, a model would compute everything after it anew."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """What was said.

    Attributes:
        messages: the system's turn first, if there is one; user and assistant by turns, a tool's
            turns right after the calls that they answer.
        humans: indices of the turns that a human wrote.
    """

    messages: tuple[ChatMessage, ...]
    humans: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Result:
    call: str
    text: str
    path: str


@dataclass(slots=True)
class _Turn:
    role: Literal["user", "assistant"]
    path: str
    texts: list[str] = field(default_factory=list[str])
    calls: list[ToolCall] = field(default_factory=list[ToolCall])
    results: list[_Result] = field(default_factory=list[_Result])

    @property
    def empty(self) -> bool:
        return not (self.texts or self.calls or self.results)

    @property
    def text(self) -> str:
        return "\n\n".join(self.texts)

    def join(self, other: "_Turn") -> None:
        self.texts += other.texts
        self.calls += other.calls
        self.results += other.results


def read_conversation(body: Mapping[str, object]) -> Conversation:
    """Read `system` and `messages`.

    Turns of the same role that follow each other become one. Of a user's turn the results of tools
    come first, each as a turn of its own; what is left is the user's.

    Raises:
        FieldError: a field has the wrong form, holds what a model cannot read, or a tool's result
            does not go with a call.
    """
    system, turns = _system(body.get("system")), _turns(body)
    while turns and turns[0][0] == "system":
        system.append(turns.pop(0)[1].text)
    joined = _joined([turn for _, turn in turns])
    if not joined:
        raise FieldError("messages", "at least one message with text is required")
    if joined[0].role != "user":
        raise FieldError(f"{joined[0].path}.role", "the first turn must be a user's")
    messages = [ChatMessage(role="system", text="\n\n".join(system))] if system else []
    humans: list[int] = []
    neighbours = list(zip([None, *joined[:-1]], joined, [*joined[1:], None], strict=True))
    for before, turn, _ in neighbours:
        _check_results(before, turn)
    for before, turn, after in neighbours:
        _check_calls(turn, after)
        messages.extend(_messages(turn, before))
        if turn.role == "user" and spoken(turn.text).strip():
            humans.append(len(messages) - 1)
    return Conversation(tuple(messages), tuple(humans))


def _system(value: object) -> list[str]:
    if value is None:
        return []
    texts: list[str] = []
    for block, path in members(value, "system"):
        if required(block, "type", path) != "text":
            raise FieldError(f"{path}.type", "only text blocks can stand here")
        text = required(block, "text", path)
        if text.strip() and not text.startswith(_ACCOUNTING):
            texts.append(text)
    return texts


def _turns(body: Mapping[str, object]) -> list[tuple[str, _Turn]]:
    """Turns that hold something, each with the role that the client gave it."""
    if "messages" not in body:
        raise FieldError("messages", "Field required")
    found: list[tuple[str, _Turn]] = []
    for index, item in enumerate(list_field(body["messages"], "messages", MOST_MESSAGES)):
        path = f"messages.{index}"
        message = object_field(item, path)
        role = required(message, "role", path)
        if "content" not in message:
            raise FieldError(f"{path}.content", "Field required")
        if role == "assistant":
            turn = _assistant(message["content"], path)
        elif role == "user":
            turn = _user(message["content"], path)
        elif role == "system":
            turn = _aside(message["content"], path, first=all(one == "system" for one, _ in found))
        else:
            raise FieldError(f"{path}.role", "must be 'user' or 'assistant'")
        if not turn.empty:
            found.append((role, turn))
    return found


def _assistant(content: object, path: str) -> _Turn:
    turn = _Turn("assistant", path)
    text = ""
    for block, where in members(content, f"{path}.content"):
        name = required(block, "type", where)
        if name == "tool_use":
            turn.calls.append(_call(block, where))
        elif name == "tool_result":
            raise FieldError(f"{where}.type", "tool_result blocks belong into a user's turn")
        elif name == "text":
            text += readable(block, where)  # a sentence may go on in the next block
        elif shown := readable(block, where):
            text += f"\n\n{shown}\n\n"
    if text.strip():
        turn.texts.append(text)
    return turn


def _user(content: object, path: str) -> _Turn:
    turn = _Turn("user", path)
    for block, where in members(content, f"{path}.content"):
        name = required(block, "type", where)
        if name == "tool_result":
            turn.results.append(_result(block, where))
        elif name == "tool_use":
            raise FieldError(f"{where}.type", "tool_use blocks belong into an assistant's turn")
        elif (shown := readable(block, where)).strip():
            turn.texts.append(shown)
    return turn


def _aside(content: object, path: str, *, first: bool) -> _Turn:
    """A system's turn: before all others it is part of the system's text.

    Later, where few templates take one, it is marked as what it is inside the user's turn.
    """
    turn = _user(content, path)
    if turn.results:
        raise FieldError(f"{path}.content", "tool_result blocks belong into a user's turn")
    if not first:
        turn.texts = [f"<system-reminder>\n{text}\n</system-reminder>" for text in turn.texts]
    return turn


def _call(block: Mapping[str, object], path: str) -> ToolCall:
    if "input" not in block:
        raise FieldError(f"{path}.input", "Field required")
    arguments = object_field(block["input"], f"{path}.input")
    return ToolCall(
        id=required(block, "id", path),
        name=required(block, "name", path),
        arguments=json.dumps(arguments, ensure_ascii=False),
    )


def _result(block: Mapping[str, object], path: str) -> _Result:
    content = block.get("content")
    inner = [] if content is None else members(content, f"{path}.content")
    text = "\n\n".join(filter(str.strip, (result_text(one, where) for one, where in inner)))
    if flag_field(block, "is_error", f"{path}."):
        text = f"Error: {text}" if text else "Error"
    return _Result(required(block, "tool_use_id", path), text, path)


def _joined(turns: Sequence[_Turn]) -> list[_Turn]:
    joined: list[_Turn] = []
    for turn in turns:
        if joined and joined[-1].role == turn.role:
            joined[-1].join(turn)
        else:
            joined.append(turn)
    return joined


def _check_results(before: _Turn | None, turn: _Turn) -> None:
    open_calls = {call.id for call in before.calls} if before else set[str]()
    for result in turn.results:
        if result.call not in open_calls:
            raise FieldError(
                f"{result.path}.tool_use_id",
                f"{result.call!r} is the id of no tool_use block in the turn before, "
                "or has a result already",
            )
        open_calls.remove(result.call)


def _check_calls(turn: _Turn, after: _Turn | None) -> None:
    if len({call.id for call in turn.calls}) != len(turn.calls):
        raise FieldError(turn.path, "ids of tool_use blocks must be unique")
    answered = {result.call for result in after.results} if after else set[str]()
    missing = [call.id for call in turn.calls if call.id not in answered]
    if missing:
        raise FieldError(
            turn.path,
            f"tool_use ids without a tool_result in the turn right after: {', '.join(missing)}",
        )


def _messages(turn: _Turn, before: _Turn | None) -> Iterator[ChatMessage]:
    names = {call.id: call.name for call in before.calls} if before else {}
    for result in turn.results:
        yield ChatMessage(
            role="tool", text=result.text, tool_call_id=result.call, name=names[result.call]
        )
    if turn.role == "assistant":
        yield ChatMessage(role="assistant", text=turn.text, tool_calls=tuple(turn.calls))
    elif turn.texts:
        yield ChatMessage(role="user", text=turn.text)
