"""`POST /v1/chat/completions`."""

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from logging import Logger

from cloxy_hookspecs import CloxyError, EndpointAnswer, EndpointRequest, HostContext
from cloxy_hookspecs.error_bodies import error_body
from cloxy_plugins.model_api.chat import ModelChat
from cloxy_plugins.model_api.errors import Endpoint, told
from cloxy_plugins.model_api.fields import json_object
from cloxy_plugins.model_api.memory_wish import memory_wish
from cloxy_plugins.model_api.open_chat import OpenChat
from cloxy_plugins.model_api.openai_answer import Head
from cloxy_plugins.model_api.openai_request import read_completion
from cloxy_plugins.model_api.opening import Opening
from cloxy_plugins.model_api.sse import HEADERS, MEDIA_TYPE, PATIENCE, EventBody, Patience

PING = b": ping\n\n"
DONE = b"data: [DONE]\n\n"


def create_completions(context: HostContext, patience: Patience = PATIENCE) -> Endpoint:
    """Make the endpoint."""
    chats = ModelChat(context)
    settings, log = context.settings, context.log

    async def complete(asked: EndpointRequest) -> EndpointAnswer:
        body = json_object(asked.body)
        wanted = read_completion(body)
        wish = memory_wish(body, settings)
        if not wanted.stream:
            chat = await chats.open(wanted.request, wish)
            answer = await chat.whole()
            return EndpointAnswer(
                body=_json(_head(chat).whole(answer, chat.meta())), headers=chat.headers()
            )
        opening = Opening(
            chats.open(wanted.request, wish, patience=patience.first), patience.opening
        )
        headers = await opening.headers()
        pieces = _events(opening, log, include_usage=wanted.include_usage)
        return EndpointAnswer(
            body=EventBody(pieces, PING, opening.aclose, patience.quiet),
            media_type=MEDIA_TYPE,
            headers=HEADERS | headers,
        )

    return complete


def _head(chat: OpenChat) -> Head:
    """What all parts of the answer have in common."""
    return Head(chat.model.id)


async def _events(
    opening: Opening[OpenChat], log: Logger, *, include_usage: bool
) -> AsyncGenerator[bytes, None]:
    """The answer as events; an error in the middle of it is one as well."""
    try:
        chat = await opening.opened()
        async with aclosing(chat.deltas()) as deltas:
            head = _head(chat)
            yield _event(head.first_chunk())
            async for delta in deltas:
                if delta.finish is None:
                    yield _event(head.chunk(delta))
                    continue
                yield _event(head.last_chunk(delta, chat.meta()))
                if include_usage and delta.usage is not None:
                    yield _event(head.usage_chunk(delta.usage))
    except CloxyError as error:
        log.warning("a model failed in the middle of its answer: %s", error.code)
        yield _event(error_body(error))
    except Exception as error:
        # It is too late for a status; the client must not take half an answer for a whole one.
        log.error("an answer broke off: %s", told(error))
        yield _event(error_body(error))
    yield DONE


def _event(value: Mapping[str, object]) -> bytes:
    return b"data: " + _json(value) + b"\n\n"


def _json(value: Mapping[str, object]) -> bytes:
    # A line separator would end an event for some readers; escapes keep it whole everywhere.
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode()
