"""What the chat endpoint takes, and what it refuses, naming the field."""

import pytest
from llm.openai_kit import MODEL, Api, ScriptedRouter, said

from cloxy_core.testing.harness import App
from cloxy_hookspecs import (
    ChatMessage,
    InputError,
    ModelInfo,
    ModelMissingError,
    ToolCall,
    UnsupportedModelError,
)
from cloxy_plugins.model_api.openai_messages import read_messages
from cloxy_plugins.model_api.openai_request import read_completion

TOOL = {"type": "function", "function": {"name": "recall", "parameters": {"type": "object"}}}


@pytest.fixture
def api(tmp_path):
    with App(tmp_path, settings={"embed.provider": "none"}) as app:
        yield Api(app)


def user(text="hi", **fields):
    return {"messages": [{"role": "user", "content": text}], **fields}


def refused(api, body):
    """Status and error of a body that is not taken."""
    found = api.refused("/v1/chat/completions", body)
    assert api.router.requests == []
    return found


def test_roles_and_forms_of_content():
    messages = read_messages(
        [
            {"role": "developer", "content": "be brief"},
            {
                "role": "system",
                "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
            },
            {"role": "user", "content": None, "name": "ann"},
            {"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]},
            {"role": "assistant", "refusal": "never"},
            {"role": "user"},
        ]
    )
    assert messages == (
        ChatMessage("system", "be brief"),
        ChatMessage("system", "a\nb"),
        ChatMessage("user", "", name="ann"),
        ChatMessage("assistant", "no"),
        ChatMessage("assistant", "never"),
        ChatMessage("user", ""),
    )


@pytest.mark.parametrize("content", [{"content": None}, {}, {"content": ""}])
def test_turns_that_only_call_tools_keep_their_order(content):
    call = {"id": "c1", "type": "function", "function": {"name": "recall", "arguments": "{}"}}
    messages = read_messages(
        [
            {"role": "user", "content": "u"},
            {"role": "assistant", **content, "tool_calls": [call, {**call, "id": "c2"}]},
            {"role": "tool", "tool_call_id": "c2", "content": "second"},
            {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "first"}]},
        ]
    )
    assert messages[1].tool_calls == (
        ToolCall("c1", "recall", "{}"),
        ToolCall("c2", "recall", "{}"),
    )
    assert [(m.tool_call_id, m.text) for m in messages[2:]] == [("c2", "second"), ("c1", "first")]


def test_arguments_that_come_as_an_object_become_text():
    call = {"id": "c", "function": {"name": "f", "arguments": {"q": "ü"}}}
    (message,) = read_messages([{"role": "assistant", "tool_calls": [call]}])
    assert message.tool_calls == (ToolCall("c", "f", '{"q": "ü"}'),)


IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
PART = "messages[0].content[1]"


@pytest.mark.parametrize(
    ("body", "param", "word"),
    [
        ({}, "messages", "missing"),
        ({"messages": None}, "messages", "missing"),
        ({"messages": "x"}, "messages", "list"),
        ({"messages": []}, "messages", "at least one"),
        ({"messages": ["x"]}, "messages[0]", "object"),
        ({"messages": [{"content": "x"}]}, "messages[0].role", "missing"),
        ({"messages": [{"role": "narrator", "content": "x"}]}, "messages[0].role", "assistant"),
        ({"messages": [{"role": "function", "content": "x"}]}, "messages[0].role", "old form"),
        ({"messages": [{"role": "user", "content": 7}]}, "messages[0].content", "a number"),
        ({"messages": [{"role": "tool", "content": "x"}]}, "messages[0].tool_call_id", "missing"),
        (user([{"type": "text", "text": "hi"}, IMAGE]), PART, "image_url"),
        (user([{"type": "text", "text": "hi"}, {"type": "mystery"}]), PART, "mystery"),
        (user([{"type": "text", "text": "hi"}, {"text": "x"}]), f"{PART}.type", "missing"),
        (user(functions=[]), "functions", "tools"),
        (user(function_call="auto"), "function_call", "tool_choice"),
        (user(n=2), "n", "1"),
        (user(logprobs=True), "logprobs", "not told"),
        (user(modalities=["text", "audio"]), "modalities", "text"),
        (user(max_tokens="many"), "max_tokens", "a string"),
        (user(max_tokens=10**12), "max_tokens", "1 to"),
        (user(max_completion_tokens=0), "max_completion_tokens", "1"),
        (user(temperature=3), "temperature", "2"),
        (user(temperature=True), "temperature", "boolean"),
        (user(top_p="x"), "top_p", "number"),
        (user(stop=[1]), "stop[0]", "string"),
        (user(stop=5), "stop", "string"),
        (user(seed=1.5), "seed", "whole"),
        (user(stream="yes"), "stream", "true or false"),
        (user(stream_options={"include_usage": 1}), "stream_options.include_usage", "true"),
        (user(model=5), "model", "string"),
        (user(tools={}), "tools", "list"),
        (user(tools=[{"type": "web_search"}]), "tools[0].type", "web_search"),
        (user(tools=[TOOL, TOOL]), "tools[1].function.name", "same name"),
        (user(tool_choice="required"), "tool_choice", "no `tools`"),
        (user(tools=[TOOL], tool_choice="always"), "tool_choice", "required"),
        (
            user(tools=[TOOL], tool_choice={"type": "function", "function": {"name": "x"}}),
            "tool_choice.function.name",
            "none of",
        ),
        (user(response_format={"type": "xml"}), "response_format.type", "json_schema"),
        (user(response_format={"type": "json_schema"}), "response_format.json_schema", "object"),
        (user(memory="yes"), "memory", "true or false"),
        (user(memory_top_k=0), "memory_top_k", "1 to 20"),
        (user(memory_top_k=21), "memory_top_k", "1 to 20"),
        (user(memory_tokens=1), "memory_tokens", "50"),
        (user(memory_project=[]), "memory_project", "string"),
        (user(memory_store=1), "memory_store", "true or false"),
        (user(memory_session="a\nb"), "memory_session", "control"),
    ],
)
def test_what_cannot_be_used_is_named(api, body, param, word):
    status, error = refused(api, body)
    assert (status, error["type"], error["param"]) == (400, "invalid_request_error", param)
    assert word in error["message"] + (error["hint"] or "")


DEEP = b'{"messages": ' + b"[" * 900 + b"]" * 900 + b"}"


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff", b'{"a": NaN}', DEEP, b"[" * 100_000])
def test_a_body_that_is_no_object_is_refused(api, body):
    with pytest.raises(InputError) as refusal:
        api.app.do(api.ask("/v1/chat/completions", body))
    assert refusal.value.http_status == 400


def test_all_fields_reach_the_model(api):
    api.chat(
        "hi",
        model="whatever",
        max_completion_tokens=7,
        max_tokens=9,
        temperature=0,
        top_p=0.5,
        stop="END",
        seed=-3,
        tools=[TOOL],
        tool_choice={"type": "function", "function": {"name": "recall"}},
        parallel_tool_calls=False,
        response_format={"type": "json_schema", "json_schema": {"name": "n", "schema": {"a": 1}}},
    )
    (request,) = api.router.requests
    assert (request.model, request.max_tokens, request.temperature) == ("tiny-1", 7, 0)
    assert (request.top_p, request.stop, request.seed) == (0.5, ("END",), -3)
    assert [tool.name for tool in request.tools] == ["recall"]
    choice = request.tool_choice
    assert (choice.mode, choice.name, choice.parallel) == ("named", "recall", False)
    assert (request.response_format.name, request.response_format.schema) == ("n", {"a": 1})


def test_defaults_and_what_is_passed_over(api):
    api.chat(
        "hi", store=True, user="u", reasoning_effort="low", mystery={"a": 1}, stop=["", "x", "x"]
    )
    (request,) = api.router.requests
    assert (request.max_tokens, request.temperature, request.stop) == (512, None, ("x",))
    assert (request.tools, request.response_format) == ((), None)
    assert api.keeper.conversations == []


def test_plain_forms_ask_for_nothing():
    completion = read_completion(user(response_format={"type": "text"}, tool_choice="none"))
    assert completion.request.response_format is None
    assert completion.request.tool_choice.mode == "none"


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"tools": [TOOL]}, "tools"),
        ({"response_format": {"type": "json_object"}}, "response_format"),
    ],
)
def test_what_the_model_cannot_do_is_said_before_it_is_asked(tmp_path, fields, word):
    weak = ModelInfo(id="weak", backend="scripted")
    with App(tmp_path, settings={"embed.provider": "none"}) as app:
        api = Api(app, ScriptedRouter(weak))
        with pytest.raises(UnsupportedModelError) as refusal:
            api.chat("hi", **fields)
        assert "weak" in refusal.value.message and word in refusal.value.hint
        assert api.router.requests == []
        # Tools that may not be called ask for nothing.
        if "tools" in fields:
            api.chat("hi", **fields, tool_choice="none")


@pytest.mark.parametrize(
    ("name", "means"),
    [
        (None, "tiny-1"),
        ("unknown", "tiny-1"),
        ("big", "big"),
        ("gpt-4o", "big"),
        ("gpt-4o-mini", "tiny-1"),
        ("claude-haiku", "big"),
    ],
)
def test_names_of_models(tmp_path, name, means):
    aliases = {"gpt-*": "big", "gpt-4o-mini": "tiny-1", "c*": "tiny-1", "claude-*": "big"}
    with App(tmp_path, settings={"embed.provider": "none"}) as app:
        router = ScriptedRouter(MODEL, ModelInfo(id="big", backend="scripted"))
        answer = Api(app, router, model_api__aliases=aliases).chat("hi", model=name)
    assert answer["model"] == means
    assert router.requests[0].model == means


def test_without_a_model_it_says_what_to_do(tmp_path):
    with App(tmp_path, settings={"embed.provider": "none"}) as app:
        router = ScriptedRouter()
        router.known.clear()
        with pytest.raises(ModelMissingError) as refusal:
            Api(app, router).chat("hi")
        assert refusal.value.http_status == 503
        assert "cloxy init" in refusal.value.hint


RECORDED = {
    "continue": {
        "messages": [
            {"role": "system", "content": "You are an expert coder."},
            {"role": "user", "content": [{"type": "text", "text": "explain this"}]},
        ],
        "model": "AUTODETECT",
        "max_tokens": 4096,
        "stream": True,
        "stream_options": {"include_usage": True},
        "stop": ["<|im_end|>", "<|endoftext|>", "a", "b", "c"],
    },
    "cline": {
        "model": "qwen3-coder",
        "messages": [
            {"role": "system", "content": "You are Cline."},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "<task>\nfix it\n</task>"},
                    {
                        "type": "text",
                        "text": "<environment_details>\n# Time\n</environment_details>",
                    },
                ],
            },
        ],
        "temperature": 0,
        "stream": True,
        "stream_options": {"include_usage": True},
    },
    "langchain": {
        "messages": [
            {"role": "user", "content": "weather?"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "type": "function",
                        "id": "call_1",
                        "function": {"name": "recall", "arguments": '{"q": "weather"}'},
                    }
                ],
            },
            {"role": "tool", "content": "rain", "tool_call_id": "call_1"},
        ],
        "model": "gpt-4o-mini",
        "n": 1,
        "temperature": 0.7,
        "stream": False,
        "tools": [
            {
                "type": "function",
                "function": {"name": "recall", "description": "d", "parameters": {}},
            }
        ],
        "parallel_tool_calls": False,
    },
    "vercel": {
        "model": "local",
        "messages": [
            {"role": "developer", "content": "Answer in one word."},
            {"role": "user", "content": [{"type": "text", "text": "capital of France"}]},
            {"role": "assistant", "content": "", "tool_calls": []},
            {"role": "user", "content": "well?"},
        ],
        "max_completion_tokens": 100,
        "tool_choice": "auto",
        "tools": None,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "response", "strict": True, "schema": {"type": "object"}},
        },
        "logit_bias": None,
        "reasoning_effort": None,
        "prompt_cache_key": "k",
        "stream": True,
    },
}


@pytest.mark.parametrize("client", sorted(RECORDED))
def test_requests_as_clients_shape_them(api, client):
    body = RECORDED[client]
    api.router.scripts.append(said("fine"))
    if body["stream"]:
        events = api.events(*body["messages"], **{k: v for k, v in body.items() if k != "messages"})
        assert events.endswith("data: [DONE]\n\n") and '"content":"fine"' in events
    else:
        answer = api.answer("/v1/chat/completions", body)
        assert answer["choices"][0]["message"]["content"] == "fine"


def test_what_is_longer_than_any_client_sends_is_refused(api):
    tools = [{**TOOL, "function": {"name": f"f{number}"}} for number in range(2_001)]
    turns = [{"role": "user", "content": "a"}] * 20_001
    for body, field in ((user(tools=tools), "tools"), ({"messages": turns}, "messages")):
        status, error = refused(api, body)
        assert (status, error["param"]) == (400, field)
        assert "at most" in error["message"]
    tools[1_999] = tools[0]
    _, error = refused(api, user(tools=tools[:2_000]))
    assert error["param"] == "tools[1999].function.name"
