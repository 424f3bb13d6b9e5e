"""Asking a model what a client of the Messages API asks."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from cloxy_hookspecs import ContextTooLongError, HostContext, LLMRouter, ModelInfo
from cloxy_plugins.model_api.anthropic_request import MessagesRequest
from cloxy_plugins.model_api.anthropic_room import as_too_long, find_room
from cloxy_plugins.model_api.chat import ModelChat
from cloxy_plugins.model_api.memory_text import estimate_request
from cloxy_plugins.model_api.memory_wish import MemoryWish
from cloxy_plugins.model_api.names import resolved
from cloxy_plugins.model_api.open_chat import OpenChat
from cloxy_plugins.model_api.settings import MODEL_ALIASES


@dataclass(frozen=True, slots=True)
class Begun:
    """An answer that was begun.

    Attributes:
        chat: the answer.
        prompt: tokens of the conversation.
    """

    chat: OpenChat
    prompt: int

    def headers(self) -> dict[str, str]:
        """What its client is told ahead of it."""
        return self.chat.headers()

    async def aclose(self) -> None:
        """End the work on it."""
        await self.chat.aclose()


class Answering:
    """Begins answers."""

    def __init__(self, context: HostContext) -> None:
        """Take what it needs of the host."""
        self._router = context.service(LLMRouter)
        self._aliases = context.settings[MODEL_ALIASES]
        self._chats = ModelChat(context)

    async def begin(
        self, asked: MessagesRequest, wish: MemoryWish, patience: float | None = None
    ) -> Begun:
        """Ask the model, and wait for the first piece of its answer.

        Args:
            asked: what the client asks.
            wish: what is wanted of the memory.
            patience: seconds after which the first piece is not waited for; None to wait on.

        Raises:
            UnsupportedModelError: the model cannot do what is asked.
            ContextTooLongError: the conversation does not fit.
            ModelError: there is no model, it is busy, takes too long, or failed.
        """
        model = await _chosen(self._router, asked, self._aliases)
        reserve = wish.tokens if wish.wanted and asked.humans else 0
        room = await find_room(self._router, model, asked, reserve)
        chat = replace(asked.chat, model=asked.model, max_tokens=room.answer)
        try:
            opened = await self._chats.open(chat, wish, asked.humans, patience)
        except ContextTooLongError as error:
            raise as_too_long(error) from error
        return Begun(opened, room.prompt)


async def counted(router: LLMRouter, asked: MessagesRequest, aliases: Mapping[str, str]) -> int:
    """Tokens of a conversation; of one that nobody counts, so many that it is seen not to fit.

    Args:
        router: counts.
        asked: what the client asks.
        aliases: models by the names that clients send.

    Raises:
        ModelError: there is no model, or it failed.
    """
    model = await _chosen(router, asked, aliases)
    chat = replace(asked.chat, model=model.id)
    try:
        return await router.count(chat)
    except ContextTooLongError:
        return max(estimate_request(chat), model.context_tokens or 0)


async def _chosen(
    router: LLMRouter, asked: MessagesRequest, aliases: Mapping[str, str]
) -> ModelInfo:
    return await router.choose(resolved(asked.model, aliases))
