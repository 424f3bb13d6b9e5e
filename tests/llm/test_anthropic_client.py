"""The official client against the real endpoints, on a real server with the real boundary."""

import asyncio
import threading
import time
from contextlib import asynccontextmanager, contextmanager

import anthropic
import pytest
from llm.anthropic_world import (
    MODEL,
    WAIT,
    Context,
    Memory,
    ScriptedRouter,
    call,
    memory_hit,
    say,
    without_tools,
)
from llm.openai_kit import HURRIED, endpoints_of
from llm.overhearing import Heard, overhearing
from security.boundary_server import KEY, running

from cloxy_core.surfaces.http.app import create_app
from cloxy_core.surfaces.http.endpoints import large_body_paths
from cloxy_hookspecs import ChatDelta, ModelBusyError, ModelError, ModelMissingError
from cloxy_plugins.model_api import anthropic_endpoints, openai_endpoints
from cloxy_plugins.model_api.sse import PATIENCE

HI = [{"role": "user", "content": "Hi"}]
ASK = {"model": "claude-sonnet-5-5", "max_tokens": 64, "messages": HI}
READ = {
    "name": "Read",
    "description": "Reads a file",
    "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}},
}
NAMES = ("openai-models", "openai-model")


@contextmanager
def served(*scripts, memory=None, settings=(), key=None, patience=PATIENCE, **router):
    """The address of a server, and the model behind it."""
    scripted = ScriptedRouter(*scripts, **router)
    context = Context(scripted, memory, settings)
    records = [
        *anthropic_endpoints.endpoints(),
        *(one for one in openai_endpoints.endpoints() if one.name in NAMES),
    ]
    endpoints = endpoints_of(records, context, patience)

    async def health():
        return {"status": "OK"}

    @asynccontextmanager
    async def lifespan(_app):
        yield

    app = create_app([], health, lifespan, endpoints=endpoints)
    assert "/v1/messages" in large_body_paths(endpoints)
    with running(app, api_key=key) as server:
        yield f"http://127.0.0.1:{server.port}", scripted


@contextmanager
def client(url, **options):
    options = {"api_key": "any", "max_retries": 0, "timeout": 30, **options}
    with anthropic.Anthropic(base_url=url, **options) as made:
        yield made


@contextmanager
def asking(*scripts, options=(), **world):
    with served(*scripts, **world) as (url, router), client(url, **dict(options)) as made:
        yield made, router


def until_free(router):
    deadline = time.monotonic() + 30
    while router.running or not router.asked:
        assert time.monotonic() < deadline, "the model still works for a client that has gone"
        time.sleep(0.005)


def test_a_message():
    with asking(say("Hello", " there")) as (asker, router):
        found = asker.messages.create(**ASK, system="Be short.", extra_body={"temperature": 0.5})
    assert found.content[0].text == "Hello there"
    assert (found.role, found.type, found.model) == ("assistant", "message", ASK["model"])
    assert (found.stop_reason, found.stop_sequence) == ("end_turn", None)
    assert (found.usage.input_tokens, found.usage.output_tokens) == (11, 3)
    assert found.model_extra["cloxy_meta"]["model"] == "tiny"
    assert [one.role for one in router.asked[0].messages] == ["system", "user"]
    assert router.asked[0].temperature == 0.5


def test_a_stream_with_the_helper():
    with (
        asking(say("Hel", "lo")) as (asker, _),
        asker.messages.stream(**ASK) as stream,
    ):
        pieces = list(stream.text_stream)
        found = stream.get_final_message()
    assert pieces == ["Hel", "lo"]
    assert found.content[0].text == "Hello"
    assert found.stop_reason == "end_turn"
    assert (found.usage.input_tokens, found.usage.output_tokens) == (11, 3)


def test_a_raw_stream():
    with asking(say("Hel", "lo")) as (asker, _):
        kinds = [event.type for event in asker.messages.create(**ASK, stream=True)]
    assert kinds == [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]


@pytest.mark.parametrize("streams", [False, True])
def test_a_round_with_a_tool(streams):
    first = say("Let me see.", call(0, "toolu_1", "Read", '{"path": "a.py"}'), finish="tool_calls")
    with asking(first, say("Three lines.")) as (asker, router):

        def turn(messages):
            asked = {**ASK, "messages": messages, "tools": [READ]}
            if not streams:
                return asker.messages.create(**asked)
            with asker.messages.stream(**asked) as stream:
                return stream.get_final_message()

        called = turn(HI)
        use = called.content[1]
        assert called.stop_reason == "tool_use"
        assert (use.name, use.input) == ("Read", {"path": "a.py"})
        result = {"type": "tool_result", "tool_use_id": use.id, "content": "1\n2\n3"}
        talk = [
            *HI,
            {"role": "assistant", "content": called.content},
            {"role": "user", "content": [result]},
        ]
        found = turn(talk)
    assert found.content[0].text == "Three lines."
    assert [one.role for one in router.asked[1].messages] == ["user", "assistant", "tool"]
    assert router.asked[1].messages[2].text == "1\n2\n3"


def test_the_beta_door_with_its_headers_and_fields():
    with asking(say("Hello")) as (asker, _):
        found = asker.beta.messages.create(
            **ASK,
            betas=["context-management-2025-06-27", "interleaved-thinking-2025-05-14"],
            thinking={"type": "enabled", "budget_tokens": 1024},
            metadata={"user_id": "u"},
            context_management={"edits": []},
        )
        assert found.content[0].text == "Hello"
        with asker.beta.messages.stream(**ASK) as stream:
            assert stream.get_final_message().content[0].text == "Hello there"
        count = asker.beta.messages.count_tokens(model="x", messages=HI)
    assert count.input_tokens > 0


def test_counting():
    with asking(tokens=1234) as (asker, router):
        found = asker.messages.count_tokens(
            model="claude-x", messages=HI, system="Be short.", tools=[READ]
        )
    assert found.input_tokens == 1234
    assert router.counted[0].tools[0].name == "Read"


def test_models():
    with asking() as (asker, _):
        listed = asker.models.list()
        one = asker.models.retrieve("tiny")
        with pytest.raises(anthropic.NotFoundError) as caught:
            asker.models.retrieve("huge")
    assert [model.id for model in listed] == ["tiny"]
    assert (one.type, one.display_name, one.created_at.year) == ("model", "tiny", 1970)
    assert (one.max_input_tokens, one.lifecycle) == (MODEL.context_tokens, "active")
    assert caught.value.type == "not_found_error"


def test_a_wrong_field():
    image = {"type": "image", "source": {"type": "url", "url": "http://127.0.0.1/a.png"}}
    with asking() as (asker, _), pytest.raises(anthropic.BadRequestError) as caught:
        asker.messages.create(**{**ASK, "messages": [{"role": "user", "content": [image]}]})
    assert caught.value.type == "invalid_request_error"
    assert caught.value.api_message.startswith("messages.0.content.0.type: ")
    assert caught.value.body["type"] == "error"


def test_no_length():
    asked = {name: value for name, value in ASK.items() if name != "max_tokens"}
    with asking() as (asker, _), pytest.raises(anthropic.BadRequestError, match="max_tokens"):
        asker.post("/v1/messages", cast_to=object, body=asked)


@pytest.mark.parametrize(
    ("error", "kind", "name"),
    [
        (ModelMissingError("none", hint="cloxy init"), anthropic.ServiceUnavailableError,
         "overloaded_error"),
        (ModelBusyError("busy"), anthropic.ServiceUnavailableError, "overloaded_error"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("streams", [False, True])
def test_errors_before_the_answer(error, kind, name, streams):
    with asking([error]) as (asker, _), pytest.raises(kind) as caught:
        asker.messages.create(**ASK, stream=streams)
    assert caught.value.type == name


def test_a_model_without_tools():
    with (
        asking(model=without_tools()) as (asker, _),
        pytest.raises(anthropic.BadRequestError, match="cannot call tools"),
    ):
        asker.messages.create(**ASK, tools=[READ])


def test_a_broken_call_is_asked_for_again():
    broken = say(call(0, "t", "Read", '{"path": '), finish="tool_calls")
    good = say(call(0, "t", "Read", '{"path": "a"}'), finish="tool_calls")
    with asking(broken, good, options={"max_retries": 1}) as (asker, router):
        found = asker.messages.create(**ASK, tools=[READ])
    assert found.content[0].input == {"path": "a"}
    assert len(router.asked) == 2


def test_an_error_in_the_middle_of_a_stream():
    script = [ChatDelta(text="a"), ModelError("the model failed")]
    with (
        asking(script) as (asker, _),
        pytest.raises(anthropic.APIStatusError, match="the model failed") as caught,
        asker.messages.stream(**ASK) as stream,
    ):
        list(stream.text_stream)
    assert caught.value.type == "overloaded_error"


@pytest.mark.parametrize("streams", [False, True])
def test_a_client_whose_patience_ends_frees_the_model(streams):
    with asking([WAIT], options={"timeout": 3.0}) as (asker, router):
        with pytest.raises(anthropic.APITimeoutError):
            asker.messages.create(**ASK, stream=streams)
        until_free(router)
    assert len(router.asked) == 1


def test_a_client_that_leaves_in_the_middle_frees_the_model():
    with asking([ChatDelta(text="a"), WAIT]) as (asker, router):
        with asker.messages.stream(**ASK) as stream:
            assert next(iter(stream.text_stream)) == "a"
            assert router.running == 1
        until_free(router)


@contextmanager
def loading(*scripts, **world):
    """A client of a model that is loaded after two signs of life; what it hears, and the model."""
    heard = Heard(b"event: ping")
    with (
        overhearing(anthropic, heard) as http,
        asking(
            *scripts,
            loading=heard.enough,
            patience=HURRIED,
            options={"http_client": http},
            **world,
        ) as (asker, router),
    ):
        yield asker, heard, router


def test_a_model_that_loads_for_long_keeps_its_client():
    with (
        loading(say("Hel", "lo")) as (asker, heard, router),
        asker.messages.stream(**ASK) as stream,
    ):
        assert router.asked == [] and not heard.enough.is_set()
        found = stream.get_final_message()
    assert heard.pings >= 2
    assert found.content[0].text == "Hello"
    assert (found.usage.input_tokens, found.usage.output_tokens) == (11, 3)


def test_a_model_that_fails_after_loading_for_long_is_an_error_of_the_client():
    with (
        loading(model=ModelMissingError("none", hint="cloxy init")) as (asker, heard, _),
        pytest.raises(anthropic.APIStatusError, match="cloxy init") as caught,
        asker.messages.stream(**ASK) as stream,
    ):
        stream.get_final_message()
    assert heard.pings >= 2
    assert caught.value.type == "overloaded_error"


def test_a_client_that_leaves_while_a_model_loads_asks_it_nothing():
    never = threading.Event()
    with asking(loading=never, patience=HURRIED) as (asker, router):
        with asker.messages.stream(**ASK) as stream:
            assert next(iter(stream)).type == "message_start"
        # The next one is answered: nothing of the one before is in its way.
        never.set()
        assert asker.messages.create(**ASK).content[0].text == "Hello there"
    assert len(router.asked) == 1


def test_an_asynchronous_client_that_is_cancelled_frees_the_model():
    async def scenario(url, router):
        async with anthropic.AsyncAnthropic(base_url=url, api_key="x", max_retries=0) as asker:
            task = asyncio.create_task(asker.messages.create(**ASK))
            while not router.running:
                await asyncio.sleep(0.005)
            task.cancel()
            await asyncio.wait([task])
            assert task.cancelled()

    with served([WAIT]) as (url, router):
        asyncio.run(scenario(url, router))
        until_free(router)


def test_two_at_the_same_time():
    with asking(*[say("Hello", " there")] * 8) as (asker, _):
        found = []

        def ask():
            with asker.messages.stream(**ASK) as stream:
                found.append(stream.get_final_text())

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == ["Hello there"] * 8


@pytest.mark.parametrize("options", [{"api_key": KEY}, {"api_key": None, "auth_token": KEY}])
def test_both_ways_to_send_a_key(options, monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.delenv("ANTHROPIC_AUTH_TOKEN", raising=False)
    with asking(key=KEY, options=options) as (asker, _):
        assert asker.messages.create(**ASK).content[0].text == "Hello there"


def test_a_wrong_key():
    with asking(key=KEY) as (asker, router):
        with pytest.raises(anthropic.AuthenticationError) as caught:
            asker.messages.create(**ASK)
        assert not router.asked
    assert caught.value.type == "authentication_error"


@pytest.mark.parametrize("options", [{"api_key": "a"}, {"api_key": None, "auth_token": "b"}])
def test_any_key_is_taken_where_none_is_set(options, monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with asking(options=options) as (asker, _):
        assert asker.messages.create(**ASK).content


def test_memory_by_fields_of_our_own():
    memory = Memory((memory_hit(12, "the zebra lives in the archive"),))
    with asking(say("There."), memory=memory) as (asker, router):
        raw = asker.messages.with_raw_response.create(**ASK, extra_body={"memory": True})
        found = raw.parse()
    assert found.model_extra["cloxy_meta"]["memory"] == [12]
    assert raw.headers["x-cloxy-memories"] == "12"
    assert "the archive" in router.asked[0].messages[0].text


def test_a_large_body_passes():
    talk = [{"role": "user", "content": "zebra " * 200_000}]
    with asking(tokens=100) as (asker, _):
        assert asker.messages.create(**{**ASK, "messages": talk}).content
