"""What the chat endpoint answers: whole, piece by piece, and when a model fails."""

import json
from pathlib import Path

import pytest
from llm.openai_kit import HURRIED, MODEL, USAGE, Api, ScriptedRouter, Wait, said, slow_to_load

from cloxy_core.testing.harness import App
from cloxy_hookspecs import (
    ChatDelta,
    ContextTooLongError,
    ModelBusyError,
    ModelError,
    ModelInfo,
    ModelTimeoutError,
    ToolCallDelta,
)

GOLDEN = Path(__file__).with_name("golden")
CALLS = [
    ChatDelta(tool_calls=(ToolCallDelta(0, "c1", "recall"),)),
    ChatDelta(tool_calls=(ToolCallDelta(0, arguments="{}"), ToolCallDelta(1, "c2", "fetch", "{"))),
    ChatDelta(tool_calls=(ToolCallDelta(1, arguments="}"),)),
    ChatDelta(finish="tool_calls", usage=USAGE),
]
TOOLS = [{"type": "function", "function": {"name": name}} for name in ("recall", "fetch")]


@pytest.fixture
def app(tmp_path):
    with App(tmp_path, settings={"embed.provider": "none"}) as app:
        yield app


@pytest.fixture
def api(app):
    return Api(app)


@pytest.fixture
def hurried(app):
    return Api(app, patience=HURRIED)


def neutral(events):
    """A transcript without what differs from run to run; all chunks have one name and time."""
    shown, names = [], set()
    for event in events.split("\n\n")[:-1]:
        data = event.removeprefix("data: ")
        if data != "[DONE]":
            chunk = json.loads(data)
            names.add((chunk["id"], chunk["created"]))
            chunk.update(id="ID", created=0)
            if "cloxy_meta" in chunk:
                assert chunk["cloxy_meta"]["elapsed_seconds"] >= 0
                chunk["cloxy_meta"].update(elapsed_seconds=0, tokens_per_second=0)
            data = json.dumps(chunk, separators=(",", ":"))
        shown.append(f"data: {data}\n\n")
    assert len(names) == 1
    return "".join(shown)


def chunks(events):
    return [json.loads(e[6:]) for e in events.split("\n\n") if e.startswith("data: {")]


def test_a_stream_word_for_word(api):
    api.router.scripts.append(said("Hel", "lo é\u2028"))
    events = api.events("hi", stream_options={"include_usage": True})
    assert neutral(events) == (GOLDEN / "openai_text.sse").read_text()


def test_a_stream_of_tool_calls_word_for_word(api):
    api.router.scripts.append(CALLS)
    assert neutral(api.events("hi", tools=TOOLS)) == (GOLDEN / "openai_calls.sse").read_text()


def test_usage_comes_only_when_it_is_asked_for(api):
    assert '"usage"' not in api.events("hi")
    assert '"usage"' not in api.events("hi", stream_options={"include_usage": False})
    last = chunks(api.events("hi", stream_options={"include_usage": True}))[-1]
    assert (last["choices"], last["usage"]["total_tokens"]) == ([], 13)


def test_a_whole_answer(api):
    api.router.scripts.append(said("Hel", "lo", finish="length"))
    answer = api.chat("hi")
    assert answer["id"].startswith("chatcmpl-")
    assert (answer["object"], answer["model"]) == ("chat.completion", "tiny-1")
    (choice,) = answer["choices"]
    assert choice["message"] == {"role": "assistant", "content": "Hello", "refusal": None}
    assert (choice["index"], choice["finish_reason"]) == (0, "length")
    assert answer["usage"]["total_tokens"] == 13
    assert answer["cloxy_meta"]["memory"] == [] and not answer["cloxy_meta"]["left_machine"]


def test_a_whole_answer_of_tool_calls(api):
    api.router.scripts.append(CALLS)
    message = api.chat("hi", tools=TOOLS)["choices"][0]["message"]
    assert message["content"] is None
    assert [(c["id"], c["type"], c["function"]) for c in message["tool_calls"]] == [
        ("c1", "function", {"name": "recall", "arguments": "{}"}),
        ("c2", "function", {"name": "fetch", "arguments": "{}"}),
    ]


def test_calls_without_an_id_get_one(api):
    api.router.scripts.append(
        [
            ChatDelta(tool_calls=(ToolCallDelta(0, name="recall"), ToolCallDelta(1, name="fetch"))),
            ChatDelta(tool_calls=(ToolCallDelta(0, arguments="{}"),)),
            ChatDelta(finish="tool_calls"),
        ]
    )
    parts = [
        call
        for chunk in chunks(api.events("hi", tools=TOOLS))
        for call in chunk["choices"][0]["delta"].get("tool_calls", ())
    ]
    assert parts[0]["id"].startswith("call_") and parts[0]["id"] != parts[1]["id"]
    assert "id" not in parts[2]


def test_what_it_cost_is_estimated_where_nobody_tells(api):
    api.router.scripts.append(said("twelve chars", usage=None))
    answer = api.chat("hi")
    assert answer["usage"]["completion_tokens"] == 4
    assert answer["usage"]["prompt_tokens"] > 0
    assert answer["cloxy_meta"]["usage_estimated"] is True


def test_usage_after_the_end_counts(api):
    api.router.scripts.append([ChatDelta("a"), ChatDelta(finish="stop"), ChatDelta(usage=USAGE)])
    assert api.chat("hi")["usage"]["total_tokens"] == 13


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    "error", [ModelBusyError("full"), ContextTooLongError("long"), ModelTimeoutError("slow")]
)
def test_errors_before_the_first_piece_are_no_answer(api, error, stream):
    api.router.scripts.append([error])
    with pytest.raises(type(error)):
        (api.events if stream else api.chat)("hi")
    assert api.router.running == 0


def test_an_error_in_the_middle_is_an_event_and_the_end(api):
    api.router.scripts.append([ChatDelta("half"), ModelError("it broke", hint="look")])
    *_, error, done = api.events("hi").strip().split("\n\n")
    body = json.loads(error.removeprefix("data: "))
    assert body["error"] == {
        "type": "overloaded_error",
        "code": "model",
        "message": "it broke",
        "hint": "look",
        "param": None,
    }
    assert done == "data: [DONE]"


def test_a_foreign_error_in_the_middle_tells_nothing_of_it(api, caplog):
    api.router.scripts.append([ChatDelta("half"), RuntimeError("secret text")])
    events = api.events("hi")
    assert "internal_error" in events and "secret" not in events
    assert "broke off" in caplog.text and "secret" not in caplog.text
    assert events.endswith("data: [DONE]\n\n")


@pytest.mark.parametrize("script", [[ChatDelta("half")], []])
def test_an_answer_without_an_end_is_an_error(api, script):
    api.router.scripts.append(script)
    with pytest.raises(ModelError, match="broke off"):
        api.chat("hi")


def test_a_model_elsewhere_is_told(app):
    remote = ModelInfo(id="far", backend="scripted", remote=True)
    api = Api(app, ScriptedRouter(remote))
    body = {"messages": [{"role": "user", "content": "hi"}]}
    answer = app.do(api.ask("/v1/chat/completions", body))
    assert answer.headers == {"x-cloxy-left-machine": "1"}
    assert json.loads(answer.body)["cloxy_meta"]["left_machine"] is True


def streamed(api, **fields):
    body = {"messages": [{"role": "user", "content": "hi"}], "stream": True, **fields}
    return api.ask("/v1/chat/completions", body)


def test_signs_of_life_while_nothing_comes(hurried):
    wait = Wait()
    hurried.router.scripts.append([wait, *said("late")])

    async def read():
        answer = await streamed(hurried)
        pieces = []
        async for piece in answer.body:
            pieces.append(piece)
            if pieces.count(b": ping\n\n") == 2:
                wait.go.set()
        return b"".join(pieces).decode()

    events = hurried.app.do(read())
    assert events.startswith("data: ") and '"content":"late"' in events
    assert events.endswith("data: [DONE]\n\n")


def test_an_error_after_the_first_wait_is_an_event(hurried):
    wait = Wait()
    hurried.router.scripts.append([wait, ModelBusyError("full")])

    async def read():
        answer = await streamed(hurried)
        wait.go.set()
        return b"".join([piece async for piece in answer.body]).decode()

    assert '"code":"model_busy"' in hurried.app.do(read())


@pytest.mark.parametrize("known", [True, False])
def test_a_model_that_loads_for_long_keeps_its_client(hurried, known):
    wait = Wait()
    slow_to_load(hurried.router, wait)
    if not known:
        hurried.router.known.clear()

    async def read():
        answer = await streamed(hurried)
        wait.go.set()
        return b"".join([piece async for piece in answer.body]).decode()

    events = hurried.app.do(read())
    assert ('"content":"hi"' in events, '"code":"model_missing"' in events) == (known, not known)
    assert events.endswith("data: [DONE]\n\n")


@pytest.mark.parametrize("pieces", [0, 1])
def test_closing_a_stream_while_a_model_loads_asks_it_nothing(hurried, pieces):
    slow_to_load(hurried.router, Wait())

    async def leave():
        answer = await streamed(hurried)
        for _ in range(pieces):
            assert await anext(answer.body) == b": ping\n\n"
        await answer.body.aclose()

    hurried.app.do(leave())
    assert hurried.router.requests == []


@pytest.mark.parametrize("pieces", [0, 1, 2])
def test_closing_a_stream_frees_the_model(api, pieces):
    wait = Wait()
    api.router.scripts.append([ChatDelta("a"), wait, *said("never")])

    async def leave():
        answer = await streamed(api)
        assert api.router.running == 1
        for _ in range(pieces):
            await anext(answer.body)
        await answer.body.aclose()

    api.app.do(leave())
    assert api.router.running == 0


def test_cancelling_the_wait_for_the_first_piece_frees_the_model(api):
    import asyncio

    wait = Wait()
    api.router.scripts.append([wait, *said("never")])

    async def leave():
        asking = asyncio.create_task(streamed(api))
        while not wait.reached.is_set():
            await asyncio.sleep(0)
        asking.cancel()
        await asyncio.wait({asking})
        assert asking.cancelled()

    api.app.do(leave())
    assert api.router.running == 0


def test_models_in_the_form_of_openai(app):
    other = ModelInfo(id="org/big:7b", backend="http")
    api = Api(app, ScriptedRouter(MODEL, other), model_api__aliases={"gpt-*": "org/big:7b"})
    listed = api.answer("/v1/models")
    assert listed == {
        "object": "list",
        "data": [
            {
                "id": "tiny-1",
                "object": "model",
                "created": 1_700_000_000,
                "owned_by": "scripted",
                "context_length": 8192,
            },
            {"id": "org/big:7b", "object": "model", "created": 0, "owned_by": "http"},
        ],
    }
    for name in ("org/big:7b", "gpt-4o"):
        assert api.answer("/v1/models/{id:path}", id=name) == listed["data"][1]
    status, error = api.refused("/v1/models/{id:path}", id="nothing")
    assert (status, error["code"], error["param"]) == (404, "model_not_found", "model")


def test_models_in_the_form_of_anthropic_for_its_clients(api):
    headers = {"anthropic-version": "2023-06-01"}
    listed = api.answer("/v1/models", headers=headers)
    assert [(model["type"], model["id"]) for model in listed["data"]] == [("model", "tiny-1")]
    assert api.answer("/v1/models/{id:path}", id="tiny-1", headers=headers)["type"] == "model"


def test_no_back_end_has_no_models(app):
    router = ScriptedRouter()
    router.known.clear()
    assert Api(app, router).answer("/v1/models") == {"object": "list", "data": []}
