"""What is seen of language models: records, status, the common error body, the kit's fake."""

import pytest
from llm import core_fake_plugin

from cloxy_core.cli.status_report import StatusReport
from cloxy_core.cli.status_text import status_lines
from cloxy_core.kernel.records import record_fault
from cloxy_core.testing.conformance import LLMConformance
from cloxy_core.testing.fakes import FakeLLM
from cloxy_hookspecs import (
    ChatMessage,
    ChatRequest,
    HostedModelProvider,
    LLMProvider,
    LLMRouter,
    ToolSpec,
    UnsupportedModelError,
    hookimpl,
)
from cloxy_hookspecs.error_bodies import body_of, error_type
from cloxy_hookspecs.seats import LLMS

GOOD = {"name": "good", "summary": "Runs", "format": "gguf", "target": "a.b:c"}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, ""),
        ({"target": "a.b"}, "target"),
        ({"target": None}, "target"),
        ({"format": "onnx"}, "format"),
        ({"modules": "llama_cpp"}, "modules"),
        ({"settings": ("x",)}, "settings"),
        ({"available": None}, "available"),
    ],
)
def test_a_record_of_a_library_is_looked_at(changes, words):
    record = HostedModelProvider(**{**GOOD, **changes})
    fault = record_fault(LLMS, record, "mine", first_party=False)
    assert (fault == "") is (words == "")
    assert fault.startswith(words)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "invalid_request_error"),
        (401, "authentication_error"),
        (403, "permission_error"),
        (404, "not_found_error"),
        (409, "invalid_request_error"),
        (413, "request_too_large"),
        (422, "invalid_request_error"),
        (429, "rate_limit_error"),
        (500, "api_error"),
        (502, "api_error"),
        (503, "overloaded_error"),
        (504, "timeout_error"),
        (507, "api_error"),
    ],
)
def test_one_body_for_every_client(status, kind):
    assert error_type(status) == kind
    assert body_of(status, "code", "message", None) == {
        "type": "error",
        "error": {
            "type": kind,
            "code": "code",
            "message": "message",
            "hint": None,
            "param": None,
        },
        "detail": "message",
    }


class With:
    def __init__(self, llm):
        self.llm = llm

    @hookimpl
    def cloxy_llms(self):
        yield LLMProvider(name="fake", summary="Fake", create=lambda context: self.llm)


QUIET = {"embed.provider": "none"}


def told(app):
    report = app.do(app.engine.health.report())
    lines = status_lines(StatusReport("http://x", report, {}, {}, {}))
    return report, "\n".join(lines)


def test_status_tells_who_answers(cloxy_app):
    llm = FakeLLM("it is in crate 17", model="tiny")
    app = cloxy_app(plugins={"fake": With(llm)}, settings=QUIET)
    router = app.engine.services.service(LLMRouter)
    answer = app.do(router.complete(ChatRequest((ChatMessage("user", "where?"),))))
    assert answer.text == "it is in crate 17"
    assert llm.asked[0].messages[0].text == "where?"
    report, text = told(app)
    assert report["llm"]["name"] == "fake"
    assert report["llm"]["remote"] is False
    assert "in this process" in text
    assert "LEAVE" not in text
    assert not [each for each in report["warnings"] if "machine" in each]


def test_status_is_loud_when_conversations_leave(cloxy_app):
    app = cloxy_app(plugins={"fake": With(FakeLLM(remote=True))}, settings=QUIET)
    router = app.engine.services.service(LLMRouter)
    app.do(router.complete(ChatRequest((ChatMessage("user", "where?"),))))
    report, text = told(app)
    assert (report["llm"]["remote"], report["llm"]["sent_away"]) == (True, 1)
    (warning,) = [each for each in report["warnings"] if "leave this machine" in each]
    assert "1 did" in warning
    assert "CHATS LEAVE" in text
    assert warning in text


def test_status_of_a_choice_that_cannot_be_used_says_why(cloxy_app, tmp_path):
    config = tmp_path / "model.json"
    config.write_text("{")
    app = cloxy_app(settings={**QUIET, "llm.config": str(config)})
    report, text = told(app)
    assert report["status"] == "OK"
    assert str(config) in report["llm"]["trouble"]
    assert "chat model" in text


def test_without_a_model_nothing_is_said(cloxy_app):
    report, text = told(cloxy_app(settings=QUIET))
    assert report["llm"] is None
    assert "chat model" not in text


async def all_of(deltas):
    return [delta async for delta in deltas]


def test_the_fake_refuses_tools(cloxy_app):
    asked = ChatRequest((ChatMessage("user", "?"),), tools=(ToolSpec("f", "", {}),))
    app = cloxy_app(settings=QUIET)
    with pytest.raises(UnsupportedModelError):
        app.do(all_of(FakeLLM().stream(asked)))


class TestFake(LLMConformance):
    @pytest.fixture
    def provider(self):
        (record,) = core_fake_plugin.cloxy_llms()
        return record

    @pytest.fixture
    def plugins(self):
        return {"fake": core_fake_plugin}
