"""A model that cannot take a request says so before anything is generated."""

import asyncio
import json
from dataclasses import replace

import pytest
from llm.anthropic_world import MODEL, Door, asked_body, without_tools

from cloxy_hookspecs import ContextTooLongError, ModelError, UnsupportedModelError
from cloxy_plugins.model_api import anthropic_room
from cloxy_plugins.model_api.anthropic_request import read_request
from cloxy_plugins.model_api.memory_text import estimate_request

READ = {"name": "Read", "input_schema": {"type": "object"}}
LONG = {**READ, "description": "Reads a file, or a part of it. " * 1000}
SMALL = replace(MODEL, context_tokens=8192)
TALK = [
    {"role": "user", "content": "old " * 4000},
    {"role": "assistant", "content": "yes " * 4000},
    {"role": "user", "content": "And now?"},
]


def ask(door, **changes):
    return asyncio.run(door.ask(**changes))


def words(request):
    return sum(len(message.text.split()) for message in request.messages) + 5000 * len(
        request.tools
    )


def test_a_model_without_tools():
    door = Door(model=without_tools())
    with pytest.raises(UnsupportedModelError) as caught:
        ask(door, tools=[READ])
    assert caught.value.http_status == 400
    assert "tiny" in caught.value.message and "tools" in caught.value.message
    assert "cloxy init" in caught.value.hint
    assert not door.router.asked


def test_a_model_without_tools_is_not_asked_to_read_calls_either():
    use = {"type": "tool_use", "id": "t", "name": "Read", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": "x"}
    talk = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [result]},
    ]
    with pytest.raises(UnsupportedModelError):
        ask(Door(model=without_tools()), messages=talk)


def test_tools_that_must_not_be_called_do_no_harm():
    ask(Door(model=without_tools()), tools=[READ], tool_choice={"type": "none"})


def test_a_model_without_a_form_for_its_answer():
    form = {"format": {"type": "json_schema", "schema": {}}}
    with pytest.raises(UnsupportedModelError, match="form"):
        ask(Door(model=replace(MODEL, response_format=False)), output_config=form)


def test_a_prompt_that_never_fits():
    door = Door(model=SMALL, tokens=words)
    with pytest.raises(ContextTooLongError) as caught:
        ask(door, tools=[LONG, {**LONG, "name": "Write"}], max_tokens=32_000)
    message = caught.value.message
    assert "tiny" in message and "8192" in message and " take 10001 " in message
    assert "prompt is too long" not in message, "a client would try to shorten the conversation"
    assert "context_tokens" in caught.value.hint and "cloxy init" in caught.value.hint
    assert not door.router.asked


def test_a_conversation_that_has_grown_too_long():
    door = Door(model=SMALL, tokens=words)
    with pytest.raises(ContextTooLongError) as caught:
        ask(door, messages=TALK, max_tokens=32_000)
    assert caught.value.message.startswith("prompt is too long: 8002 tokens > 7936 maximum")
    assert "tiny" in caught.value.message
    assert "context_tokens" in caught.value.hint
    assert not door.router.asked


def test_a_long_answer_is_made_as_long_as_there_is_room_for():
    door = Door(model=SMALL, tokens=5000)
    ask(door, max_tokens=32_000)
    assert door.router.asked[0].max_tokens == 3192


def test_an_estimate_that_may_be_too_high_refuses_nothing():
    door = Door(model=SMALL, tokens=estimate_request)
    talk = [{"role": "user", "content": "zebra " * 4500}]
    ask(door, messages=talk, max_tokens=32_000)
    assert door.router.asked[0].max_tokens == 256
    talk = [{"role": "user", "content": "zebra " * 9000}]
    with pytest.raises(ContextTooLongError, match="take about 180"):
        ask(door, messages=talk)


def test_room_is_left_for_memories():
    door = Door(model=SMALL, tokens=5000)
    ask(door, max_tokens=32_000, memory=True, memory_tokens=1000)
    assert door.router.asked[0].max_tokens == 2192
    door = Door(model=SMALL, tokens=7500)
    ask(door, max_tokens=32_000, memory=True, memory_tokens=1000)
    assert door.router.asked[0].max_tokens == 692


def test_what_surely_fits_is_not_counted():
    door = Door(model=SMALL)
    ask(door)
    assert not door.router.counted
    assert door.router.asked[0].max_tokens == 64


def test_a_context_that_is_not_known_is_the_back_ends_business():
    door = Door(model=replace(MODEL, context_tokens=None))
    ask(door, max_tokens=1_000_000)
    assert door.router.asked[0].max_tokens == 1_000_000


def test_a_short_answer_needs_little_room():
    door = Door(model=SMALL, tokens=8190)
    ask(door, messages=TALK, max_tokens=1)
    assert door.router.asked[0].max_tokens == 1


def test_a_model_that_is_busy_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(anthropic_room, "COUNT_SECONDS", 0.01)

    class Busy:
        async def count(self, request):
            await asyncio.Event().wait()

    class Broken:
        async def count(self, request):
            raise ModelError("no")

    request = read_request(json.dumps(asked_body(messages=TALK)).encode())
    for router in (Busy(), Broken()):
        room = asyncio.run(anthropic_room.find_room(router, SMALL, request))
        assert room.answer == 64
        assert room.prompt > 8192
