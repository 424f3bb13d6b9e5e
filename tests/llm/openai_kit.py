"""A scripted model, and the endpoints of the model APIs on a real memory, with or without HTTP."""

import asyncio
import json
import socket
import threading
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial

import pytest
import uvicorn

from cloxy_core.app import application
from cloxy_core.surfaces.http.app import create_app
from cloxy_core.surfaces.http.boundary_policy import BoundaryPolicy
from cloxy_core.surfaces.http.endpoints import Endpoint, large_body_paths
from cloxy_core.surfaces.http.server import server_config
from cloxy_core.testing.fakes import FakeEmbedder
from cloxy_core.testing.harness import App
from cloxy_hookspecs import (
    ChatDelta,
    CloxyError,
    Draft,
    EmbedderProvider,
    EndpointRequest,
    Kept,
    LLMProvider,
    LLMRouter,
    ModelInfo,
    ModelMissingError,
    TextEmbedder,
    TokenUsage,
    TranscriptKeeper,
    hookimpl,
)
from cloxy_hookspecs.error_bodies import error_body
from cloxy_plugins.model_api import plugin, settings
from cloxy_plugins.model_api.memory_text import estimate_request
from cloxy_plugins.model_api.sse import PATIENCE, Patience

MODEL = ModelInfo(
    id="tiny-1",
    backend="scripted",
    context_tokens=8192,
    tools=True,
    response_format=True,
    created=1_700_000_000,
)
USAGE = TokenUsage(11, 2)
HURRIED = Patience(first=0.01, opening=0.01, quiet=0.01)
"""A client is told at once that it is not forgotten."""
CHATS = ("/v1/chat/completions", "/v1/messages")
WITHOUT_VECTORS = {"embed.provider": "none"}


def said(*pieces, finish="stop", usage=USAGE):
    """An answer in these pieces."""
    return [*(ChatDelta(text=piece) for piece in pieces), ChatDelta(finish=finish, usage=usage)]


def endpoints_of(records, context, patience=PATIENCE):
    """Endpoints that are ready to be asked; those of chats leave clients alone for so long."""
    return [
        Endpoint(
            record,
            partial(record.create, patience=patience)(context)
            if record.path in CHATS
            else record.create(context),
        )
        for record in records
    ]


class Wait:
    """In a script: the model thinks until it is let go, or its answer is closed."""

    def __init__(self):
        self.reached = threading.Event()
        self.go = threading.Event()

    async def here(self):
        self.reached.set()
        while not self.go.is_set():
            await asyncio.sleep(0.005)


class ScriptedRouter:
    """Stands for the models: takes requests down, and answers by script; without one, an echo.

    It is a router to endpoints that are asked directly, and a back-end to a whole server.
    """

    place, remote, configured = "here", False, True

    def __init__(self, *models):
        self.known = list(models or (MODEL,))
        self.requests = []
        self.scripts = []
        self.counted = []
        self.tokens = None
        self.running = 0
        self.freed = threading.Event()

    async def models(self, role="chat"):
        return tuple(self.known)

    async def choose(self, model, role="chat"):
        if not self.known:
            raise ModelMissingError("no language model is set up", hint="run `cloxy init`")
        return next((known for known in self.known if known.id == model), self.known[0])

    async def stream(self, request, role="chat"):
        self.requests.append(request)
        script = self.scripts.pop(0) if self.scripts else said(request.messages[-1].text)
        self.running += 1
        try:
            for step in script:
                if isinstance(step, Wait):
                    await step.here()
                elif isinstance(step, Exception):
                    raise step
                else:
                    yield step
        finally:
            self.running -= 1
            self.freed.set()

    async def count(self, request, role="chat"):
        self.counted.append(request)
        if isinstance(self.tokens, Exception):
            raise self.tokens
        return estimate_request(request) if self.tokens is None else self.tokens(request)

    @property
    def prompt(self):
        """The messages that the model got last."""
        return self.requests[-1].messages


def slow_to_load(router, wait):
    """Let the model be loaded only when it is let go."""
    choose = router.choose

    async def loading(model, role="chat"):
        await wait.here()
        return await choose(model, role)

    router.choose = loading


class Keeper:
    """Takes down what is to be kept."""

    def __init__(self):
        self.conversations = []
        self.error = None

    async def keep(self, conversation):
        if self.error is not None:
            raise self.error
        self.conversations.append(conversation)
        return Kept(messages_added=len(conversation.messages))

    @property
    def said(self):
        return [
            (message.role, message.author, message.text)
            for conversation in self.conversations
            for message in conversation.messages
        ]


class Embedder:
    """Vectors by length of the text; says what it was asked."""

    model = "fake/words"

    def __init__(self, width=384):
        self.width = width
        self.asked = []

    async def embed(self, texts):
        import numpy as np

        self.asked.append(list(texts))
        rows = [[(len(text) + column) / 1000 for column in range(self.width)] for text in texts]
        return np.array(rows, dtype=np.float32)


class Replacing:
    """A host context in which some ports are somebody else."""

    def __init__(self, context, **changes):
        self._context = context
        self.ports = changes.pop("ports", {})
        self.values = changes.pop("values", {})

    def service(self, port):
        return self.ports[port] if port in self.ports else self._context.service(port)

    def maybe(self, port):
        return self.ports[port] if port in self.ports else self._context.maybe(port)

    @property
    def settings(self):
        return Settings(self._context, self.values)

    def __getattr__(self, name):
        return getattr(self._context, name)


class Settings:
    """Values of the plugin's settings, with or without a server that has declared them."""

    def __init__(self, context, values):
        self._context, self._values = context, values

    def __getitem__(self, setting):
        if setting.name in self._values:
            return self._values[setting.name]
        return setting.default if setting in settings.SETTINGS else self._context.settings[setting]


class Api:
    """The endpoints, called as the core calls them."""

    def __init__(self, app, router=None, *, ports=None, patience=PATIENCE, **values):
        self.app = app
        self.router = router or ScriptedRouter()
        self.keeper, self.embedder = Keeper(), Embedder()
        self.context = Replacing(
            app.context,
            ports={
                LLMRouter: self.router,
                TranscriptKeeper: self.keeper,
                TextEmbedder: self.embedder,
                **(ports or {}),
            },
            values={name.replace("__", "."): value for name, value in values.items()},
        )
        self.records = list(plugin.cloxy_endpoints())
        self.endpoints = endpoints_of(self.records, self.context, patience)

    async def ask(self, path, body=None, *, headers=None, query=None, **path_values):
        """The raw answer of an endpoint; `body` may be bytes."""
        call = next(
            endpoint.call
            for endpoint in self.endpoints
            if endpoint.record.path == path
            and (endpoint.record.method == "POST") == (body is not None)
        )
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return await call(
            EndpointRequest(
                path_values=path_values, query=query or {}, headers=headers or {}, body=data
            )
        )

    def answer(self, path, body=None, **more):
        """The decoded answer of an endpoint."""
        found = self.app.do(self.ask(path, body, **more))
        return json.loads(found.body)

    def refused(self, path, body=None, **more):
        """Status and error of what is not taken, as clients get it from the core."""
        with pytest.raises(CloxyError) as refusal:
            self.app.do(self.ask(path, body, **more))
        return refusal.value.http_status, error_body(refusal.value)["error"]

    def chat(self, *messages, **fields):
        """A chat completion."""
        turns = [{"role": "user", "content": m} if isinstance(m, str) else m for m in messages]
        return self.answer("/v1/chat/completions", {"messages": turns, **fields})

    def events(self, *messages, **fields):
        """A streamed chat completion: its bytes, event by event."""
        turns = [{"role": "user", "content": m} if isinstance(m, str) else m for m in messages]

        async def read():
            body = {"messages": turns, "stream": True, **fields}
            answer = await self.ask("/v1/chat/completions", body)
            assert answer.media_type == "text/event-stream"
            return b"".join([piece async for piece in answer.body])

        return self.app.do(read()).decode()

    @property
    def prompt(self):
        """Role and text of what the model got last."""
        return [(message.role, message.text) for message in self.router.prompt]


def remember(app, text, project=None):
    """Store a note; its id."""
    stored = app.do(app.engine.memories.remember(Draft(text, "note", "manual", project=project)))
    return stored.ids[0]


class ScriptedPlugin:
    """Brings a scripted model as a back-end, and vectors that need no model."""

    def __init__(self, router):
        self.router = router

    @hookimpl
    def cloxy_llms(self):
        yield LLMProvider(
            name="scripted", summary="By script", concurrent=8, create=lambda context: self.router
        )

    @hookimpl
    def cloxy_embedders(self):
        yield EmbedderProvider(
            name="words",
            summary="By common words",
            models=("fake/words",),
            create=lambda context: FakeEmbedder(),
        )


class InThread:
    """An application of FastAPI behind a socket, in a thread, on a memory of its own."""

    def __init__(self, folder, router=None, **settings):
        self.router = router or ScriptedRouter()
        self.url = ""
        self._app = App(
            folder,
            plugins={"scripted": ScriptedPlugin(self.router)},
            settings={**WITHOUT_VECTORS, "llm.chat": "scripted", **settings},
        )
        self._server = None
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._failure = None

    def __enter__(self):
        self._thread.start()
        assert self._ready.wait(60), "the server did not start"
        if self._failure:
            raise self._failure
        return self

    def __exit__(self, *_exception):
        self._server.should_exit = self._server.force_exit = True
        self._thread.join(30)
        assert not self._thread.is_alive()

    def configured(self, app, port):
        """How the application is served."""
        raise NotImplementedError

    def _run(self):
        try:
            with self._app as app, socket.socket() as listening:
                app.start()
                listening.bind(("127.0.0.1", 0))
                listening.listen()
                port = listening.getsockname()[1]
                self.url = f"http://127.0.0.1:{port}"
                self._server = uvicorn.Server(self.configured(app, port))
                app.do(self._serve([listening]))
        except BaseException as error:
            self._failure = error
            self._ready.set()
            raise

    async def _serve(self, sockets):
        asyncio.get_running_loop().call_soon(self._ready.set)
        await self._server.serve(sockets)


class ApiServer(InThread):
    """The endpoints alone."""

    def __init__(self, folder, router=None, patience=PATIENCE):
        super().__init__(folder, router)
        self.patience = patience

    def configured(self, app, port):
        endpoints = Api(app, self.router, patience=self.patience).endpoints
        web = create_app([], no_health, no_lifespan, None, endpoints)
        return uvicorn.Config(web, log_config=None, lifespan="off")


class WholeServer(InThread):
    """All of Cloxy behind its boundary, with or without a key."""

    def __init__(self, folder, router=None, key=None, **settings):
        super().__init__(folder, router, **settings)
        self.key = key

    def configured(self, app, port):
        policy = BoundaryPolicy(host="127.0.0.1", port=port, api_key=self.key, owner_token=None)
        paths = large_body_paths(app.engine.endpoints) | policy.large_body_paths
        policy = replace(policy, large_body_paths=paths)
        web = application(app.engine, policy, no_lifespan, lambda: None)
        return server_config(web, policy)


async def no_health():
    return {}


@asynccontextmanager
async def no_lifespan(_app):
    yield
