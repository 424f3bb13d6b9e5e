"""Requests of the Messages API: tools, limits, and what is left aside."""

import json

import pytest
from llm.anthropic_world import asked_body

from cloxy_hookspecs import InputError, ToolChoice
from cloxy_plugins.model_api.anthropic_request import read_request
from cloxy_plugins.model_api.fields import FieldError

READ = {
    "name": "Read",
    "description": "Reads a file",
    "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}},
}
SEARCH = {"type": "web_search_20250305", "name": "web_search", "max_uses": 8}


def read(counting=False, **changes):
    return read_request(json.dumps(asked_body(**changes)).encode(), counting=counting)


def refused(**changes):
    with pytest.raises(FieldError) as caught:
        read(**changes)
    return caught.value


def test_the_smallest_request():
    found = read()
    assert (found.model, found.stream, found.stops) == ("claude-sonnet-5-5", False, ())
    assert found.chat.max_tokens == 64
    assert found.chat.messages[0].text == "Hi"
    assert found.chat.stop == ()


def test_sampling_and_stops():
    found = read(temperature=1, top_p=0.9, top_k=40, stop_sequences=["END", "\n"], stream=True)
    assert (found.chat.temperature, found.chat.top_p) == (1.0, 0.9)
    assert found.stops == ("END", "\n")
    assert found.stream


def test_what_steers_other_servers_is_left_aside():
    plain = read()
    found = read(
        thinking={"type": "adaptive"},
        metadata={"user_id": "u"},
        context_management={"edits": [{"type": "clear_tool_uses_20250919"}]},
        output_config={"effort": "high"},
        service_tier="auto",
        betas=["x"],
        container=None,
        cache_control={"type": "ephemeral"},
        something_new={"a": [1]},
    )
    assert found.chat == plain.chat


def test_tools():
    tools = [READ, {**READ, "type": "custom", "name": "Write", "cache_control": {}}]
    found = read(tools=tools)
    assert [tool.name for tool in found.chat.tools] == ["Read", "Write"]
    assert found.chat.tools[0].parameters == READ["input_schema"]
    assert found.chat.tools[0].description == "Reads a file"
    assert found.chat.tool_choice == ToolChoice("auto")


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"type": "auto"}, ToolChoice("auto")),
        ({"type": "any"}, ToolChoice("required")),
        ({"type": "none"}, ToolChoice("none")),
        ({"type": "tool", "name": "Read"}, ToolChoice("named", "Read")),
        ({"type": "auto", "disable_parallel_tool_use": True}, ToolChoice("auto", None, False)),
        ({"type": "any", "disable_parallel_tool_use": False}, ToolChoice("required", None, True)),
    ],
)
def test_tool_choice(given, wanted):
    assert read(tools=[READ], tool_choice=given).chat.tool_choice == wanted


def test_a_tool_of_anthropics_servers_is_left_out_among_others():
    found = read(tools=[SEARCH, READ, {"type": "mcp_toolset", "mcp_server_name": "x"}])
    assert [tool.name for tool in found.chat.tools] == ["Read"]


def test_a_tool_of_anthropics_servers_is_refused_where_the_answer_would_be_made_up():
    error = refused(tools=[SEARCH])
    assert error.param == "tools"
    assert "web_search_20250305" in error.message
    assert error.hint
    forced = {"type": "tool", "name": "web_search"}
    assert refused(tools=[SEARCH, READ], tool_choice=forced).param == "tools"


@pytest.mark.parametrize(
    ("changes", "param"),
    [
        ({"model": None}, "model"),
        ({"model": 3}, "model"),
        ({"max_tokens": None}, "max_tokens"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_tokens": True}, "max_tokens"),
        ({"max_tokens": "5"}, "max_tokens"),
        ({"messages": None}, "messages"),
        ({"messages": "x"}, "messages"),
        ({"temperature": 3}, "temperature"),
        ({"top_p": "a"}, "top_p"),
        ({"stream": "yes"}, "stream"),
        ({"stop_sequences": "x"}, "stop_sequences"),
        ({"stop_sequences": ["a", ""]}, "stop_sequences.1"),
        ({"stop_sequences": [3]}, "stop_sequences.0"),
        ({"tools": {}}, "tools"),
        ({"tools": ["a"]}, "tools.0"),
        ({"tools": [{"name": "x"}]}, "tools.0.input_schema"),
        ({"tools": [{"input_schema": {}}]}, "tools.0.name"),
        ({"tools": [{**READ, "name": " "}]}, "tools.0.name"),
        ({"tools": [{**READ, "input_schema": []}]}, "tools.0.input_schema"),
        ({"tools": [READ, READ]}, "tools"),
        ({"tools": [{"type": "bash_20250124", "name": "bash"}]}, "tools.0.type"),
        ({"tool_choice": {"type": "any"}}, "tool_choice"),
        ({"tools": [READ], "tool_choice": {"type": "tool"}}, "tool_choice.name"),
        ({"tools": [READ], "tool_choice": {"type": "tool", "name": "x"}}, "tool_choice.name"),
        ({"tools": [READ], "tool_choice": {"type": "maybe"}}, "tool_choice.type"),
        ({"tools": [READ], "tool_choice": "auto"}, "tool_choice"),
        ({"output_config": {"format": {"type": "xml"}}}, "output_config.format.type"),
        ({"output_config": {"format": {"type": "json_schema"}}}, "output_config.format.schema"),
        ({"thinking": "much"}, "thinking"),
        ({"metadata": []}, "metadata"),
        ({"thread": {"type": "create"}}, "thread"),
        ({"compaction": {"type": "x"}}, "compaction"),
    ],
)
def test_wrong_fields_are_told_by_name(changes, param):
    error = refused(**changes)
    assert error.param == param
    assert error.message.startswith(f"{param}: ")
    assert error.http_status == 400


def test_the_form_of_an_answer():
    schema = {"type": "object"}
    form = {"type": "json_schema", "schema": schema}
    assert read(output_config={"format": form}).chat.response_format.schema == schema
    assert read(output_format=form).chat.response_format.schema == schema
    assert read(output_config={"effort": "low"}).chat.response_format is None


def test_counting_needs_no_length():
    assert read(counting=True, max_tokens=None).chat.max_tokens == 1


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"\xff", b'"x"', b"null", b'{"a": NaN}'])
def test_what_is_no_object(raw):
    with pytest.raises(InputError):
        read_request(raw)


def test_a_body_that_is_nested_too_deeply():
    deep = b'{"a":' * 900 + b"1" + b"}" * 900
    whole = json.dumps(asked_body()).encode()[:-1] + b', "x": ' + deep + b"}"
    with pytest.raises(InputError):
        read_request(whole.replace(b'{"a":' * 900, b'{"a":' * 100_000))
    try:
        read_request(whole)
    except InputError as error:
        assert "nested" in error.message or "JSON" in error.message


def test_half_a_surrogate_pair_is_mended():
    raw = json.dumps(asked_body(messages=[{"role": "user", "content": "a\ud83d b"}])).encode()
    assert read_request(raw).chat.messages[0].text.encode()


@pytest.mark.parametrize(
    ("field", "items"),
    [
        ("tools", [{**READ, "name": f"f{number}"} for number in range(2_001)]),
        ("messages", [{"role": "user", "content": "a"}] * 20_001),
        ("stop_sequences", [f"stop {number}" for number in range(65)]),
    ],
)
def test_what_is_longer_than_any_client_sends_is_refused(field, items):
    error = refused(**{field: items})
    assert error.param == field
    assert "at most" in error.message
    read(**{field: items[:-1]})
