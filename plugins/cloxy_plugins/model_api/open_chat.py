"""An answer on its way: pieces, what they cost, and what is kept of it."""

import asyncio
import secrets
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import suppress
from dataclasses import replace
from time import monotonic
from typing import Any

from cloxy_hookspecs import (
    ChatAnswer,
    ChatDelta,
    ChatRequest,
    ModelError,
    ModelInfo,
    TokenUsage,
    ToolCall,
    ToolCallDelta,
)
from cloxy_plugins.model_api.memory_block import Given
from cloxy_plugins.model_api.memory_text import estimate, estimate_request
from cloxy_plugins.model_api.storing import Turn, TurnKeeper

BROKEN_OFF = "The model's answer broke off before its end."
BROKEN_OFF_HINT = "Send the request again; `cloxy status` tells how the back-end is."


class OpenChat:
    """One answer; read it by `deltas` or `whole`, once."""

    def __init__(
        self,
        model: ModelInfo,
        request: ChatRequest,
        given: Given,
        started: float,
        keeper: TurnKeeper,
        turn: Turn | None,
    ) -> None:
        """Begin nothing yet.

        Args:
            model: who answers.
            request: what the client asked, without memories.
            given: the same with memories.
            started: when it was asked, monotonic seconds.
            keeper: keeps the turn.
            turn: what is to be kept; None for nothing.
        """
        self.model = model
        self.given = given
        self._request = request
        self._started = started
        self._keeper = keeper
        self._turn = turn
        self._kept_note: str | None = None
        self._stream: AsyncIterator[ChatDelta] | None = None
        self._first: asyncio.Task[ChatDelta] | None = None
        self._said: list[str] = []
        self._calls: dict[int, ToolCall] = {}
        self._usage: TokenUsage | None = None
        self._estimated = False
        self._seconds: float | None = None
        self._complete = False

    @property
    def memory(self) -> tuple[int, ...]:
        """Ids of the memories that the model was given."""
        return self.given.ids

    @property
    def note(self) -> str | None:
        """Why there are fewer memories, or why the turn was not kept."""
        notes = [note for note in (self.given.note, self._kept_note) if note]
        return "; ".join(notes) or None

    async def begin(self, stream: AsyncIterator[ChatDelta], patience: float | None) -> None:
        """Wait for the first piece.

        Args:
            stream: the pieces; closed with this chat.
            patience: seconds after which it is not waited for any longer; None to wait on.

        Raises:
            ModelError: there is none; the stream is then closed.
        """
        self._stream = stream
        self._first = asyncio.create_task(_first_of(stream))
        done, _ = await asyncio.wait({self._first}, timeout=patience)
        if done:
            self._first.result()

    async def deltas(self) -> AsyncGenerator[ChatDelta, None]:
        """The pieces; the last one, and only it, says why the answer ended, and what it cost.

        Raises:
            ModelError: the model failed in the middle of its answer.
        """
        finish = None
        pieces = self._pieces()
        try:
            async for delta in pieces:
                self._usage = delta.usage or self._usage
                finish = delta.finish or finish
                if delta.text or delta.tool_calls:
                    calls = tuple(self._named(call) for call in delta.tool_calls)
                    self._note_down(delta.text, calls)
                    yield ChatDelta(delta.text, calls)
            if finish is None:
                raise ModelError(BROKEN_OFF, hint=BROKEN_OFF_HINT)
            self._seconds = monotonic() - self._started
            self._complete = True
            if self._turn is not None:
                self._kept_note = await self._keeper.keep(self._turn, "".join(self._said))
            yield ChatDelta(finish=finish, usage=self._cost())
        finally:
            await pieces.aclose()
            await self.aclose()

    async def whole(self) -> ChatAnswer:
        """The whole answer.

        Raises:
            ModelError: the model failed in the middle of it.
        """
        last = ChatDelta()
        async for delta in self.deltas():
            last = delta
        assert last.finish is not None  # `deltas` raises otherwise
        calls = tuple(self._calls[index] for index in sorted(self._calls))
        return ChatAnswer("".join(self._said), calls, last.finish, last.usage)

    async def finish(self, text: str) -> None:
        """End the work on it, as its reader has all that it wanted, and keep the turn as whole.

        Args:
            text: what the client was sent.
        """
        self._seconds = monotonic() - self._started
        self._complete = True
        turn = self._turn
        await self.aclose()
        if turn is not None:
            self._kept_note = await self._keeper.keep(turn, text)

    async def aclose(self) -> None:
        """End the work on it; what the person said is kept even then, where that is wanted."""
        turn, self._turn = self._turn, None
        if turn is not None and not self._complete and self._stream is not None:
            self._keeper.keep_behind(turn)
        first, self._first = self._first, None
        stream, self._stream = self._stream, None
        if first is not None:
            first.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await first
        if stream is not None:
            await close(stream)

    def forget_turn(self) -> None:
        """Keep nothing of it."""
        self._turn = None

    def meta(self) -> dict[str, object]:
        """What Cloxy tells of the answer beyond what the API has: `cloxy_meta`."""
        seconds = self._seconds or monotonic() - self._started
        cost = self._cost()
        meta: dict[str, object] = {
            "elapsed_seconds": round(seconds, 3),
            "tokens_per_second": round(cost.completion / seconds, 2) if seconds > 0 else 0.0,
            "memory": list(self.memory),
            "left_machine": self.model.remote,
        }
        if self._estimated:
            meta["usage_estimated"] = True
        if self.note:
            meta["memory_note"] = self.note
        return meta

    def headers(self) -> dict[str, str]:
        """The same as headers, which are sent before the answer."""
        headers = dict[str, str]()
        if self.memory:
            headers["x-cloxy-memories"] = ",".join(str(number) for number in self.memory)
        if self.model.remote:
            headers["x-cloxy-left-machine"] = "1"
        return headers

    async def _pieces(self) -> AsyncGenerator[ChatDelta, None]:
        if self._first is None or self._stream is None:
            raise RuntimeError("a chat is read once, after it was begun")
        first = await self._first
        self._first = None
        yield first
        async for delta in self._stream:
            yield delta

    def _named(self, call: ToolCallDelta) -> ToolCallDelta:
        """The part of a call, with an id when it is the first of its call and has none."""
        if call.index in self._calls or call.id:
            return call
        return replace(call, id=f"call_{secrets.token_hex(12)}")

    def _note_down(self, text: str, calls: tuple[ToolCallDelta, ...]) -> None:
        self._said.append(text)
        for call in calls:
            known = self._calls.get(call.index) or ToolCall("", "", "")
            self._calls[call.index] = ToolCall(
                known.id or call.id or "",
                known.name or call.name or "",
                known.arguments + call.arguments,
            )

    def _cost(self) -> TokenUsage:
        """What it cost, estimated where the back-end does not tell."""
        if self._usage is None:
            self._estimated = True
            calls = "".join(call.name + call.arguments for call in self._calls.values())
            return TokenUsage(
                prompt=estimate_request(self.given.request),
                completion=estimate("".join(self._said) + calls),
            )
        return self._usage


async def close(stream: Any) -> None:  # noqa: ANN401 - an iterator, with or without an end
    """Close an iterator that can be closed."""
    end = getattr(stream, "aclose", None)
    if end is not None:
        await end()


async def _first_of(stream: AsyncIterator[ChatDelta]) -> ChatDelta:
    try:
        return await anext(stream)
    except StopAsyncIteration:
        raise ModelError(BROKEN_OFF, hint=BROKEN_OFF_HINT) from None
