"""Language models of a few lines, for tests of the router."""

import asyncio
from contextlib import suppress

from cloxy_hookspecs import ChatDelta, LLMProvider, ModelInfo, TokenUsage


class FakeLLM:
    """Says words; `gate` holds it before a word, and `left` counts iterators that were let go."""

    place = "http://127.0.0.1:1"

    def __init__(self, words=("a ", "b "), *, remote=False, configured=True, finish=True):
        self.words, self.remote, self.configured, self.finish = words, remote, configured, finish
        self.gate = asyncio.Event()
        self.gate.set()
        self.error = None
        self.open = self.most = self.left = 0
        self.names = ("first", "second")

    async def models(self):
        return [ModelInfo(id=name, backend="wrong", tools=True) for name in self.names]

    async def count(self, request):
        return None

    async def stream(self, request):
        self.open += 1
        self.most = max(self.most, self.open)
        try:
            for word in self.words:
                await self.gate.wait()
                yield ChatDelta(text=word)
            if self.error is not None:
                raise self.error
            if self.finish:
                yield ChatDelta(finish="stop")
                yield ChatDelta(usage=TokenUsage(1, 2))
        finally:
            self.open -= 1
            self.left += 1
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(0)


def record(llm, name="fake", **more):
    return LLMProvider(name=name, summary="Says words", create=lambda context: llm, **more)
