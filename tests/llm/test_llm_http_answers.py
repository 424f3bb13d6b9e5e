"""Answers of servers, proper ones and all others."""

import asyncio
import gc
import warnings

import pytest
from llm.http_bench import ask, deltas_of, make, text_of
from llm.stub_server import (
    Answer,
    Call,
    CloseEarly,
    Fail,
    Hang,
    HangMidStream,
    Model,
    Raw,
    Redirect,
    Reset,
    StubModelServer,
)

from cloxy_hookspecs import (
    ChatMessage,
    ChatRequest,
    ContextTooLongError,
    ModelBusyError,
    ModelError,
    ModelMissingError,
    ModelTimeoutError,
    ResponseFormat,
    TokenUsage,
    ToolCall,
    ToolChoice,
    ToolSpec,
    UnsupportedModelError,
)

TOOL = ToolSpec("recall", "Looks things up", {"type": "object"})


@pytest.fixture
def server():
    with StubModelServer() as running:
        yield running


def test_an_answer_comes_in_pieces_with_its_end_and_cost(server):
    deltas = deltas_of(make(server.base_url), ask("one two three"))
    assert [delta.text for delta in deltas if delta.text] == ["one ", "two ", "three"]
    assert [delta.finish for delta in deltas if delta.finish] == ["stop"]
    assert [delta.usage for delta in deltas if delta.usage] == [TokenUsage(3, 3)]


def test_everything_that_is_asked_for_reaches_the_server(server):
    request = ChatRequest(
        messages=(
            ChatMessage("system", "be short"),
            ChatMessage("user", "when?"),
            ChatMessage("assistant", "", tool_calls=(ToolCall("c1", "recall", '{"q":"x"}'),)),
            ChatMessage("tool", "in May", tool_call_id="c1", name="recall"),
        ),
        model="other",
        max_tokens=7,
        temperature=0.0,
        top_p=0.5,
        stop=("END",),
        seed=11,
        tools=(TOOL,),
        tool_choice=ToolChoice("named", "recall", parallel=False),
        response_format=ResponseFormat({"type": "object"}, "thing"),
    )
    deltas_of(make(server.base_url, model="stub-model"), request)
    (sent,) = server.chats
    assert sent == {
        "model": "other",
        "messages": [
            {"role": "system", "content": "be short"},
            {"role": "user", "content": "when?"},
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [
                    {
                        "id": "c1",
                        "type": "function",
                        "function": {"name": "recall", "arguments": '{"q":"x"}'},
                    }
                ],
            },
            {"role": "tool", "content": "in May", "tool_call_id": "c1", "name": "recall"},
        ],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 7,
        "temperature": 0.0,
        "top_p": 0.5,
        "seed": 11,
        "stop": ["END"],
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "recall",
                    "description": "Looks things up",
                    "parameters": {"type": "object"},
                },
            }
        ],
        "tool_choice": {"type": "function", "function": {"name": "recall"}},
        "parallel_tool_calls": False,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "thing", "schema": {"type": "object"}, "strict": True},
        },
    }


def test_tool_calls_come_in_pieces(server):
    server.say(Answer(calls=(Call("recall", '{"q": "May"}', "a"), Call("list", "{}", "b"))))
    deltas = deltas_of(make(server.base_url), ask(tools=(TOOL,)))
    parts = [part for delta in deltas for part in delta.tool_calls]
    assert [(p.index, p.id, p.name) for p in parts if p.id] == [
        (0, "a", "recall"),
        (1, "b", "list"),
    ]
    arguments = ["".join(p.arguments for p in parts if p.index == index) for index in (0, 1)]
    assert arguments == ['{"q": "May"}', "{}"]
    assert [delta.finish for delta in deltas if delta.finish] == ["tool_calls"]


def _sse(*events):
    return "".join(f"data: {event}\n\n" for event in events).encode()


def _calls(*calls, finish="null"):
    listed = ",".join(calls)
    return f'{{"choices":[{{"delta":{{"tool_calls":[{listed}]}},"finish_reason":{finish}}}]}}'


@pytest.mark.parametrize(
    "calls",
    [
        pytest.param(
            [
                '{"id":"a","function":{"name":"f","arguments":"{}"}}',
                '{"id":"b","function":{"name":"g","arguments":"{}"}}',
            ],
            id="no index at all",
        ),
        pytest.param(
            [
                '{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}',
                '{"index":0,"id":"b","function":{"name":"g","arguments":"{}"}}',
            ],
            id="index 0 for every call",
        ),
        pytest.param(
            [
                '{"index":0,"id":"a","function":{"name":"f","arguments":{}}}',
                '{"index":1,"id":"b","function":{"name":"g","arguments":{}}}',
            ],
            id="arguments as an object",
        ),
    ],
)
def test_calls_of_careless_servers(server, calls):
    server.misbehave(Raw((_sse(*map(_calls, calls), _calls(finish='"stop"'), "[DONE]"),)))
    deltas = deltas_of(make(server.base_url))
    parts = [part for delta in deltas for part in delta.tool_calls]
    assert [(p.index, p.id, p.name, p.arguments) for p in parts] == [
        (0, "a", "f", "{}"),
        (1, "b", "g", "{}"),
    ]
    assert deltas[-1].finish == "tool_calls"


def test_a_call_without_an_id_gets_one(server):
    server.misbehave(Raw((_sse(_calls('{"index":0,"function":{"name":"f"}}'), "[DONE]"),)))
    (part,) = (p for d in deltas_of(make(server.base_url)) for p in d.tool_calls)
    assert part.id.startswith("call_")


CHUNK = '{"choices":[{"delta":{"content":"grün 🌲"},"finish_reason":"stop"}]}'


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(f"data: {CHUNK}\r\n\r\ndata: [DONE]\r\n\r\n", id="CRLF"),
        pytest.param(
            "data: " + CHUNK.replace(',"fin', ',\r\ndata: "fin') + "\r\n\r\n", id="CRLF lines"
        ),
        pytest.param(f"data: {CHUNK}\r\rdata: [DONE]\r\r", id="CR"),
        pytest.param(f": ping\n\nevent: x\nid: 1\ndata:{CHUNK}\n\n: ping\n\n", id="comments"),
        pytest.param(f"data: {CHUNK}", id="neither blank line nor DONE"),
        pytest.param("\ufeffdata: " + CHUNK.replace(',"fin', ',\ndata: "fin') + "\n\n", id="lines"),
    ],
)
def test_streams_in_every_form_and_portion(server, body):
    data = body.encode()
    server.misbehave(Raw(tuple(data[i : i + 1] for i in range(len(data)))), Raw((data,)))
    model = make(server.base_url)
    for _ in range(2):
        deltas = deltas_of(model)
        assert text_of(deltas) == "grün 🌲"
        assert [delta.finish for delta in deltas if delta.finish] == ["stop"]


def test_a_server_that_does_not_stream(server):
    choice = b'{"message":{"content":"all of it"},"finish_reason":"length"}'
    usage = b'{"prompt_tokens":2,"completion_tokens":3}'
    whole = b'{"choices":[%b],"usage":%b}' % (choice, usage)
    server.misbehave(Raw((whole,), "application/json"))
    deltas = deltas_of(make(server.base_url))
    assert (text_of(deltas), deltas[-1].finish) == ("all of it", "length")
    assert deltas[-1].usage == TokenUsage(2, 3)


def test_thinking_is_no_text_but_a_sign_of_life(server):
    server.say(Answer("Yes", reasoning="Hmm, well"))
    deltas = deltas_of(make(server.base_url))
    assert text_of(deltas) == "Yes"
    assert sum(not (d.text or d.finish or d.usage) for d in deltas) == 2  # the role, the thinking


def test_tokens_that_were_cached_are_told(server):
    usage = {
        "prompt_tokens": 9,
        "completion_tokens": 1,
        "prompt_tokens_details": {"cached_tokens": 8},
    }
    server.say(Answer("x", usage=usage))
    assert deltas_of(make(server.base_url))[-1].usage == TokenUsage(9, 1, 8)


def test_an_open_end_is_not_waited_for(server, monkeypatch):
    monkeypatch.setattr("cloxy_plugins.llm_http.model.END_SECONDS", 0.05)
    server.say(Answer("all of it", hold_end=True))
    deltas = deltas_of(make(server.base_url))
    assert (text_of(deltas), deltas[-1].finish) == ("all of it", "stop")
    assert server.left.wait(5)


@pytest.mark.parametrize(
    ("trouble", "error", "words"),
    [
        (Fail(401, "no such key"), ModelError, "CLOXY_LLM_API_KEY"),
        (Fail(429, "slow down"), ModelBusyError, "slow down"),
        (Fail(503, body="Loading model"), ModelBusyError, "Loading model"),
        (Fail(500, body="<html>boom</html>"), ModelError, "status 500"),
        (Fail(404, body="404 page not found"), ModelError, "CLOXY_LLM_BASE_URL"),
        (Fail(404, body={"error": "model 'x' not found"}), ModelMissingError, "stub-model, spare"),
        (Fail(400, "maximum context length is 4096 tokens"), ContextTooLongError, "4096"),
        (
            Fail(
                400,
                body={
                    "error": {
                        "code": 400,
                        "type": "exceed_context_size_error",
                        "message": "request (9000 tokens) exceeds the available size (4096)",
                    }
                },
            ),
            ContextTooLongError,
            "9000",
        ),
        (Fail(422, body={"detail": [{"msg": "bad seed"}]}), UnsupportedModelError, "bad seed"),
        (Redirect("http://169.254.169.254/latest"), ModelError, "169.254.169.254"),
        (CloseEarly(None), ModelError, "broke off"),
        (CloseEarly(2), ModelError, "broke off"),
        (Reset(), ModelError, "broke off"),
        (Raw((b"data: garbage\n\n",)), ModelError, "garbage"),
        (Raw((b"data: " + b"[" * 5_000 + b"\n\n",)), ModelError, "no JSON"),
        (Fail(500, body="[" * 5_000), ModelError, "status 500"),
        (Raw((b"just some text",)), ModelError, "broke off"),
        (Raw((b"data: [1, 2]\n\n",)), ModelError, "no chunk"),
        (Raw((b"\x00\xff" * 50,)), ModelError, "broke off"),
        (Raw((b"data: " + b"x" * 5_000_000,)), ModelError, "without an end"),
        (Raw((_sse('{"error":{"message":"out of memory"}}'),)), ModelError, "out of memory"),
        (Raw((_sse('{"error":"out of memory"}'),)), ModelError, "out of memory"),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else None,
)
def test_trouble_is_told_in_words(trouble, error, words):
    with StubModelServer(("stub-model", "spare")) as server:
        server.misbehave(trouble)
        model = make(server.base_url)
        with pytest.raises(error) as raised:
            deltas_of(model)
        assert type(raised.value) is error
        assert words in str(raised.value)
        assert "\n" not in raised.value.message
        assert text_of(deltas_of(model, ask("and again"))) == "and again"


@pytest.mark.parametrize(
    "choice",
    [
        '{"delta":5}',
        '{"delta":{"content":5,"tool_calls":5},"finish_reason":5}',
        '{"delta":{"tool_calls":[5,{"function":5},{"index":-1},{"index":"x","id":5}]}}',
        '{"delta":{"content":[5,{"text":5},{"text":"ok"}]}}',
    ],
)
def test_wrong_types_break_nothing(server, choice):
    usage = '{"choices":[],"usage":{"prompt_tokens":"many","completion_tokens":null}}'
    server.misbehave(Raw((_sse(f'{{"choices":[{choice}]}}', usage, "[DONE]"),)))
    deltas = deltas_of(make(server.base_url))
    assert deltas[-1].finish in {"stop", "tool_calls"}
    assert not any(delta.usage for delta in deltas)


@pytest.mark.parametrize("trouble", [Hang(), HangMidStream(2)])
def test_a_server_that_falls_silent(server, trouble):
    server.misbehave(trouble)
    with pytest.raises(ModelTimeoutError, match="CLOXY_LLM_HTTP_SILENT_SECONDS"):
        deltas_of(make(server.base_url, silent_seconds=0.2))


def test_nobody_is_there():
    with StubModelServer() as server:
        base_url = server.base_url
    with pytest.raises(ModelError, match=r"does not answer.*start it, or check CLOXY_LLM_BASE_URL"):
        deltas_of(make(base_url))


def test_who_goes_away_ends_the_work(server):
    server.misbehave(HangMidStream(3))

    async def leave():
        deltas = make(server.base_url).stream(ask("one two three"))
        async for delta in deltas:
            if delta.text:
                break
        await deltas.aclose()

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        asyncio.run(leave())
        gc.collect()
    assert server.left.wait(5)


def test_a_cancelled_task_ends_the_work(server):
    server.misbehave(Hang())

    async def leave():
        task = asyncio.create_task(anext(make(server.base_url).stream(ask())))
        await asyncio.to_thread(server.holding.wait, 5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(leave())
    assert server.left.wait(5)


def test_tools_and_forms_that_are_refused():
    with StubModelServer(refuse_tools=True, refuse_format=True) as server:
        model = make(server.base_url)
        with pytest.raises(UnsupportedModelError, match="takes no tools"):
            deltas_of(model, ask(tools=(TOOL,)))
        with pytest.raises(UnsupportedModelError, match="takes no form"):
            deltas_of(model, ask(response_format=ResponseFormat()))
        assert text_of(deltas_of(model)) == "hello there"


TWICE = ChatRequest(
    messages=(ChatMessage("user", "remember: May"), ChatMessage("user", "when?")),
    model="stub-model",
)
ONCE = [{"role": "user", "content": "remember: May\n\nwhen?"}]


def test_a_template_that_wants_turns_by_turns_is_learned():
    with StubModelServer(alternates=True) as server:
        model = make(server.base_url)
        assert text_of(deltas_of(model, TWICE)) == "remember: May\n\nwhen?"
        assert [len(chat["messages"]) for chat in server.chats] == [2, 1]
        assert server.chats[-1]["messages"] == ONCE
        deltas_of(model, TWICE)
        assert len(server.chats) == 3, "it was learned"
        (info,) = asyncio.run(model.models())
        assert info.alternates


def test_a_template_that_refuses_within_the_stream(server):
    refused = '{"error":{"message":"Conversation roles must alternate user/assistant"}}'
    server.misbehave(Raw((_sse(refused),)))
    assert text_of(deltas_of(make(server.base_url), TWICE)) == "remember: May\n\nwhen?"


def test_a_refusal_that_nothing_can_be_done_about_is_not_repeated(server):
    server.always(Fail(400, "roles must alternate"))
    with pytest.raises(UnsupportedModelError, match="must alternate"):
        deltas_of(make(server.base_url))
    assert len(server.chats) == 1


def test_a_server_without_stream_options(server):
    server.misbehave(Fail(400, "Unknown field: stream_options"))
    assert text_of(deltas_of(make(server.base_url))) == "hello there"
    assert ["stream_options" in chat for chat in server.chats] == [True, False]


def test_the_key_is_sent_and_never_told():
    with StubModelServer(key="s3cret") as server:
        assert text_of(deltas_of(make(server.base_url, api_key="s3cret"))) == "hello there"
        with pytest.raises(ModelError, match="CLOXY_LLM_API_KEY"):
            deltas_of(make(server.base_url, api_key="wr0ng"))


@pytest.mark.parametrize("trouble", [Fail(401, "bad key s3cret"), Fail(500, "have s3cret")])
def test_a_server_that_tells_the_key_again(server, trouble):
    server.misbehave(trouble)
    model = make(server.base_url, api_key="s3cret")
    with pytest.raises(ModelError) as raised:
        deltas_of(model)
    assert "***" in str(raised.value)
    assert "s3cret" not in str(raised.value)
    assert "s3cret" not in repr(vars(model))


def test_a_model_of_the_request_goes_before_the_one_that_is_set():
    with StubModelServer((Model("a"), Model("b"))) as server:
        deltas_of(make(server.base_url, model="a"), ask(model="b"))
        deltas_of(make(server.base_url, model="a"))
        deltas_of(make(server.base_url))
        assert [chat["model"] for chat in server.chats] == ["b", "a", "a"]
