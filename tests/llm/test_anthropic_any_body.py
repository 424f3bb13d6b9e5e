"""Whatever mix of blocks comes: it is read, or refused with a 400 that names the field."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st
from llm.anthropic_world import asked_body

from cloxy_hookspecs import InputError
from cloxy_plugins.model_api.anthropic_request import read_request
from cloxy_plugins.model_api.turn_words import spoken

KINDS = (
    *("text", "tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document"),
    *("search_result", "server_tool_use", "web_search_tool_result", "mcp_tool_result"),
    *("tool_reference", "fallback", "container_upload", "mystery"),
)
MEMBERS = (
    *("text", "id", "name", "input", "content", "tool_use_id", "source", "title", "data"),
    "is_error",
)
FIELDS = (
    *("model", "messages", "max_tokens", "tools", "tool_choice", "system", "stream"),
    *("temperature", "top_p", "stop_sequences", "thinking", "metadata", "output_config"),
    *("output_format", "thread", "extra"),
)
scraps = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(("type", "text", "content", "x")), inner, max_size=3)
    ),
    max_leaves=6,
)
ids = st.sampled_from(("t1", "t2"))
words = st.sampled_from(("a", "", " ", "<system-reminder>r</system-reminder>", "\ud800", "zebra"))
text = st.builds(lambda said: {"type": "text", "text": said}, words)
use = st.builds(
    lambda name, given: {"type": "tool_use", "id": name, "name": "Read", "input": given},
    ids,
    st.dictionaries(st.text(max_size=3), scraps, max_size=2),
)


def _result(name, content, is_error):
    return {"type": "tool_result", "tool_use_id": name, "content": content, "is_error": is_error}


result = st.builds(_result, ids, words | st.lists(text, max_size=2) | scraps, st.booleans())
odd = st.fixed_dictionaries(
    {"type": st.sampled_from(KINDS)}, optional=dict.fromkeys(MEMBERS, scraps)
)
good_block = text | use | result
any_block = good_block | odd | scraps
roles = st.sampled_from(("user", "assistant"))


def message(blocks):
    content = words | st.lists(blocks, max_size=4)
    return st.builds(lambda role, said: {"role": role, "content": said}, roles, content)


def read(body):
    """The request, or None when it was refused as it should be."""
    try:
        return read_request(json.dumps(body).encode())
    except InputError as error:
        assert error.http_status == 400
        assert error.message
        return None


def check(request):
    """What every conversation keeps to."""
    open_calls, before = set(), None
    for index, turn in enumerate(request.chat.messages):
        assert turn.text.encode() is not None
        if turn.role == "system":
            assert index == 0
            continue
        if turn.role == "tool":
            assert turn.tool_call_id in open_calls
            open_calls.remove(turn.tool_call_id)
        else:
            assert not open_calls, "nothing stands between a call and its result"
            assert turn.role != before, "user and assistant take turns"
            assert turn.text or turn.tool_calls
        for one in turn.tool_calls:
            assert isinstance(json.loads(one.arguments), dict)
            open_calls.add(one.id)
        assert before is not None or turn.role == "user"
        before = turn.role
    assert not open_calls
    for index in request.humans:
        turn = request.chat.messages[index]
        assert turn.role == "user" and spoken(turn.text).strip()


@settings(max_examples=300, deadline=None)
@given(st.lists(message(good_block), max_size=6))
def test_mixes_of_good_blocks(messages):
    request = read(asked_body(messages=messages))
    if request is not None:
        check(request)


@settings(max_examples=300, deadline=None)
@given(st.lists(message(any_block) | scraps, max_size=4), scraps)
def test_mixes_of_anything(messages, system):
    body = asked_body(messages=messages)
    for given_system in ("Be short.", system):
        request = read({**body, "system": given_system})
        if request is not None:
            check(request)


tools = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("type", "name", "description", "input_schema"), scraps)
)


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.sampled_from(FIELDS), scraps | st.lists(tools, max_size=2)))
def test_fields_of_any_kind(changes):
    request = read({**asked_body(), **changes})
    if request is not None:
        check(request)
