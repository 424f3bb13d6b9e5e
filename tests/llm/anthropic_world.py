"""A scripted model behind the real endpoints, in a context whose other parts are stand-ins."""

import asyncio
import json
import logging
from dataclasses import dataclass, field, replace
from datetime import UTC
from types import SimpleNamespace

from cloxy_hookspecs import (
    ChatDelta,
    DateReader,
    EndpointRequest,
    Fence,
    FinishReason,
    LLMRouter,
    ModelInfo,
    Recall,
    Recaller,
    TokenUsage,
    ToolCallDelta,
    TranscriptKeeper,
)
from cloxy_plugins.model_api import anthropic_endpoints
from cloxy_plugins.model_api.sse import PATIENCE

MODEL = ModelInfo(
    id="tiny", backend="scripted", context_tokens=32_768, tools=True, response_format=True
)
WAIT = object()
"""In a script: nothing comes any more until somebody goes away."""


def say(*pieces, finish: FinishReason = "stop", usage=TokenUsage(11, 3)):  # noqa: B008
    """A script: texts, parts of calls, and the end."""
    deltas = [ChatDelta(text=one) if isinstance(one, str) else one for one in pieces]
    return [*deltas, ChatDelta(finish=finish, usage=usage)]


def call(index=0, id=None, name=None, arguments=""):
    return ChatDelta(tool_calls=(ToolCallDelta(index, id, name, arguments),))


class ScriptedRouter:
    """Answers each request with the next script; an exception in it is raised.

    While it is given a `loading` that is not set, its model is not loaded.
    """

    def __init__(self, *scripts, model=MODEL, tokens=None, loading=None):
        self.scripts = list(scripts)
        self.loading = loading
        self.model = model
        self.tokens = tokens
        self.asked, self.chosen, self.counted = [], [], []
        self.running = 0
        self.quiet = asyncio.Event()

    async def models(self, role="chat"):
        return [self.model] if self.model else []

    async def choose(self, model, role="chat"):
        self.chosen.append(model)
        while self.loading is not None and not self.loading.is_set():
            await asyncio.sleep(0.005)
        if isinstance(self.model, Exception):
            raise self.model
        return self.model

    async def count(self, request, role="chat"):
        self.counted.append(request)
        if callable(self.tokens):
            return self.tokens(request)
        if self.tokens is not None:
            return self.tokens
        return sum(len(message.text.split()) for message in request.messages) + len(request.tools)

    async def stream(self, request, role="chat"):
        self.asked.append(request)
        script = self.scripts.pop(0) if self.scripts else say("Hello", " there")
        self.running += 1
        try:
            for step in script:
                if isinstance(step, BaseException):
                    raise step
                if step is WAIT:
                    await asyncio.Event().wait()
                elif isinstance(step, asyncio.Event):
                    await step.wait()
                else:
                    yield step
        finally:
            self.running -= 1


class FixedClock:
    def now_ms(self):
        return 1_780_000_000_000


class Zones:
    def zone(self, name):
        return UTC


class PlainFence:
    def fence(self, text):
        return f"<<{text}>>"


@dataclass
class Memory:
    """Finds the same hits for everything, and notes what it was asked."""

    hits: tuple = ()
    asked: list = field(default_factory=list)

    async def recall(self, query):
        self.asked.append(query.text)
        return Recall(query=query, hits=self.hits, searched=len(self.hits))


def memory_hit(number, text):
    return SimpleNamespace(
        id=number, content=text, project="/srv/zebra", passages=(), at_from=None, at_to=None
    )


class Keeper:
    def __init__(self):
        self.kept = []

    async def keep(self, conversation):
        self.kept.append(conversation)


class Store:
    """Finds every memory still there."""

    def __init__(self, ids):
        self.ids = ids

    async def read(self, work):
        return work(SimpleNamespace(scalars=lambda _statement: set(self.ids)))


class Settings:
    """Defaults, and what a test sets, by name."""

    def __init__(self, values):
        self.values = dict(values)

    def __getitem__(self, setting):
        return self.values.get(setting.name, setting.default)


class Context:
    """What the endpoints ask of the host."""

    def __init__(self, router, memory=None, settings=()):
        self.memory = memory or Memory()
        self.keeper = Keeper()
        self.clock = FixedClock()
        self.log = logging.getLogger("cloxy.test.model_api")
        self.store = Store([hit.id for hit in self.memory.hits])
        self.settings = Settings(settings)
        self.services = {
            LLMRouter: router,
            Recaller: self.memory,
            Fence: PlainFence(),
            DateReader: Zones(),
            TranscriptKeeper: self.keeper,
        }

    def service(self, port):
        return self.services[port]

    def maybe(self, port):
        return self.services.get(port)


def asked_body(**changes):
    """The smallest request, with changes; a None takes a field away."""
    body = {
        "model": "claude-sonnet-5-5",
        "max_tokens": 64,
        "messages": [{"role": "user", "content": "Hi"}],
        **changes,
    }
    return {name: value for name, value in body.items() if value is not None}


class Door:
    """The endpoints, asked without HTTP."""

    def __init__(self, *scripts, memory=None, settings=(), patience=PATIENCE, **router):
        self.router = ScriptedRouter(*scripts, **router)
        self.context = Context(self.router, memory, settings)
        self.messages = anthropic_endpoints.create_messages(self.context, patience)
        self.count = anthropic_endpoints.create_count(self.context)

    async def ask(self, body=None, **changes):
        """The answer, its body read and decoded."""
        given = asked_body(**changes) if body is None else {**body, **changes}
        answer = await self.messages(EndpointRequest(body=json.dumps(given).encode()))
        return answer, json.loads(answer.body)

    async def stream(self, body=None, **changes):
        """The answer, and its events as pairs of name and data."""
        given = asked_body(**changes) if body is None else {**body, **changes}
        raw = json.dumps({**given, "stream": True}).encode()
        answer = await self.messages(EndpointRequest(body=raw))
        text = b"".join([piece async for piece in answer.body]).decode()
        return answer, events(text)

    async def tokens(self, **changes):
        raw = json.dumps(asked_body(max_tokens=None, **changes)).encode()
        return json.loads((await self.count(EndpointRequest(body=raw))).body)


def events(text):
    """Events of a stream, each checked for its form."""
    found = []
    for block in text.removesuffix("\n\n").split("\n\n"):
        first, second = block.split("\n")
        assert first.startswith("event: ") and second.startswith("data: ")
        name, data = first.removeprefix("event: "), json.loads(second.removeprefix("data: "))
        assert data["type"] == name
        found.append((name, data))
    return found


def without_tools(model=MODEL):
    return replace(model, tools=False)
