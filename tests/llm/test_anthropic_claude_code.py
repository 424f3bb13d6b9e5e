"""Requests as Claude Code sends them, against the real endpoints on a real server."""

import json
import urllib.error
import urllib.request
from dataclasses import replace

import pytest
from llm.anthropic_world import MODEL, Memory, call, events, memory_hit, say, without_tools
from llm.claude_code_requests import (
    ALL,
    COUNT,
    FIRST,
    HEADERS,
    LOOP,
    PATH,
    QUESTION,
    QUOTA,
    REMINDER,
    TITLE,
    TOOLS,
    WEB_SEARCH,
)
from llm.test_anthropic_client import served

BIG = replace(MODEL, context_tokens=131_072)
SMALL = replace(MODEL, context_tokens=8192)


def post(url, body, path=PATH):
    """Status and text of an answer."""
    request = urllib.request.Request(
        url + path, data=json.dumps(body).encode(), headers={**HEADERS, "x-api-key": "sk-local"}
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def asked(body, *scripts, path=PATH, **world):
    world = {"model": BIG, **world}
    with served(*scripts, **world) as (url, router):
        return *post(url, body, path), router


@pytest.mark.parametrize("name", ALL)
def test_every_shape_is_answered(name):
    status, text, router = asked(ALL[name], say("{}"))
    assert status == 200, text
    if ALL[name].get("stream"):
        assert events(text)[-1][0] == "message_stop"
    else:
        assert json.loads(text)["content"] == [{"type": "text", "text": "{}"}]
    assert len(router.asked) == 1


def test_the_first_question():
    _, _, router = asked(FIRST, say("It slices."))
    (request,) = router.asked
    system, turn = request.messages
    assert system.text.startswith("You work in a terminal")
    assert "billing-header" not in system.text
    assert turn.text == f"{REMINDER}\n\n{QUESTION}"
    assert [tool.name for tool in request.tools] == [tool["name"] for tool in TOOLS]
    assert request.max_tokens == 32_000


def test_a_loop_of_tools():
    _, _, router = asked(LOOP, say("x"))
    (request,) = router.asked
    roles = [message.role for message in request.messages]
    assert roles == [
        "system", "user", "assistant", "tool", "tool", "user", "assistant", "tool",
    ]  # fmt: skip
    assert request.messages[2].text == "I read the importer."
    assert request.messages[7].text.startswith("Error: Exit code 1")
    assert "Let me look" not in str(request.messages)


def test_a_loop_of_tools_is_given_the_memory_of_its_question():
    memory = Memory((memory_hit(7, "the importer was written by the zebra team"),))
    _, first, _ = asked({**FIRST, "memory": True}, say("x"), memory=memory)
    _, text, router = asked({**LOOP, "memory": True}, say("x"), memory=memory)
    assert memory.asked == [QUESTION] * 2
    block, question = router.asked[0].messages[1:3]
    assert "zebra team" in block.text and question.text.endswith(QUESTION)
    assert dict(events(text))["message_delta"]["cloxy_meta"]["memory"] == [7]
    assert dict(events(first))["message_delta"]["cloxy_meta"]["memory"] == [7]


def test_a_call_of_bash():
    script = say(call(0, "call_9", "Bash", '{"command": "ls"}'), finish="tool_calls")
    _, text, _ = asked(FIRST, script)
    found = events(text)
    assert [name for name, _ in found][:3] == ["message_start", "content_block_start", "ping"]
    start = found[1][1]["content_block"]
    assert (start["type"], start["name"], start["input"]) == ("tool_use", "Bash", {})
    assert json.loads(found[3][1]["delta"]["partial_json"]) == {"command": "ls"}
    assert dict(found)["message_delta"]["delta"]["stop_reason"] == "tool_use"


def test_the_probe_of_one_token():
    _, text, router = asked(QUOTA, say("q", finish="length"))
    assert json.loads(text)["stop_reason"] == "max_tokens"
    assert router.asked[0].max_tokens == 1


def test_a_title_as_json():
    _, _, router = asked(TITLE, say("{}"))
    assert router.asked[0].response_format.schema["required"] == ["title"]
    assert router.asked[0].tools == ()


def test_a_web_search_is_refused_and_not_made_up():
    status, text, router = asked(WEB_SEARCH)
    assert status == 400
    assert "web_search_20250305" in json.loads(text)["error"]["message"]
    assert not router.asked


def test_counting_with_all_tools():
    status, text, router = asked(COUNT, path="/v1/messages/count_tokens?beta=true", tokens=15_000)
    assert (status, json.loads(text)) == (200, {"input_tokens": 15_000})
    assert len(router.counted[0].tools) == len(TOOLS)


def one_error(status, text):
    body = json.loads(text)
    assert status == 400
    assert (body["type"], body["error"]["type"]) == ("error", "invalid_request_error")
    return body["error"]


def test_a_model_without_tools_says_so_at_once():
    status, text, router = asked(FIRST, model=without_tools(BIG))
    error = one_error(status, text)
    assert "tiny" in error["message"] and "tools" in error["message"]
    assert "cloxy init" in error["hint"]
    assert not router.asked


def test_a_context_that_is_too_small_says_so_at_once():
    status, text, router = asked(FIRST, model=SMALL, tokens=18_500)
    error = one_error(status, text)
    assert "8192" in error["message"] and "18500" in error["message"] and "tiny" in error["message"]
    assert "context_tokens" in error["hint"] and "cloxy init" in error["hint"]
    assert not router.asked


def test_a_conversation_that_outgrew_the_context_is_told_in_words_that_start_its_summary():
    tokens = iter([30_000, 6_000])
    status, text, _ = asked(LOOP, model=SMALL, tokens=lambda _request: next(tokens))
    assert one_error(status, text)["message"].startswith(
        "prompt is too long: 30000 tokens > 7936 maximum"
    )
