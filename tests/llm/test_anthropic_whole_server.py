"""The whole of Cloxy, asked with the official client of Anthropic's API."""

import json
import urllib.request
from contextlib import contextmanager
from dataclasses import replace

import anthropic
import pytest
from llm.claude_code_requests import LOOP, QUESTION
from llm.openai_kit import MODEL as SCRIPTED
from llm.openai_kit import (
    WITHOUT_VECTORS,
    ScriptedPlugin,
    ScriptedRouter,
    Wait,
    WholeServer,
    said,
)
from llm.stub_server import Answer, Call, CloseEarly, Fail, Hang, Model, StubModelServer

from cloxy_core.testing.harness import App
from cloxy_hookspecs import ChatDelta, ModelBusyError

FACT = "The zebra importer skips the last line because of a slice in splitter.py."
HI = [{"role": "user", "content": "Hi"}]
ASK = {"model": "claude-sonnet-5-5", "max_tokens": 64, "messages": HI}
READ = {
    "name": "Read",
    "description": "Reads a file",
    "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}},
}
KEY = "Zr8-unit-Kq4wXv9-mBt2"


class Cloxy(WholeServer):
    """A whole server; without a scripted model when another back-end is to answer."""

    def __init__(self, folder, router=None, key=None, **settings):
        super().__init__(folder, router, key)
        settings = {**WITHOUT_VECTORS, "llm.chat": "scripted", **settings}
        is_scripted = settings["llm.chat"] == "scripted"
        plugins = {"scripted": ScriptedPlugin(self.router)} if is_scripted else {}
        self._app = App(folder, plugins=plugins, settings=settings)


@contextmanager
def asking(folder, router=None, key=None, options=(), **settings):
    with Cloxy(folder, router, key, **settings) as server:
        given = {"api_key": "any", "max_retries": 0, "timeout": 60, **dict(options)}
        with anthropic.Anthropic(base_url=server.url, **given) as asker:
            yield asker, server


def post(server, path, body):
    data = json.dumps(body).encode()
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(server.url + path, data, headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.loads(answer.read())


def streamed(asker, **changes):
    with asker.messages.stream(**{**ASK, **changes}) as stream:
        return stream.get_final_message()


def test_a_fact_that_only_the_memory_has(tmp_path):
    router = ScriptedRouter(replace(SCRIPTED, context_tokens=131_072))
    talk = {**LOOP, "messages": LOOP["messages"][:1]}
    with asking(tmp_path, router) as (asker, server):
        (number,) = post(server, "/ingest_text", {"text": FACT})["ids"]
        found = asker.messages.create(
            **{**ASK, "messages": talk["messages"]}, extra_body={"memory": True}
        )
        _, block, question = [("", ""), *((m.role, m.text) for m in router.prompt)]
        assert found.model_extra["cloxy_meta"]["memory"] == [number]
        assert FACT in block[1] and block[0] == "user"
        assert question[1].endswith(QUESTION)
        loop = asker.messages.create(
            **{**ASK, "messages": LOOP["messages"]},
            tools=LOOP["tools"],
            extra_body={"memory": True},
        )
        assert loop.model_extra["cloxy_meta"]["memory"] == [number]
        assert [m.text for m in router.prompt[:2]] == [block[1], question[1]]
        assert [m.role for m in router.prompt[2:]] == [
            "assistant", "tool", "tool", "user", "assistant", "tool",
        ]  # fmt: skip


def test_what_was_said_is_kept_where_that_is_wanted(tmp_path):
    router = ScriptedRouter()
    router.scripts = [said("Noted, in Atlantis.")]
    talk = [{"role": "user", "content": f"Remember: {FACT}"}]
    with asking(tmp_path, router) as (asker, server):
        kept = streamed(asker, messages=talk, extra_body={"memory_store": True})
        assert "memory_note" not in kept.model_extra.get("cloxy_meta", {})
        (hit,) = post(server, "/recall", {"query": "zebra slice", "group": "passage"})["results"]
        assert [one["text"] for one in hit["passages"]] == [f"Remember: {FACT}"]
        again = streamed(
            asker, messages=[{"role": "user", "content": QUESTION}], extra_body={"memory": True}
        )
        assert "Atlantis" not in again.content[0].text
        assert FACT in router.prompt[0].text and "Atlantis" not in router.prompt[0].text


@pytest.mark.parametrize("options", [{"api_key": KEY}, {"api_key": None, "auth_token": KEY}])
def test_a_key(tmp_path, options, monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with asking(tmp_path, key=KEY, options=options) as (asker, _):
        assert asker.messages.create(**ASK).content[0].text == "Hi"
        wrong = asker.with_options(api_key="wrong", auth_token=None)
        with pytest.raises(anthropic.AuthenticationError) as caught:
            wrong.messages.create(**ASK)
    assert caught.value.type == "authentication_error"


def test_errors_of_the_whole_server(tmp_path):
    router = ScriptedRouter()
    with asking(tmp_path, router) as (asker, _):
        with pytest.raises(anthropic.BadRequestError) as caught:
            asker.messages.create(**{**ASK, "messages": [{"role": "user", "content": [{}]}]})
        assert caught.value.type == "invalid_request_error"
        assert caught.value.body["error"]["param"] == "messages.0.content.0.type"
        router.scripts = [[ModelBusyError("busy")]]
        with pytest.raises(anthropic.ServiceUnavailableError) as caught:
            asker.messages.create(**ASK)
        assert caught.value.type == "overloaded_error"
        assert caught.value.response.headers["retry-after"]
        with pytest.raises(anthropic.NotFoundError):
            asker.messages.batches.list()


def test_a_client_that_leaves_frees_the_model(tmp_path):
    router, wait = ScriptedRouter(), Wait()
    router.scripts = [[ChatDelta(text="a"), wait]]
    with asking(tmp_path, router) as (asker, _):
        with asker.messages.stream(**ASK) as stream:
            assert next(iter(stream.text_stream)) == "a"
            assert router.running == 1
        assert router.freed.wait(30)
        assert router.running == 0


def test_no_model_at_all(tmp_path):
    with asking(tmp_path, **{"llm.chat": "auto"}) as (asker, _):
        for stream in (False, True):
            with pytest.raises(anthropic.ServiceUnavailableError) as caught:
                asker.messages.create(**ASK, stream=stream)
            assert "cloxy init" in str(caught.value.body)
        with pytest.raises(anthropic.ServiceUnavailableError):
            asker.messages.count_tokens(model="x", messages=HI)
        assert list(asker.models.list()) == []


@contextmanager
def on_a_server_of_models(folder, options=(), **stub):
    with (
        StubModelServer(models=(Model("qwen", context_tokens=32_768),), **stub) as models,
        asking(
            folder,
            options=options,
            **{"llm.chat": "llm-http", "llm_http.base_url": models.base_url},
        ) as (asker, _),
    ):
        yield asker, models


def test_a_compatible_server(tmp_path):
    with on_a_server_of_models(tmp_path, kind="llamacpp") as (asker, models):
        models.say("Hello there", Answer("Let me see.", calls=(Call("Read", '{"path": "a.py"}'),)))
        first = asker.messages.create(**ASK, system="Be short.")
        assert (first.content[0].text, first.stop_reason) == ("Hello there", "end_turn")
        assert first.model_extra["cloxy_meta"]["model"] == "qwen"
        called = streamed(asker, tools=[READ])
        assert called.stop_reason == "tool_use"
        use = called.content[1]
        assert (use.name, use.input) == ("Read", {"path": "a.py"})
        models.say("Three lines.")
        result = {"type": "tool_result", "tool_use_id": use.id, "content": "1\n2\n3"}
        talk = [
            *HI,
            {"role": "assistant", "content": called.content},
            {"role": "user", "content": [result]},
        ]
        found = streamed(asker, messages=talk, tools=[READ])
        assert found.content[0].text == "Three lines."
        sent = models.chats[-1]["messages"]
        assert [turn["role"] for turn in sent] == ["user", "assistant", "tool"]
        assert sent[2]["tool_call_id"] == sent[1]["tool_calls"][0]["id"]
        assert [model.id for model in asker.models.list()] == ["qwen"]
        assert asker.messages.count_tokens(model="x", messages=HI).input_tokens > 0
        secret = {"x-api-key", "anthropic-version"}
        assert not any(secret & set(request.headers) for request in models.requests)


def test_a_compatible_server_that_fails(tmp_path):
    with on_a_server_of_models(tmp_path) as (asker, models):
        models.misbehave(Fail(500))
        with pytest.raises(anthropic.InternalServerError):
            asker.messages.create(**ASK)
        models.misbehave(CloseEarly(after=1))
        with pytest.raises(anthropic.APIStatusError) as caught:
            streamed(asker, messages=[{"role": "user", "content": "one two three"}])
        assert caught.value.type in {"overloaded_error", "api_error"}
        assert asker.messages.create(**ASK).content[0].text == "Hi"


def test_a_compatible_server_that_hangs_is_let_go(tmp_path):
    with on_a_server_of_models(tmp_path, options={"timeout": 2.0}) as (asker, models):
        asker.models.list()
        models.misbehave(Hang())
        with pytest.raises(anthropic.APITimeoutError):
            asker.messages.create(**ASK)
        assert models.left.wait(30)
