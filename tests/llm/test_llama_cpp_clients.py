"""Both official clients against the whole server with a real small model of llama.cpp."""

import json
import urllib.request

import anthropic
import openai
import pytest
from llm.core_helpers import wait_until
from llm.small_model import SmallModelServer, small_model

PATH = small_model()
CONTEXT = 1024
FRANCE = [{"role": "user", "content": "What is the capital of France? Answer in one sentence."}]
STORY = [{"role": "user", "content": "Tell me a very long story about a zebra and a lighthouse."}]
TOO_LONG = [{"role": "user", "content": "zebra crossing " * 2000}]
FACT = "The harbour dashboard listens on port 9187."
QUESTION = [{"role": "user", "content": "Which port does the harbour dashboard listen on?"}]
TOOL = {"name": "recall", "description": "Finds", "parameters": {"type": "object"}}
FORM = {
    "type": "object",
    "properties": {"city": {"type": "string", "maxLength": 12}},
    "required": ["city"],
    "additionalProperties": False,
}
SOON = {"max_retries": 0, "timeout": 100}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with SmallModelServer(tmp_path_factory.mktemp("small"), PATH, CONTEXT) as server:
        yield server


@pytest.fixture(scope="module")
def by_openai(server):
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="any", **SOON) as client:
        yield client


@pytest.fixture(scope="module")
def by_anthropic(server):
    with anthropic.Anthropic(base_url=server.url, api_key="any", **SOON) as client:
        yield client


def completion(client, messages=FRANCE, **fields):
    fields = {"temperature": 0, "max_tokens": 24, **fields}
    return client.chat.completions.create(model="gpt-4o", messages=messages, **fields)


def message(client, messages=FRANCE, **fields):
    fields = {"max_tokens": 24, "extra_body": {"temperature": 0}, **fields}
    return client.messages.create(model="claude-sonnet-5-5", messages=messages, **fields)


def test_openai_whole_and_streamed(by_openai):
    whole = completion(by_openai)
    text = whole.choices[0].message.content
    assert "Paris" in text
    assert (whole.model, whole.choices[0].finish_reason) == ("smol", "stop")
    chunks = list(completion(by_openai, stream=True, stream_options={"include_usage": True}))
    said = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    assert said[0].role == "assistant"
    assert "".join(delta.content or "" for delta in said) == text
    assert len([delta for delta in said if delta.content]) > 1
    assert chunks[-1].usage.completion_tokens == whole.usage.completion_tokens > 0
    assert chunks[-1].usage.prompt_tokens == whole.usage.prompt_tokens > 0


def test_openai_limits_of_an_answer(by_openai):
    stopped = completion(by_openai, stop=["Paris"]).choices[0]
    assert "Paris" not in stopped.message.content
    assert stopped.finish_reason == "stop"
    cut = completion(by_openai, max_completion_tokens=3)
    assert (cut.choices[0].finish_reason, cut.usage.completion_tokens) == ("length", 3)
    seeded = [
        completion(by_openai, temperature=1, seed=7).choices[0].message.content for _ in range(2)
    ]
    assert seeded[0] == seeded[1]


def test_openai_an_answer_in_a_form(by_openai):
    form = {"type": "json_schema", "json_schema": {"name": "place", "schema": FORM}}
    answer = completion(by_openai, response_format=form, max_tokens=60)
    assert set(json.loads(answer.choices[0].message.content)) == {"city"}


@pytest.mark.parametrize("stream", [False, True])
def test_openai_errors(by_openai, stream):
    with pytest.raises(openai.BadRequestError) as refusal:
        completion(by_openai, tools=[{"type": "function", "function": TOOL}], stream=stream)
    assert (refusal.value.code, refusal.value.type) == (
        "model_unsupported",
        "invalid_request_error",
    )
    assert "cannot call tools" in str(refusal.value)
    with pytest.raises(openai.BadRequestError) as refusal:
        completion(by_openai, TOO_LONG, stream=stream)
    assert refusal.value.code == "context_length_exceeded"
    with pytest.raises(openai.BadRequestError) as refusal:
        completion(by_openai, [], stream=stream)
    assert refusal.value.param == "messages"


def test_openai_a_client_that_gives_up_frees_the_model(by_openai, server):
    completion(by_openai)  # it is loaded
    with pytest.raises(openai.APITimeoutError):
        completion(by_openai, STORY, max_tokens=900, timeout=0.5)
    wait_until(lambda: server.running == 0)
    assert "Paris" in completion(by_openai).choices[0].message.content


def test_openai_a_stream_that_is_cancelled_frees_the_model(by_openai, server):
    stream = completion(by_openai, STORY, max_tokens=900, stream=True)
    assert next(chunk for chunk in stream if chunk.choices[0].delta.content)
    assert server.running == 1
    stream.close()
    wait_until(lambda: server.running == 0)
    assert "Paris" in completion(by_openai).choices[0].message.content


def test_openai_models_and_embeddings(by_openai):
    assert [model.id for model in by_openai.models.list()] == ["smol"]
    assert by_openai.models.retrieve("smol").owned_by == "llama-cpp"
    found = by_openai.embeddings.create(model="any", input=["red lamp", "green quay", "red lamp"])
    first, other, again = (item.embedding for item in found.data)
    assert first == again != other


def test_memory_is_given_to_the_model_and_told(by_openai, by_anthropic, server):
    body = json.dumps({"text": FACT}).encode()
    headers = {"Content-Type": "application/json"}
    asked = urllib.request.Request(f"{server.url}/ingest_text", body, headers)
    with urllib.request.urlopen(asked, timeout=30) as answer:
        (number,) = json.loads(answer.read())["ids"]
    without = completion(by_openai, QUESTION)
    assert "9187" not in without.choices[0].message.content
    given = completion(by_openai, QUESTION, extra_body={"memory": True})
    assert "9187" in given.choices[0].message.content
    assert given.model_extra["cloxy_meta"]["memory"] == [number]
    assert given.usage.prompt_tokens > without.usage.prompt_tokens
    told = message(by_anthropic, QUESTION, extra_body={"temperature": 0, "memory": True})
    assert "9187" in told.content[0].text
    assert told.model_extra["cloxy_meta"]["memory"] == [number]


def test_anthropic_whole_and_streamed(by_anthropic):
    whole = message(by_anthropic)
    assert "Paris" in whole.content[0].text
    assert whole.usage.output_tokens > 0
    asked = {"model": "claude-sonnet-5-5", "messages": FRANCE, "max_tokens": 24}
    with by_anthropic.messages.stream(**asked, extra_body={"temperature": 0}) as stream:
        assert stream.get_final_message().content[0].text == whole.content[0].text
    stopped = message(by_anthropic, stop_sequences=["Paris"])
    assert (stopped.stop_reason, stopped.stop_sequence) == ("stop_sequence", "Paris")
    assert "Paris" not in stopped.content[0].text


def test_anthropic_counting_and_models(by_anthropic):
    def counted(system):
        asked = {"model": "x", "messages": FRANCE, "system": system}
        return by_anthropic.messages.count_tokens(**asked).input_tokens

    assert 10 < counted("Be short.") < counted("Be short. " * 10) < 200
    (model,) = by_anthropic.models.list()
    assert model.max_input_tokens == CONTEXT


@pytest.mark.parametrize("stream", [False, True])
def test_anthropic_errors(by_anthropic, stream):
    with pytest.raises(anthropic.BadRequestError) as refusal:
        message(by_anthropic, TOO_LONG, stream=stream)
    assert str(CONTEXT) in refusal.value.api_message
    assert refusal.value.type == "invalid_request_error"
    tool = {"name": "recall", "input_schema": {"type": "object"}}
    with pytest.raises(anthropic.BadRequestError, match="cannot call tools"):
        message(by_anthropic, tools=[tool], stream=stream)


def test_anthropic_clients_that_go_away_free_the_model(by_anthropic, server):
    message(by_anthropic)  # it is loaded
    with pytest.raises(anthropic.APITimeoutError):
        message(by_anthropic, STORY, max_tokens=900, timeout=0.5)
    wait_until(lambda: server.running == 0)
    asked = {"model": "m", "messages": STORY, "max_tokens": 900}
    with by_anthropic.messages.stream(**asked) as stream:
        assert next(iter(stream.text_stream))
        assert server.running == 1
    wait_until(lambda: server.running == 0)
    assert "Paris" in message(by_anthropic).content[0].text
