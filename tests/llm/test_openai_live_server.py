"""The official client of OpenAI's API, a real server, and behind it a server of models."""

import openai
import pytest
from llm.stub_server import Answer, Call, Fail, Hang, StubModelServer
from server.live_server import LiveServer

FACT = "The harbour dashboard listens on port 9187."
QUESTION = "Which port does the harbour dashboard use?"
HI = [{"role": "user", "content": "hi there"}]
TOOLS = [{"type": "function", "function": {"name": "recall", "parameters": {"type": "object"}}}]

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A server of models, and Cloxy in front of it."""
    folder = tmp_path_factory.mktemp("live")
    with pytest.MonkeyPatch.context() as patch, StubModelServer() as models:
        patch.setenv("HOME", str(folder))
        settings = {"CLOXY_LLM_BASE_URL": models.base_url, "CLOXY_EMBED_PROVIDER": "none"}
        aliases = {"CLOXY_MODEL_ALIASES": "gpt-*=stub-model"}
        with LiveServer(folder, **settings, **aliases) as server:
            yield server, models


@pytest.fixture
def models(world):
    _server, models = world
    models.left.clear()
    models.holding.clear()
    return models


@pytest.fixture
def client(world):
    server, _models = world
    with openai.OpenAI(
        base_url=f"{server.url}/v1", api_key="not-required", max_retries=0, timeout=30
    ) as client:
        yield client


def test_whole_and_streamed(client, models):
    models.say("Hello there", "Hello there")
    answer = client.chat.completions.create(model="gpt-4o", messages=HI)
    assert (answer.model, answer.choices[0].message.content) == ("stub-model", "Hello there")
    chunks = list(
        client.chat.completions.create(
            model="gpt-4o", messages=HI, stream=True, stream_options={"include_usage": True}
        )
    )
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text == "Hello there"
    assert chunks[-1].usage.total_tokens > 0
    assert "not-required" not in str(models.requests)


def test_tools_there_and_back(client, models):
    models.say(Answer(calls=(Call("recall", '{"q": "port"}'),)), "9187")
    with client.chat.completions.stream(model="m", messages=HI, tools=TOOLS) as stream:
        message = stream.get_final_completion().choices[0].message
    (call,) = message.tool_calls
    assert (call.function.name, call.function.arguments) == ("recall", '{"q": "port"}')
    result = {"role": "tool", "tool_call_id": call.id, "content": "found"}
    turns = [*HI, message.model_dump(exclude_none=True), result]
    answer = client.chat.completions.create(model="m", messages=turns, tools=TOOLS)
    assert answer.choices[0].message.content == "9187"
    assert [turn["role"] for turn in models.chats[-1]["messages"]] == ["user", "assistant", "tool"]


def test_memory_reaches_the_model_and_the_answer_says_so(client, models, world):
    server, _models = world
    status, stored = server.ask("POST", "/ingest_text", {"text": FACT})
    assert status == 200
    turns = [{"role": "user", "content": QUESTION}]
    client.chat.completions.create(model="m", messages=turns)
    assert FACT not in str(models.chats[-1])
    given = client.chat.completions.with_raw_response.create(
        model="m", messages=turns, extra_body={"memory": True}
    )
    block, question = models.chats[-1]["messages"]
    assert FACT in block["content"] and question == turns[0]
    assert given.headers["x-cloxy-memories"] == str(stored["ids"][0])
    assert given.parse().model_extra["cloxy_meta"]["memory"] == stored["ids"]
    assert not given.parse().model_extra["cloxy_meta"]["left_machine"]


def test_failures_of_the_models_are_errors_of_the_client(client, models):
    models.misbehave(Fail(500))
    with pytest.raises(openai.APIStatusError) as failure:
        client.chat.completions.create(model="m", messages=HI, stream=True)
    assert failure.value.status_code >= 500
    with pytest.raises(openai.BadRequestError):
        client.chat.completions.create(model="m", messages=[])


def test_a_client_that_goes_away_ends_the_work_of_the_models(client, models):
    models.say(Answer("one two three four", hold_after=2))
    stream = client.chat.completions.create(model="m", messages=HI, stream=True)
    assert next(chunk for chunk in stream if chunk.choices[0].delta.content)
    assert models.holding.wait(60)
    stream.close()
    assert models.left.wait(60)


def test_a_client_that_gives_up_waiting_ends_the_work_of_the_models(client, models):
    list(client.models.list())
    models.misbehave(Hang())
    with pytest.raises(openai.APITimeoutError):
        client.chat.completions.create(model="m", messages=HI, timeout=5.0)
    assert models.left.wait(30)


def test_without_any_model(tmp_path):
    with (
        LiveServer(tmp_path, CLOXY_EMBED_PROVIDER="none") as server,
        openai.OpenAI(base_url=f"{server.url}/v1", api_key="x", max_retries=0) as client,
    ):
        assert list(client.models.list()) == []
        for stream in (False, True):
            with pytest.raises(openai.InternalServerError) as refusal:
                client.chat.completions.create(model="m", messages=HI, stream=stream)
            assert (refusal.value.status_code, refusal.value.code) == (503, "model_missing")
            said = str(refusal.value.body)
            assert "cloxy init" in said and "CLOXY_LLM_BASE_URL" in said
