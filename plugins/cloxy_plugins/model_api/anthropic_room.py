"""Whether a model can take a request at all, told before anything is generated."""

import asyncio
from dataclasses import dataclass, replace

from cloxy_hookspecs import (
    ChatRequest,
    ContextTooLongError,
    LLMRouter,
    ModelError,
    ModelInfo,
    UnsupportedModelError,
)
from cloxy_plugins.model_api.anthropic_request import MessagesRequest
from cloxy_plugins.model_api.memory_text import estimate_request

COUNT_SECONDS = 5.0
"""What exact counting may take: a model that is busy or not loaded yet is not waited for."""
LEAST_ANSWER = 256
"""Tokens that an answer needs to be of use; with less room, the conversation counts as too long."""
_LIKE_AN_ESTIMATE = 0.95
"""A count that comes so near to our own estimate is one: real vocabularies need fewer tokens. Text
of which that is not true is refused by the back-end that did count it."""
_TOO_LONG = "prompt is too long"
"""Begins the error by which clients know that they have to shorten the conversation."""


@dataclass(frozen=True, slots=True)
class Room:
    """What there is room for.

    Attributes:
        answer: tokens that the answer may have.
        prompt: tokens of the conversation; estimated where it surely fits, or nobody could count.
    """

    answer: int
    prompt: int


@dataclass(frozen=True, slots=True)
class _Count:
    """Tokens of a conversation.

    Attributes:
        tokens: as they were told.
        least: that there are at least. Where a back-end cannot count, what is told is an estimate
            that is rather too high, by up to a half; nothing is refused for that.
    """

    tokens: int
    least: int

    @property
    def words(self) -> str:
        return str(self.tokens) if self.least == self.tokens else f"about {self.tokens}"


async def find_room(
    router: LLMRouter, model: ModelInfo, request: MessagesRequest, reserve: int = 0
) -> Room:
    """How long the answer may be, at most as long as is wanted.

    Coding agents ask for answers longer than the whole context of many a local model. That is no
    reason to refuse them, as an answer ends by itself or by its room.

    Args:
        router: counts.
        model: who will answer.
        request: what is asked.
        reserve: tokens to leave free for memories, where there is room for them.

    Raises:
        UnsupportedModelError: the model takes no tools, or no form for its answer.
        ContextTooLongError: the conversation does not fit.
    """
    _check_abilities(model, request.chat)
    chat = replace(request.chat, model=model.id)
    guess = estimate_request(chat)
    context = model.context_tokens
    if context is None or guess + chat.max_tokens + reserve <= context:
        return Room(chat.max_tokens, guess)
    prompt = await _count(router, chat)
    if prompt is None:  # the back-end itself will say so, if it is too long
        return Room(chat.max_tokens, guess)
    if context - prompt.least < min(chat.max_tokens, LEAST_ANSWER):
        raise await _too_long(router, model, request, prompt)
    room = max(context - prompt.tokens, LEAST_ANSWER)
    free = room - reserve if room - reserve >= LEAST_ANSWER else room
    return Room(min(chat.max_tokens, free), prompt.tokens)


def as_too_long(error: ContextTooLongError) -> ContextTooLongError:
    """The error in the words by which clients know that they have to shorten the conversation."""
    if error.message.lower().startswith(_TOO_LONG):
        return error
    return ContextTooLongError(f"{_TOO_LONG}: {error.message}", hint=error.hint)


def _check_abilities(model: ModelInfo, chat: ChatRequest) -> None:
    uses_tools = any(message.tool_calls for message in chat.messages) or (
        chat.tools and chat.tool_choice.mode != "none"
    )
    if uses_tools and not model.tools:
        raise UnsupportedModelError(
            f"The model {model.id} of {model.backend} cannot call tools, and this request needs "
            "them.",
            hint="Choose a model that can (`cloxy init`; CLOXY_LLM_CHAT and CLOXY_LLM_MODEL name "
            "one of a server). Without one, only chats without `tools` work.",
        )
    if chat.response_format is not None and not model.response_format:
        raise UnsupportedModelError(
            f"The model {model.id} of {model.backend} cannot answer in a given form.",
            hint="Send the request without `output_config.format`, or choose a back-end that "
            "takes it (CLOXY_LLM_CHAT).",
        )


async def _too_long(
    router: LLMRouter, model: ModelInfo, request: MessagesRequest, prompt: _Count
) -> ContextTooLongError:
    """Says whether a shorter conversation would help; only then does a client try one."""
    chat, context = request.chat, model.context_tokens or 0
    answer = min(chat.max_tokens, LEAST_ANSWER)
    longer = (
        "Give the model a longer context (`context_tokens` in config.json, `cloxy init`; of a "
        "server of its own, in its settings)"
    )
    system = tuple(message for message in chat.messages if message.role == "system")
    last = tuple(chat.messages[index] for index in request.humans[-1:])
    fixed = replace(chat, model=model.id, messages=(*system, *last) or chat.messages[-1:])
    alone = await _count(router, fixed)
    if alone is not None and context - alone.least < answer:
        return ContextTooLongError(
            f"The model {model.id} holds {context} tokens, and instructions, tools and question of "
            f"this request take {alone.words} by themselves, without an answer.",
            hint=f"{longer}, choose another model, or offer fewer tools.",
        )
    return ContextTooLongError(
        f"{_TOO_LONG}: {prompt.tokens} tokens > {context - answer} maximum (the model {model.id} "
        f"holds {context}, and {answer} are left for an answer)",
        hint=f"Shorten the conversation (`/compact`). {longer}, or choose another model.",
    )


async def _count(router: LLMRouter, chat: ChatRequest) -> _Count | None:
    """Tokens; None when nobody says in time."""
    try:
        async with asyncio.timeout(COUNT_SECONDS):
            tokens = await router.count(chat)
    except (TimeoutError, ModelError):
        return None
    is_estimate = tokens >= estimate_request(chat) * _LIKE_AN_ESTIMATE
    return _Count(tokens, tokens * 2 // 3 if is_estimate else tokens)
