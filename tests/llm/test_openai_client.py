"""The official client of OpenAI's API against a real socket; only the model is scripted."""

import asyncio
from contextlib import contextmanager

import openai
import pytest
from llm.openai_kit import (
    HURRIED,
    MODEL,
    USAGE,
    ApiServer,
    ScriptedRouter,
    Wait,
    said,
    slow_to_load,
)
from llm.overhearing import Heard, overhearing

from cloxy_hookspecs import ChatDelta, ModelBusyError, ModelError, ModelInfo, ToolCallDelta

HI = [{"role": "user", "content": "hi"}]
TOOLS = [{"type": "function", "function": {"name": "recall", "parameters": {"type": "object"}}}]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with ApiServer(tmp_path_factory.mktemp("api")) as server:
        yield server


@pytest.fixture
def router(server):
    router = server.router
    router.known = [MODEL]
    router.requests.clear()
    router.scripts.clear()
    router.freed.clear()
    return router


@pytest.fixture
def client(server):
    with openai.OpenAI(
        base_url=f"{server.url}/v1", api_key="not-required", max_retries=0, timeout=30
    ) as client:
        yield client


def test_a_whole_answer(client, router):
    router.scripts.append(said("Hello"))
    answer = client.chat.completions.create(model="gpt-4o", messages=HI)
    assert (answer.model, answer.choices[0].message.content) == ("tiny-1", "Hello")
    assert (answer.choices[0].finish_reason, answer.usage.total_tokens) == ("stop", 13)
    assert answer.model_extra["cloxy_meta"]["memory"] == []


def test_a_stream(client, router):
    router.scripts.append(said("Hel", "lo"))
    stream = client.chat.completions.create(
        model="gpt-4o", messages=HI, stream=True, stream_options={"include_usage": True}
    )
    chunks = list(stream)
    assert chunks[0].choices[0].delta.role == "assistant"
    assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices) == "Hello"
    assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] == "stop"
    assert (chunks[-1].choices, chunks[-1].usage.prompt_tokens) == ([], 11)
    assert len({chunk.id for chunk in chunks}) == 1


def test_the_stream_helper_puts_tool_calls_together(client, router):
    router.scripts.append(
        [
            ChatDelta(tool_calls=(ToolCallDelta(0, "c1", "recall"),)),
            ChatDelta(tool_calls=(ToolCallDelta(0, arguments='{"q":'),)),
            ChatDelta(tool_calls=(ToolCallDelta(0, arguments='"x"}'),)),
            ChatDelta(finish="tool_calls", usage=USAGE),
        ]
    )
    with client.chat.completions.stream(model="m", messages=HI, tools=TOOLS) as stream:
        message = stream.get_final_completion().choices[0].message
    assert message.tool_calls[0].function.arguments == '{"q":"x"}'
    router.scripts.append(said("done"))
    turns = [
        *HI,
        message.model_dump(exclude_none=True),
        {"role": "tool", "tool_call_id": "c1", "content": "found"},
    ]
    client.chat.completions.create(model="m", messages=turns, tools=TOOLS)
    assert [(m.role, m.text) for m in router.prompt][1:] == [("assistant", ""), ("tool", "found")]


def test_wrong_input_is_a_bad_request_that_names_the_field(client, router):
    with pytest.raises(openai.BadRequestError) as refusal:
        client.chat.completions.create(model="m", messages=[])
    assert (refusal.value.code, refusal.value.param) == ("validation", "messages")
    assert refusal.value.type == "invalid_request_error"
    with pytest.raises(openai.BadRequestError) as refusal:
        client.embeddings.create(model="m", input=[1, 2, 3])
    assert refusal.value.param == "input" and "token ids" in str(refusal.value)


def test_what_the_model_cannot_do_is_a_bad_request(client, router):
    router.known = [ModelInfo(id="weak", backend="scripted")]
    with pytest.raises(openai.BadRequestError) as refusal:
        client.chat.completions.create(model="m", messages=HI, tools=TOOLS)
    assert refusal.value.code == "model_unsupported"


@pytest.mark.parametrize("stream", [False, True])
def test_a_busy_or_missing_model_has_a_status(client, router, stream):
    router.scripts.append([ModelBusyError("full")])
    with pytest.raises(openai.InternalServerError) as refusal:
        client.chat.completions.create(model="m", messages=HI, stream=stream)
    assert (refusal.value.status_code, refusal.value.code) == (503, "model_busy")
    assert int(refusal.value.response.headers["retry-after"]) > 0
    router.known = []
    with pytest.raises(openai.InternalServerError) as refusal:
        client.chat.completions.create(model="m", messages=HI, stream=stream)
    assert (refusal.value.status_code, refusal.value.code) == (503, "model_missing")
    assert "cloxy init" in refusal.value.body["hint"]


def test_an_error_in_the_middle_of_a_stream_reaches_the_reader(client, router):
    router.scripts.append([ChatDelta("half"), ModelError("it broke")])
    stream = client.chat.completions.create(model="m", messages=HI, stream=True)
    heard = []
    with pytest.raises(openai.APIError, match="it broke") as failure:
        heard.extend(chunk.choices[0].delta.content for chunk in stream)
    assert failure.value.code == "model"


def test_a_reader_that_stops_in_the_middle_frees_the_model(client, router):
    wait = Wait()
    router.scripts.append([ChatDelta("a"), wait, *said("never")])
    stream = client.chat.completions.create(model="m", messages=HI, stream=True)
    assert next(chunk for chunk in stream if chunk.choices[0].delta.content)
    assert wait.reached.wait(60) and not router.freed.is_set()
    stream.close()
    assert router.freed.wait(60)


@pytest.mark.parametrize("stream", [False, True])
def test_a_client_that_gives_up_waiting_frees_the_model(client, router, stream):
    wait = Wait()
    router.scripts.append([wait, *said("never")])
    with pytest.raises(openai.APITimeoutError):
        client.chat.completions.create(model="m", messages=HI, stream=stream, timeout=3)
    assert router.freed.wait(60)


@contextmanager
def loading(folder, *models):
    """A client of a model that is loaded after two signs of life; what it hears, and the model."""
    router, heard, wait = ScriptedRouter(), Heard(b": ping\n\n"), Wait()
    router.known = list(models)
    wait.go = heard.enough
    slow_to_load(router, wait)
    with (
        ApiServer(folder, router, HURRIED) as server,
        overhearing(openai, heard) as http,
        openai.OpenAI(
            base_url=f"{server.url}/v1", api_key="x", max_retries=0, timeout=30, http_client=http
        ) as client,
    ):
        yield client, heard, router


@pytest.mark.parametrize("helper", [False, True])
def test_comments_while_a_model_loads_are_nothing_to_the_client(tmp_path, helper):
    asked = {"model": "m", "messages": HI}
    with loading(tmp_path, MODEL) as (client, heard, router):
        router.scripts.append(said("Hel", "lo"))
        if helper:
            with client.chat.completions.stream(**asked) as stream:
                text = stream.get_final_completion().choices[0].message.content
        else:
            stream = client.chat.completions.create(**asked, stream=True)
            assert router.requests == [] and not heard.enough.is_set()
            text = "".join(chunk.choices[0].delta.content or "" for chunk in stream)
    assert heard.pings >= 2
    assert text == "Hello"


def test_a_model_that_fails_after_loading_for_long_is_an_error_of_the_client(tmp_path):
    with loading(tmp_path) as (client, heard, _):
        stream = client.chat.completions.create(model="m", messages=HI, stream=True)
        with pytest.raises(openai.APIError) as failure:
            list(stream)
    assert heard.pings >= 2
    assert failure.value.code == "model_missing"


def test_models(client, router):
    assert [model.id for model in client.models.list()] == ["tiny-1"]
    assert client.models.retrieve("tiny-1").owned_by == "scripted"
    with pytest.raises(openai.NotFoundError) as refusal:
        client.models.retrieve("nothing/there")
    assert refusal.value.code == "model_not_found"


def test_embeddings_as_the_client_asks_for_them(client, server):
    found = client.embeddings.create(model="m", input=["aaa", "a"])
    assert [(item.index, len(item.embedding)) for item in found.data] == [(0, 384), (1, 384)]
    assert [round(item.embedding[0] * 1000) for item in found.data] == [3, 1]
    one = client.embeddings.create(model="m", input="aaa", encoding_format="float")
    assert one.data[0].embedding == pytest.approx(found.data[0].embedding)


def test_many_at_once_do_not_mix(server, router):
    async def ask():
        async with openai.AsyncOpenAI(base_url=f"{server.url}/v1", api_key="x") as client:
            answers = await asyncio.gather(
                *(
                    client.chat.completions.create(
                        model="m", messages=[{"role": "user", "content": f"n{number}"}]
                    )
                    for number in range(20)
                )
            )
        return [answer.choices[0].message.content for answer in answers]

    assert asyncio.run(ask()) == [f"n{number}" for number in range(20)]
