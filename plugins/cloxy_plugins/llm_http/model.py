"""The back-end: one server of models, asked from the event loop."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Final

from cloxy_hookspecs import (
    ChatDelta,
    ChatRequest,
    CloxyError,
    HostContext,
    ModelChoices,
    ModelError,
    ModelInfo,
    Network,
    RemoteModelError,
)
from cloxy_plugins.llm_http.address import Target
from cloxy_plugins.llm_http.body import encode
from cloxy_plugins.llm_http.catalogue import OK, Listed
from cloxy_plugins.llm_http.chunks import ChunkReader
from cloxy_plugins.llm_http.connections import (
    Connections,
    Timing,
)
from cloxy_plugins.llm_http.habits import Habits
from cloxy_plugins.llm_http.listing import Listing
from cloxy_plugins.llm_http.refusals import Refusal, meaning, read_refusal
from cloxy_plugins.llm_http.settings import (
    ALLOW_REMOTE,
    API_KEY,
    BASE_URL,
    CONNECT_SECONDS,
    MODEL,
    SILENT_SECONDS,
)
from cloxy_plugins.llm_http.situation import Options, Situation, passed_on
from cloxy_plugins.llm_http.sse import events

NAME: Final = "llm-http"
END_SECONDS: Final = 2.0
"""How long the cost is waited for, once an answer has ended."""
MOST_REFUSAL: Final = 65_536
MOST_WHOLE: Final = 8_388_608
TRIES: Final = 3


class HttpModel:
    """A server that speaks the OpenAI API."""

    def __init__(
        self, options: Options, connections: Connections, choices: ModelChoices | None
    ) -> None:
        """Make it; nothing is asked yet.

        Args:
            options: what the settings say.
            connections: to the server.
            choices: what `cloxy init` set up.
        """
        self._options = options
        self._connections = connections
        self._habits: dict[str, Habits] = {}
        self._listing = Listing(connections, options.key)
        self._situation = Situation(options, choices, connections, self._listing)

    @property
    def configured(self) -> bool:
        """Whether there is an address."""
        return self._situation.quietly() is not None

    @property
    def place(self) -> str:
        """The address."""
        found = self._situation.quietly()
        return "no address" if found is None else str(found.address)

    @property
    def model(self) -> str | None:
        """The model that is set; None leaves it to the server."""
        found = self._situation.quietly()
        return found.model or None if found is not None else None

    @property
    def remote(self) -> bool:
        """Whether a conversation leaves this machine; so it is taken for a name not looked up."""
        return self._situation.remote

    @property
    def trouble(self) -> str | None:
        """Why it cannot be asked, as far as that is known without asking."""
        return self._situation.trouble

    async def models(self) -> Sequence[ModelInfo]:
        """The models that the server lists, the one that is set first; kept for some seconds.

        Raises:
            RemoteModelError: the server is another machine, which is not allowed.
            ModelError: nobody answers.
        """
        found = self._situation.required()
        return [self._info(found, model) for model in await self._listing.ordered(found)]

    def _info(self, found: Target, model: Listed) -> ModelInfo:
        cloud = self._listing.known_cloud(found.address, model.id)
        return ModelInfo(
            id=model.id,
            backend=NAME,
            context_tokens=model.context_tokens,
            tools=model.tools is not False,
            response_format=True,
            alternates=self._habits.get(model.id, Habits()).alternates,
            created=model.created,
            remote=cloud or model.cloud or not self._situation.is_local(found.address),
        )

    async def count(self, request: ChatRequest) -> int | None:
        """None: the API has no way to count."""
        del request
        return None

    async def aclose(self) -> None:
        """Nothing is kept open."""

    async def stream(self, request: ChatRequest) -> AsyncIterator[ChatDelta]:
        """Answer, piece by piece; closing the iterator ends the connection, and so the work.

        Raises:
            RemoteModelError: it would leave this machine, which is not allowed.
            UnsupportedModelError: the server refuses what is asked.
            ContextTooLongError: the conversation does not fit.
            ModelMissingError: the server does not have the model.
            ModelBusyError: the server is busy.
            ModelTimeoutError: it was silent too long.
            ModelError: it failed.
        """
        found = self._situation.required()
        model = request.model or found.model or await self._first(found)
        try:
            await self._may_ask(found, model)
        except Refusal as refusal:
            raise await self._error(refusal, request, found, model) from refusal
        habits = self._habits.setdefault(model, Habits())
        for _ in range(TRIES):
            said = False
            try:
                async with aclosing(self._answer(found, model, request, habits)) as deltas:
                    async for delta in deltas:
                        said = said or bool(delta.text or delta.tool_calls or delta.finish)
                        yield delta
                return
            except Refusal as refusal:
                if said or not habits.learn(refusal, request):
                    raise await self._error(refusal, request, found, model) from refusal

    async def _answer(
        self, found: Target, model: str, request: ChatRequest, habits: Habits
    ) -> AsyncGenerator[ChatDelta]:
        address, key = found.address, self._options.key
        body = encode(request, model, alternates=habits.alternates, with_usage=habits.with_usage)
        path = f"{address.path}/chat/completions"
        async with self._connections.request(address, "POST", path, body, key) as answer:
            if answer.status != OK:
                raise read_refusal(answer.status, await answer.body(MOST_REFUSAL))
            reader = ChunkReader()
            if answer.headers.get("content-type", "").startswith("application/json"):
                whole = (await answer.body(MOST_WHOLE)).decode("utf-8", "replace")
                for delta in [*reader.read(whole), *reader.done()]:
                    yield delta
                return
            async with (
                aclosing(events(answer.pieces())) as stream,
                aclosing(_read(reader, stream)) as deltas,
            ):
                async for delta in deltas:
                    yield delta

    async def _first(self, found: Target) -> str:
        """The model that answers when none is named; empty leaves it to the server."""
        try:
            listed = await self._listing.ordered(found)
        except RemoteModelError:
            raise
        except ModelError:
            return ""
        return next((model.id for model in listed), "")

    async def _may_ask(self, found: Target, model: str) -> None:
        """Ollama passes some models on: whether this is one is asked before anything is sent.

        Raises:
            RemoteModelError: it is, and that is not allowed.
            Refusal: the server does not tell.
            ModelError: nobody answers.
        """
        await self._connections.vetted(found.address)
        if not self._situation.is_local(found.address):
            return  # its owner allowed that; whoever answers there, it has left
        cloud = await self._listing.is_cloud(found.address, model)
        if cloud and not self._options.allow_remote:
            raise passed_on(found, model)

    async def _error(
        self, refusal: Refusal, request: ChatRequest, found: Target, model: str
    ) -> CloxyError:
        known: Sequence[str] = ()
        if refusal.status == 404:
            try:
                known = [listed.id for listed in await self._listing.listed(found)]
            except CloxyError:
                known = ()
        key = self._options.key
        if key:
            refusal = replace(refusal, words=refusal.words.replace(key, "***"))
        return meaning(refusal, request, model, f"the server {found.address.origin}", known)


async def _read(reader: ChunkReader, stream: AsyncIterator[str]) -> AsyncGenerator[ChatDelta]:
    """Deltas of a stream of events, to its end or soon after that of the answer."""
    while True:
        try:
            async with asyncio.timeout(END_SECONDS if reader.finished else None):
                event = await anext(stream, None)
        except TimeoutError:
            return
        if event is None or event.strip() == "[DONE]":
            for delta in reader.broke_off() if event is None else reader.done():
                yield delta
            return
        for delta in reader.read(event):
            yield delta


def create_model(context: HostContext) -> HttpModel:
    """Make it from the settings."""
    settings = context.settings
    options = Options(
        settings[BASE_URL], settings[MODEL], settings[API_KEY], settings[ALLOW_REMOTE]
    )
    connections = Connections(
        context.service(Network),
        Timing(settings[CONNECT_SECONDS], settings[SILENT_SECONDS]),
        allow_remote=options.allow_remote,
    )
    return HttpModel(options, connections, context.maybe(ModelChoices))
