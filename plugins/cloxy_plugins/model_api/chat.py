"""Asking a model with memory, whatever API the client speaks."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from time import monotonic

from cloxy_hookspecs import ChatRequest, ContextTooLongError, HostContext, LLMRouter
from cloxy_plugins.model_api.capabilities import require
from cloxy_plugins.model_api.memory_block import ChatMemory, Given
from cloxy_plugins.model_api.memory_wish import MemoryWish
from cloxy_plugins.model_api.names import resolved
from cloxy_plugins.model_api.open_chat import OpenChat
from cloxy_plugins.model_api.settings import MODEL_ALIASES
from cloxy_plugins.model_api.storing import TurnKeeper

TOO_LONG = "no memories were given: with them the conversation did not fit into the model's context"


class ModelChat:
    """Opens chats."""

    def __init__(self, context: HostContext) -> None:
        """Take what it needs of the host."""
        self._router = context.service(LLMRouter)
        self._aliases = context.settings[MODEL_ALIASES]
        self._memory = ChatMemory(context)
        self._keeper = TurnKeeper(context)

    async def open(
        self,
        request: ChatRequest,
        wish: MemoryWish,
        humans: Sequence[int] | None = None,
        patience: float | None = None,
    ) -> OpenChat:
        """Ask a model, and wait for the first piece of its answer.

        Args:
            request: what the client asks; its own messages, and the name of a model as it sent it.
            wish: what is wanted of the memory.
            humans: indices of the turns in which a person speaks; every user's turn when None.
            patience: seconds to wait for the first piece, after which the chat is handed out
                without it, so that the client gets a sign of life; None to wait on.

        Raises:
            ModelMissingError: there is no model.
            UnsupportedModelError: the model cannot do what is asked.
            ContextTooLongError: the conversation does not fit, even without memories.
            ModelError: it is busy, takes too long, or failed.
        """
        started = monotonic()
        model = await self._router.choose(resolved(request.model, self._aliases))
        require(model, request)
        asked = replace(request, model=model.id)
        given = await self._memory.given(asked, model, wish, humans)
        turn = self._keeper.turn(request.messages, wish, humans)
        chat = OpenChat(model, asked, given, started, self._keeper, turn)
        try:
            await self._begin(chat, asked, given, patience)
        except asyncio.CancelledError:
            await chat.aclose()
            raise
        except BaseException:
            # Whoever is refused asks again; there is nothing to keep of it.
            chat.forget_turn()
            await chat.aclose()
            raise
        return chat

    async def _begin(
        self, chat: OpenChat, asked: ChatRequest, given: Given, patience: float | None
    ) -> None:
        try:
            await chat.begin(self._router.stream(given.request), patience)
        except ContextTooLongError:
            if not given.ids:
                raise
            self._memory.leave_out(given)
            chat.given = Given(asked, note=TOO_LONG)
            await chat.begin(self._router.stream(asked), patience)
