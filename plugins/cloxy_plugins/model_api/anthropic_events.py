"""Answers of the Messages API piece by piece, as server-sent events."""

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from logging import Logger

from cloxy_hookspecs import CloxyError, ContextTooLongError, TokenUsage
from cloxy_hookspecs.error_bodies import error_body
from cloxy_plugins.model_api.anthropic_answer import as_json, message, tool_use, usage
from cloxy_plugins.model_api.anthropic_answering import Begun
from cloxy_plugins.model_api.anthropic_request import MessagesRequest
from cloxy_plugins.model_api.anthropic_room import as_too_long
from cloxy_plugins.model_api.anthropic_writing import ToolUse, Writing
from cloxy_plugins.model_api.errors import told
from cloxy_plugins.model_api.memory_text import estimate, estimate_request
from cloxy_plugins.model_api.open_chat import OpenChat
from cloxy_plugins.model_api.opening import Opening


def event(name: str, **members: object) -> bytes:
    """One event; its data repeats its name as `type`."""
    return _event(name, {"type": name, **members})


def _event(name: str, data: Mapping[str, object]) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (name.encode(), as_json(data))


PING = event("ping")


async def events(
    opening: Opening[Begun], writing: Writing, asked: MessagesRequest, log: Logger
) -> AsyncGenerator[bytes, None]:
    """The events of an answer.

    The first one is sent at once, also while the model is still loaded: some clients take nothing
    before it, not even a ping. How long the conversation is it then only guesses; the last but one
    tells it in any case.

    Args:
        opening: the answer, opened or not.
        writing: takes its pieces.
        asked: what the client asked.
        log: where errors are told that are none of ours.
    """
    blocks = _Blocks()
    said: list[str] = []
    begun = opening.ready
    guess = estimate_request(asked.chat) if begun is None else begun.prompt
    yield event("message_start", message=message(asked.model, guess))
    try:
        begun = await opening.opened()
        opened = begun.chat
        async with aclosing(opened.deltas()) as deltas:
            async for delta in deltas:
                shown = writing.take(delta)
                said.append(shown)
                for piece in blocks.text(shown):
                    yield piece
                if writing.stopped:
                    await opened.finish("".join(said))
                    break
        rest = writing.rest()
        said.append(rest)
        for piece in blocks.text(rest):
            yield piece
        uses = writing.uses()
        for use in uses:
            for piece in blocks.call(use):
                yield piece
        for piece in blocks.end():
            yield piece
        reason = {
            "stop_reason": writing.stop_reason(uses),
            "stop_sequence": writing.stop_sequence,
        }
        cost = writing.usage or TokenUsage(begun.prompt, estimate("".join(said)))
        yield event("message_delta", delta=reason, usage=usage(cost), cloxy_meta=meta(opened))
        yield event("message_stop")
    except Exception as error:
        yield _error(error, log)


def meta(opened: OpenChat) -> Mapping[str, object]:
    """What is told beyond what the API has: who answered, and with which memories."""
    return {"model": opened.model.id, **opened.meta()}


def _error(error: Exception, log: Logger) -> bytes:
    if isinstance(error, ContextTooLongError):
        error = as_too_long(error)
    if isinstance(error, CloxyError):
        log.warning("a model failed in the middle of its answer: %s", error.code)
    else:
        log.error("an answer broke off: %s", told(error))
    return _event("error", error_body(error))


class _Blocks:
    """Numbers blocks, opens and closes them."""

    def __init__(self) -> None:
        self._next = 0
        self._is_open = False

    def text(self, piece: str) -> list[bytes]:
        """A piece of the text block."""
        if not piece:
            return []
        first = [] if self._is_open else self._start({"type": "text", "text": ""})
        return [*first, self._delta({"type": "text_delta", "text": piece})]

    def call(self, use: ToolUse) -> list[bytes]:
        """The block of a call."""
        begin = {**tool_use(use), "input": {}}
        arguments = json.dumps(dict(use.input), ensure_ascii=False)
        return [
            *self.end(),
            *self._start(begin),
            self._delta({"type": "input_json_delta", "partial_json": arguments}),
        ]

    def end(self) -> list[bytes]:
        """The end of the block that is open, if one is."""
        if not self._is_open:
            return []
        self._is_open = False
        return [event("content_block_stop", index=self._next - 1)]

    def _start(self, block: Mapping[str, object]) -> list[bytes]:
        start = event("content_block_start", index=self._next, content_block=block)
        self._next, self._is_open = self._next + 1, True
        return [start, PING] if self._next == 1 else [start]

    def _delta(self, delta: Mapping[str, object]) -> bytes:
        return event("content_block_delta", index=self._next - 1, delta=delta)
