"""The Messages API: `POST /v1/messages` and `POST /v1/messages/count_tokens`."""

from collections.abc import Iterable, Mapping
from contextlib import aclosing

from cloxy_hookspecs import (
    ContextTooLongError,
    DateReader,
    EndpointAnswer,
    EndpointProvider,
    EndpointRequest,
    Fence,
    HostContext,
    LLMRouter,
    Recaller,
    TokenUsage,
)
from cloxy_plugins.model_api.anthropic_answer import as_json, content, message, usage
from cloxy_plugins.model_api.anthropic_answering import Answering, Begun, counted
from cloxy_plugins.model_api.anthropic_events import PING, events, meta
from cloxy_plugins.model_api.anthropic_request import MessagesRequest, read_request
from cloxy_plugins.model_api.anthropic_room import as_too_long
from cloxy_plugins.model_api.anthropic_writing import Writing
from cloxy_plugins.model_api.errors import Endpoint
from cloxy_plugins.model_api.memory_text import estimate
from cloxy_plugins.model_api.memory_wish import memory_wish
from cloxy_plugins.model_api.opening import Opening
from cloxy_plugins.model_api.settings import MODEL_ALIASES
from cloxy_plugins.model_api.sse import HEADERS, MEDIA_TYPE, PATIENCE, EventBody, Patience


def endpoints() -> Iterable[EndpointProvider]:
    """The paths of the Messages API."""
    yield EndpointProvider(
        name="anthropic-messages",
        summary="Chat with the model that is set, in the form of the Messages API",
        requires=(LLMRouter, Recaller, DateReader, Fence),
        method="POST",
        path="/v1/messages",
        effect="write",
        large_body=True,
        create=create_messages,
    )
    yield EndpointProvider(
        name="anthropic-count-tokens",
        summary="Count the tokens of a chat, in the form of the Messages API",
        requires=(LLMRouter,),
        method="POST",
        path="/v1/messages/count_tokens",
        effect="read",
        large_body=True,
        create=create_count,
    )


def create_messages(context: HostContext, patience: Patience = PATIENCE) -> Endpoint:
    """Make what answers `POST /v1/messages`."""
    answering = Answering(context)

    async def messages(request: EndpointRequest) -> EndpointAnswer:
        asked = read_request(request.body)
        wish = memory_wish(asked.body, context.settings)
        writing = Writing(asked.stops, _used_ids(asked))
        if not asked.stream:
            begun = await answering.begin(asked, wish)
            return _answer(await _whole(begun, writing, asked.model), begun.headers())
        opening = Opening(answering.begin(asked, wish, patience.first), patience.opening)
        headers = await opening.headers()
        pieces = events(opening, writing, asked, context.log)
        return EndpointAnswer(
            body=EventBody(pieces, PING, opening.aclose, patience.quiet),
            media_type=MEDIA_TYPE,
            headers={**HEADERS, **headers},
        )

    return messages


def create_count(context: HostContext) -> Endpoint:
    """Make what answers `POST /v1/messages/count_tokens`."""
    router, aliases = context.service(LLMRouter), context.settings[MODEL_ALIASES]

    async def count(request: EndpointRequest) -> EndpointAnswer:
        asked = read_request(request.body, counting=True)
        return _answer({"input_tokens": await counted(router, asked, aliases)})

    return count


def _used_ids(asked: MessagesRequest) -> list[str]:
    return [call.id for message in asked.chat.messages for call in message.tool_calls]


async def _whole(begun: Begun, writing: Writing, model: str) -> Mapping[str, object]:
    opened = begun.chat
    said: list[str] = []
    try:
        async with aclosing(opened.deltas()) as deltas:
            async for delta in deltas:
                said.append(writing.take(delta))
                if writing.stopped:
                    await opened.finish("".join(said))
                    break
    except ContextTooLongError as error:
        raise as_too_long(error) from error
    finally:
        await opened.aclose()
    said.append(writing.rest())
    text, uses = "".join(said), writing.uses()
    return {
        **message(model, begun.prompt),
        "content": content(text, uses),
        "stop_reason": writing.stop_reason(uses),
        "stop_sequence": writing.stop_sequence,
        "usage": usage(writing.usage or TokenUsage(begun.prompt, estimate(text))),
        "cloxy_meta": meta(opened),
    }


def _answer(body: Mapping[str, object], headers: Mapping[str, str] | None = None) -> EndpointAnswer:
    return EndpointAnswer(body=as_json(body), headers=headers or {})
