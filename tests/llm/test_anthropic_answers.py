"""Answers of the Messages API, whole and piece by piece."""

import asyncio
import json
import re
import threading

import pytest
from llm.anthropic_world import (
    MODEL,
    WAIT,
    Door,
    Memory,
    asked_body,
    call,
    events,
    memory_hit,
    say,
)
from llm.openai_kit import HURRIED

from cloxy_hookspecs import (
    ChatDelta,
    ContextTooLongError,
    EndpointRequest,
    InputError,
    ModelBusyError,
    ModelError,
    ModelMissingError,
    TokenUsage,
)
from cloxy_plugins.model_api.anthropic_writing import BrokenCallError
from cloxy_plugins.model_api.settings import MODEL_ALIASES

READ = {"name": "Read", "input_schema": {"type": "object"}}


def run(work):
    return asyncio.run(asyncio.wait_for(work, 30))


def whole(*scripts, body=None, **changes):
    return run(Door(*scripts).ask(body, **changes))[1]


def streamed(*scripts, body=None, **changes):
    return run(Door(*scripts).stream(body, **changes))[1]


def test_a_message():
    found = whole(say("Hel", "lo", usage=TokenUsage(prompt=11, completion=3, cached=4)))
    assert re.fullmatch(r"msg_[0-9a-f]{24}", found.pop("id"))
    meta = found.pop("cloxy_meta")
    assert (meta["model"], meta["memory"], meta["left_machine"]) == ("tiny", [], False)
    assert found == {
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-5-5",
        "content": [{"type": "text", "text": "Hello"}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 7,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 4,
            "output_tokens": 3,
        },
    }


@pytest.mark.parametrize(
    ("finish", "reason"),
    [("stop", "end_turn"), ("length", "max_tokens"), ("content_filter", "refusal")],
)
def test_why_it_ended(finish, reason):
    assert whole(say("x", finish=finish))["stop_reason"] == reason


def test_which_stop_was_met_is_told():
    door = Door(say("one E", "ND two"))
    _, found = run(door.ask(stop_sequences=["STOP", "END"]))
    assert found["content"] == [{"type": "text", "text": "one "}]
    assert (found["stop_reason"], found["stop_sequence"]) == ("stop_sequence", "END")
    assert found["usage"]["output_tokens"] > 0
    assert door.router.running == 0


def test_a_stop_that_was_not_met():
    found = whole(say("one E", "N"), stop_sequences=["END"])
    assert found["content"][0]["text"] == "one EN"
    assert (found["stop_reason"], found["stop_sequence"]) == ("end_turn", None)


def test_calls():
    script = say(
        "Let me see.",
        call(0, "toolu_abc", "Read", '{"pa'),
        call(0, arguments='th": "a"}'),
        call(1, "x y", "Read", ""),
        finish="tool_calls",
    )
    found = whole(script, tools=[READ])
    first, second, third = found["content"]
    assert first == {"type": "text", "text": "Let me see."}
    assert second == {"type": "tool_use", "id": "toolu_abc", "name": "Read", "input": {"path": "a"}}
    assert third["input"] == {}
    assert re.fullmatch(r"toolu_[0-9a-f]{24}", third["id"]), "an id that clients refuse is replaced"
    assert found["stop_reason"] == "tool_use"


def test_calls_count_as_such_whatever_the_back_end_says():
    assert whole(say(call(0, "t", "Read", "{}")), tools=[READ])["stop_reason"] == "tool_use"
    assert whole(say("x", finish="tool_calls"), tools=[READ])["stop_reason"] == "end_turn"


def test_ids_of_calls_stay_unique_within_a_conversation():
    used = {"type": "tool_use", "id": "call_0", "name": "Read", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "call_0", "content": "x"}
    messages = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": [used]},
        {"role": "user", "content": [result]},
    ]
    found = whole(say(call(0, "call_0", "Read", "{}")), tools=[READ], messages=messages)
    assert found["content"][0]["id"] != "call_0"


@pytest.mark.parametrize("written", ["null", '"{}"', "  ", "{}", '"null"'])
def test_forms_of_no_arguments(written):
    assert whole(say(call(0, "t", "Read", written)), tools=[READ])["content"][0]["input"] == {}


def test_an_object_inside_a_string():
    found = whole(say(call(0, "t", "Read", '"{\\"a\\": 1}"')), tools=[READ])
    assert found["content"][0]["input"] == {"a": 1}


@pytest.mark.parametrize("written", ['{"a": ', "[1]", "3", '{"a": NaN}', "rm -rf", '"x"', '"[]"'])
def test_arguments_that_are_no_object_are_an_error_and_never_a_call(written):
    script = say("x", call(0, "t", "Read", written), finish="tool_calls")
    with pytest.raises(BrokenCallError) as caught:
        whole(script, tools=[READ])
    assert caught.value.http_status == 502
    assert "Read" in caught.value.message and written[:3] in caught.value.message
    assert caught.value.hint
    *_, (name, data) = streamed(script, tools=[READ])
    assert name == "error"
    assert data["error"]["type"] == "api_error"
    assert "Read" in data["error"]["message"]


@pytest.mark.parametrize("begun", ['{"b"', "", " "])
def test_a_call_that_was_cut_off_by_its_length_is_left_out(begun):
    calls = (call(0, "t", "Read", '{"a": 1}'), call(1, "u", "Read", begun))
    script = say("x", *calls, finish="length")
    found = whole(script, tools=[READ])
    assert [block["type"] for block in found["content"]] == ["text", "tool_use"]
    assert found["stop_reason"] == "max_tokens"


GOLDEN_TEXT = """\
event: message_start
data: {"type": "message_start", "message": {"id": "ID", "type": "message", "role": "assistant", \
"model": "claude-sonnet-5-5", "content": [], "stop_reason": null, "stop_sequence": null, "usage": \
{"input_tokens": PROMPT, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, \
"output_tokens": 0}}}

event: content_block_start
data: {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}

event: ping
data: {"type": "ping"}

event: content_block_delta
data: {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hel"}}

event: content_block_delta
data: {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": \
"l\\u00f6"}}

event: content_block_stop
data: {"type": "content_block_stop", "index": 0}

event: content_block_start
data: {"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": \
"toolu_abc", "name": "Read", "input": {}}}

event: content_block_delta
data: {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", \
"partial_json": "{\\"path\\": \\"a\\"}"}}

event: content_block_stop
data: {"type": "content_block_stop", "index": 1}

event: message_delta
data: {"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": null}, \
"usage": {"input_tokens": 11, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, \
"output_tokens": 3}, "cloxy_meta": META}

event: message_stop
data: {"type": "message_stop"}

"""


async def raw_stream(door, **changes):
    body = json.dumps(asked_body(stream=True, **changes)).encode()
    answer = await door.messages(EndpointRequest(body=body))
    return answer, b"".join([piece async for piece in answer.body]).decode()


def test_the_events_of_an_answer_to_the_letter():
    script = say("Hel", "lö", call(0, "toolu_abc", "Read", '{"path":"a"}'), finish="tool_calls")
    answer, text = run(raw_stream(Door(script), tools=[READ]))
    text = re.sub(r"msg_[0-9a-f]{24}", "ID", text)
    text = re.sub(
        r'"input_tokens": \d+, (?=.*"output_tokens": 0)', '"input_tokens": PROMPT, ', text
    )
    text = re.sub(r'("cloxy_meta": )\{.*\}(?=\}\n)', r"\1META", text)
    assert text == GOLDEN_TEXT
    assert answer.media_type == "text/event-stream"


def names(found):
    return [name for name, _ in found]


def test_the_events_of_an_answer_that_only_calls():
    script = say(call(0, "a", "Read", "{}"), call(1, "b", "Read", "{}"), finish="tool_calls")
    found = streamed(script, tools=[READ])
    block = ["content_block_start", "content_block_delta", "content_block_stop"]
    end = ["message_delta", "message_stop"]
    assert names(found) == ["message_start", block[0], "ping", *block[1:], *block, *end]
    assert [data["index"] for name, data in found if name == "content_block_stop"] == [0, 1]


def test_the_events_of_an_answer_without_words():
    found = streamed(say(usage=TokenUsage(5, 0)))
    assert names(found) == ["message_start", "message_delta", "message_stop"]
    assert found[1][1]["delta"]["stop_reason"] == "end_turn"


def test_text_after_a_call_stays_in_its_block():
    script = say("a", call(0, "t", "Read", "{}"), "b", finish="tool_calls")
    found = streamed(script, tools=[READ])
    texts = [d["delta"]["text"] for n, d in found if n.endswith("_delta") and d.get("index") == 0]
    assert texts == ["a", "b"]


def test_calls_whose_parts_are_mixed():
    script = say(
        call(0, "a", "Read", '{"n"'),
        call(1, "b", "Read", '{"n"'),
        call(0, arguments=": 0}"),
        call(1, arguments=": 1}"),
        finish="tool_calls",
    )
    found = whole(script, tools=[READ])
    assert [block["input"] for block in found["content"]] == [{"n": 0}, {"n": 1}]


def test_a_stop_in_a_stream_ends_the_work():
    door = Door(say("one E", "ND", WAIT))
    _, found = run(door.stream(stop_sequences=["END"]))
    shown = "".join(d["delta"]["text"] for n, d in found if n == "content_block_delta")
    assert shown == "one "
    assert found[-2][1]["delta"] == {"stop_reason": "stop_sequence", "stop_sequence": "END"}
    assert door.router.running == 0


def test_an_error_before_the_first_piece_is_raised():
    for stream in (False, True):
        with pytest.raises(ModelBusyError):
            run(Door([ModelBusyError("busy")]).ask(stream=stream))


def test_an_error_in_the_middle_is_an_event():
    door = Door([ChatDelta(text="a"), ModelError("the model failed", hint="try")])
    _, found = run(door.stream())
    assert names(found)[-1] == "error"
    assert found[-1][1]["error"] == {
        "type": "overloaded_error",
        "code": "model",
        "message": "the model failed",
        "hint": "try",
        "param": None,
    }
    with pytest.raises(ModelError):
        run(Door([ChatDelta(text="a"), ModelError("failed")]).ask())


def test_an_answer_that_breaks_off_is_an_error():
    *_, (name, data) = streamed([ChatDelta(text="a")])
    assert name == "error" and data["error"]["code"] == "model"


def test_a_fault_of_ours_is_told_without_its_words(caplog):
    *_, (name, data) = streamed([ChatDelta(text="a"), ValueError("secret zebra")])
    assert name == "error"
    assert data["error"]["type"] == "api_error"
    assert "zebra" not in json.dumps(data)
    assert "broke off: ValueError at" in caplog.text
    assert "zebra" not in caplog.text


def test_a_client_that_goes_away_frees_the_model():
    async def scenario():
        door = Door(["x", WAIT])
        door.router.scripts = [[ChatDelta(text="a"), WAIT]]
        body = json.dumps(asked_body(stream=True)).encode()
        answer = await door.messages(EndpointRequest(body=body))
        pieces = [await anext(answer.body) for _ in range(4)]
        assert b"text_delta" in pieces[-1]
        waiting = asyncio.create_task(anext(answer.body))
        await asyncio.sleep(0)
        assert door.router.running == 1
        await answer.body.aclose()
        waiting.cancel()
        return door.router.running

    assert run(scenario()) == 0


def test_a_client_that_goes_away_before_it_read_anything_frees_the_model():
    async def scenario():
        door = Door([ChatDelta(text="a"), WAIT])
        body = json.dumps(asked_body(stream=True)).encode()
        answer = await door.messages(EndpointRequest(body=body))
        assert door.router.running == 1
        await answer.body.aclose()
        return door.router.running

    assert run(scenario()) == 0


def test_a_client_that_goes_away_before_the_first_piece_frees_the_model():
    async def scenario(stream):
        door = Door([WAIT])
        body = json.dumps(asked_body(stream=stream)).encode()
        task = asyncio.create_task(door.messages(EndpointRequest(body=body)))
        while not door.router.running:
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        return door.router.running

    assert run(scenario(True)) == 0
    assert run(scenario(False)) == 0


def test_a_model_that_thinks_long_gets_a_sign_of_life():
    async def scenario(*rest):
        gate = asyncio.Event()
        door = Door([gate, *rest], patience=HURRIED)
        body = json.dumps(asked_body(stream=True)).encode()
        answer = await door.messages(EndpointRequest(body=body))
        pieces = [await anext(answer.body), await anext(answer.body)]
        gate.set()
        pieces += [piece async for piece in answer.body]
        return [piece.split(b"\n")[0].decode().removeprefix("event: ") for piece in pieces]

    begun = run(scenario(*say("a")))
    assert begun[:2] == ["message_start", "ping"]
    assert begun[-1] == "message_stop"
    assert run(scenario(ModelBusyError("busy")))[-1] == "error"


async def until_two_pings(door, **changes):
    """The events for a client whose model is loaded, or fails to be, after two signs of life."""
    body = json.dumps(asked_body(stream=True, **changes)).encode()
    answer = await door.messages(EndpointRequest(body=body))
    pieces = []
    async for piece in answer.body:
        pieces.append(piece)
        if sum(b"event: ping" in one for one in pieces) == 2:
            door.router.loading.set()
    return answer, events(b"".join(pieces).decode())


def test_a_model_that_loads_for_long_keeps_its_client():
    memory = Memory((memory_hit(12, "the zebra lives in the archive"),))
    script = say("Hel", "lo", usage=TokenUsage(prompt=11, completion=3))
    door = Door(script, memory=memory, patience=HURRIED, loading=threading.Event())
    answer, found = run(until_two_pings(door, memory=True))
    assert names(found)[:3] == ["message_start", "ping", "ping"]
    assert [one for one in names(found) if one != "ping"] == [
        "message_start", "content_block_start", "content_block_delta", "content_block_delta",
        "content_block_stop", "message_delta", "message_stop",
    ]  # fmt: skip
    assert found[0][1]["message"]["usage"]["input_tokens"] > 0
    last = dict(found)["message_delta"]
    assert last["usage"]["input_tokens"] == 11
    # Headers go out before the memory is asked; the end of the answer tells all the same.
    assert "x-cloxy-memories" not in answer.headers
    assert last["cloxy_meta"]["memory"] == [12]


@pytest.mark.parametrize(
    ("world", "words", "kind"),
    [
        ({"model": ModelMissingError("none", hint="cloxy init")}, "none", "overloaded_error"),
        ({"tokens": 900_000}, "prompt is too long: ", "invalid_request_error"),
    ],
)
def test_an_error_after_a_long_time_of_loading_is_an_event(world, words, kind):
    door = Door(patience=HURRIED, loading=threading.Event(), **world)
    talk = [{"role": "user", "content": "zebra " * 60_000}, {"role": "user", "content": "Hi"}]
    _, found = run(until_two_pings(door, messages=talk))
    assert names(found)[0] == "message_start"
    assert names(found)[-1] == "error"
    assert dict(found)["error"]["error"]["type"] == kind
    assert dict(found)["error"]["error"]["message"].startswith(words)
    assert door.router.asked == []


def test_an_error_after_a_short_time_of_loading_has_its_status():
    async def scenario(stream):
        door = Door(model=ModelMissingError("none"), loading=threading.Event())
        body = json.dumps(asked_body(stream=stream)).encode()
        asking = asyncio.create_task(door.messages(EndpointRequest(body=body)))
        while not door.router.chosen:
            await asyncio.sleep(0)
        door.router.loading.set()
        await asking

    for stream in (True, False):
        with pytest.raises(ModelMissingError):
            run(scenario(stream))


@pytest.mark.parametrize("pieces", [0, 1, 3])
def test_a_client_that_goes_away_while_a_model_loads_asks_it_nothing(pieces):
    async def scenario():
        door = Door(patience=HURRIED, loading=threading.Event())
        body = json.dumps(asked_body(stream=True)).encode()
        answer = await door.messages(EndpointRequest(body=body))
        for _ in range(pieces):
            await anext(answer.body)
        await answer.body.aclose()
        door.router.loading.set()
        return door.router, [task.get_name() for task in asyncio.all_tasks()]

    router, tasks = run(scenario())
    assert router.chosen and not router.asked
    assert "opening an answer" not in tasks


def test_no_model_at_all():
    with pytest.raises(ModelMissingError):
        run(Door(model=ModelMissingError("none", hint="cloxy init")).ask())


def test_the_model_is_asked_for_by_its_alias():
    door = Door(settings={MODEL_ALIASES.name: {"claude-haiku-*": "small", "claude-*": "big"}})
    run(door.ask(model="claude-haiku-5-5"))
    assert set(door.router.chosen) == {"small"}
    assert door.router.asked[0].model == MODEL.id
    _, found = run(Door().ask(model="anything"))
    assert found["model"] == "anything"


def test_counting():
    door = Door(tokens=4321)
    assert run(door.tokens(system="Be short.", tools=[READ])) == {"input_tokens": 4321}
    counted = door.router.counted[0]
    assert counted.messages[0].text == "Be short."
    assert counted.tools[0].name == "Read"
    assert not door.router.asked


def test_what_is_too_long_to_be_counted_is_told_to_be_longer_than_the_context():
    def refuse(_request):
        raise ContextTooLongError("the conversation has more than 9,999,999 tokens")

    door = Door(tokens=refuse)
    found = run(door.tokens())
    assert found["input_tokens"] >= door.router.model.context_tokens


def test_memories_are_given_and_told():
    memory = Memory((memory_hit(12, "the zebra lives in the archive"),))
    door = Door(memory=memory)
    reminder = "<system-reminder>the date</system-reminder>"
    content = [{"type": "text", "text": reminder}, {"type": "text", "text": "Where is the zebra?"}]
    answer, found = run(door.ask(memory=True, messages=[{"role": "user", "content": content}]))
    assert found["cloxy_meta"]["memory"] == [12]
    assert answer.headers["x-cloxy-memories"] == "12"
    block, question = door.router.asked[0].messages
    assert "the archive" in block.text and question.text == f"{reminder}\n\nWhere is the zebra?"
    assert memory.asked == ["Where is the zebra?"]
    _, events = run(Door(memory=memory).stream(memory=True))
    assert dict(events)["message_delta"]["cloxy_meta"]["memory"] == [12]


def test_a_loop_of_tools_asks_the_memory_nothing_new():
    memory = Memory((memory_hit(12, "the zebra lives in the archive"),))
    door = Door(memory=memory)
    use = {"type": "tool_use", "id": "t1", "name": "Read", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "stripes"}
    first = [{"role": "user", "content": "Where is the zebra?"}]
    loop = [
        *first,
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [result]},
    ]
    run(door.ask(memory=True, messages=first, tools=[READ]))
    run(door.ask(memory=True, messages=loop, tools=[READ]))
    assert memory.asked == ["Where is the zebra?"]
    one, two = door.router.asked
    assert two.messages[:2] == one.messages
    assert [message.role for message in two.messages[2:]] == ["assistant", "tool"]


def test_a_wrong_wish_is_told_by_name():
    with pytest.raises(InputError) as refusal:
        run(Door().ask(memory_top_k=99))
    assert (refusal.value.http_status, refusal.value.param) == (400, "memory_top_k")


def test_a_turn_is_kept_where_that_is_wanted():
    door = Door(say("In the archive."))
    run(door.ask(memory_store=True))
    (kept,) = door.context.keeper.kept
    assert [(one.role, one.author, one.text) for one in kept.messages] == [
        ("user", "human", "Hi"),
        ("assistant", "own", "In the archive."),
    ]
    for asking in ("ask", "stream"):
        door = Door(say("In the arch", "ive. END more"))
        run(getattr(door, asking)(memory_store=True, stop_sequences=["END"]))
        (kept,) = door.context.keeper.kept
        assert kept.messages[-1].text == "In the archive. "
    door = Door(say("In the archive."))
    run(door.ask())
    assert not door.context.keeper.kept


def test_a_back_end_that_finds_it_too_long_is_told_in_words_that_clients_know():
    with pytest.raises(ContextTooLongError, match=r"^prompt is too long: the server"):
        run(Door([ContextTooLongError("the server says no")]).ask())
    *_, (name, data) = streamed([ChatDelta(text="a"), ContextTooLongError("no room is left")])
    assert name == "error"
    assert data["error"]["message"] == "prompt is too long: no room is left"


def test_no_sign_in_a_text_ends_a_line_of_an_event():
    said = "a\u2028b\u2029c\x85d\ne\r\nf"
    _, text = run(raw_stream(Door([ChatDelta(text=said), ChatDelta(finish="stop")])))
    lines = [line for line in text.splitlines() if line]
    assert all(line.startswith(("event: ", "data: ")) for line in lines)
    (told,) = [line for line in lines if "text_delta" in line]
    assert json.loads(told.removeprefix("data: "))["delta"]["text"] == said


def test_an_emoji_that_a_back_end_cuts_in_two():
    halves = ("\ud83e", "\udd93")
    assert whole(say("a", *halves))["content"][0]["text"] == "a\U0001f993"
    found = streamed(say("a", *halves))
    shown = [data["delta"]["text"] for name, data in found if name == "content_block_delta"]
    assert shown == ["a", *halves]
