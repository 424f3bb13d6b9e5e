"""One conversation in the shapes of every version."""

import pytest
from codex_kit import CWD, START, THREAD, Log, parse, said, uuid7

CHAT = [("user", "hello"), ("assistant", "hi there")]


def bare():
    log = Log().bare(
        {"id": THREAD, "timestamp": "2026-05-02T09:00:00.000Z", "instructions": None, "git": {}}
    )
    log.bare({"record_type": "state"})
    place = f"<environment_context>\n  <cwd>{CWD}</cwd>\n</environment_context>"
    for role, kind, text in (
        ("user", "input_text", place),
        ("user", "input_text", "hello"),
        ("assistant", "output_text", "hi there"),
    ):
        content = [{"type": kind, "text": text}]
        log.bare({"type": "message", "id": None, "role": role, "content": content})
    log.bare({"type": "reasoning", "summary": [], "encrypted_content": "x"})
    return log.bare({"type": "function_call_output", "call_id": "c", "output": "hello"})


def events():
    log = Log().meta()
    return log.event("user_message", message="hello").event("agent_message", message="hi there")


def both():
    return Log().meta().both("hello", "hi there")


def paginated():
    log = Log().meta(history_mode="paginated").turn(uuid7(START, 1))
    log.item("user", "hello", id="msg_1").done("UserMessage", "hello", id="another")
    log.done("AgentMessage", "hi there", id="msg_2", phase="final_answer")
    log.item("assistant", "hi there", id="msg_2")
    return log.event("task_complete", last_agent_message="hi there")


def completed():
    return Log().meta().done("UserMessage", "hello").done("AgentMessage", "hi there")


def items():
    return Log().meta().item("user", "hello").item("assistant", "hi there")


SHAPES = [bare, events, both, paginated, completed, items]


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_gives_each_message_once(shape):
    messages, facts, result = parse(shape())
    assert [(message.role, message.text) for message in messages] == CHAT
    assert {message.session for message in messages} == {THREAD} == set(facts)
    assert facts[THREAD].cwd == CWD
    assert facts[THREAD].title == "hello"
    assert not result.unknown and not result.bad_lines


def test_shapes_agree_on_ids_so_that_a_converted_file_is_no_second_conversation():
    turn = uuid7(START, 1)
    old = Log().meta().turn(turn).both("hello", "hi there")
    new = Log().meta(history_mode="paginated").turn(turn)
    new.done("UserMessage", "hello").done("AgentMessage", "hi there")
    assert [m.uid for m in parse(old)[0]] == [m.uid for m in parse(new)[0]]


def test_a_file_that_versions_of_two_shapes_wrote_is_read_to_its_end():
    log = both().meta().done("UserMessage", "more").done("AgentMessage", "of it")
    log.meta().item("user", "and").item("assistant", "more")
    assert said(log) == [
        *CHAT,
        ("user", "more"),
        ("assistant", "of it"),
        ("user", "and"),
        ("assistant", "more"),
    ]


def test_words_said_twice_are_two_messages_in_any_order_of_the_forms():
    log = Log().meta().turn(uuid7(START, 1))
    log.item("user", "go").event("user_message", message="go")
    log.event("agent_message", message="ok").event("agent_message", message="ok")
    log.item("assistant", "ok").item("assistant", "ok")
    log.item("assistant", "ok").event("agent_message", message="ok")
    log.item("user", "go").event("user_message", message="go")
    assert said(log) == [("user", "go"), *[("assistant", "ok")] * 3, ("user", "go")]


def test_what_an_aborted_turn_said_only_as_an_event_is_kept():
    log = Log().meta().both("first", "done")
    log.item("user", "second").event("user_message", message="second")
    log.event("agent_message", message="I begin").event("turn_aborted", reason="interrupted")
    assert said(log)[2:] == [("user", "second"), ("assistant", "I begin")]


def test_times_are_the_lines_own_and_in_the_bare_shape_only_near():
    messages, _facts, _result = parse(both())
    assert [m.approximate for m in messages] == [False, False]
    assert messages[0].at < messages[1].at
    start = int(START.timestamp() * 1000)
    assert [(m.at, m.approximate) for m in parse(bare())[0]] == [(start, True)] * 2


def test_without_any_time_the_file_s_own_is_near():
    log = Log().bare({"type": "message", "role": "user", "content": "hello"})
    (message,), _facts, _result = parse(log)
    assert message.approximate and message.at is not None


def test_model_branch_and_place_are_those_of_the_turn():
    log = Log().meta().turn(uuid7(START, 1), model="gpt-a").both("one", "1")
    log.line("turn_context", {"turn_id": uuid7(START, 2), "cwd": "/srv/other", "model": "gpt-b"})
    log.both("two", "2")
    messages, facts, _result = parse(log)
    assert [m.model for m in messages] == [None, "gpt-a", None, "gpt-b"]
    assert [m.cwd for m in messages] == [CWD, CWD, "/srv/other", "/srv/other"]
    assert {m.branch for m in messages} == {"main"}
    assert (facts[THREAD].cwd, facts[THREAD].branch) == (CWD, "main")


def test_a_file_without_a_meta_line_is_the_thread_of_its_name():
    log = Log().event("user_message", message="hello")
    assert {m.session for m in parse(log)[0]} == {THREAD}


def test_a_thread_without_a_word_is_no_session_and_no_drift():
    log = Log().meta().item("user", f"<environment_context><cwd>{CWD}</cwd></environment_context>")
    messages, facts, result = parse(log)
    assert (messages, facts, result.silent) == ([], {}, True)


def test_a_shell_command_of_the_user_s_is_no_conversation():
    log = Log().meta().event("task_started", turn_id="t")
    log.item("user", "<user_shell_command>\n<command>ls</command>\n</user_shell_command>")
    log.event("task_complete", turn_id="t", last_agent_message=None)
    messages, facts, result = parse(log)
    assert (messages, facts, result.silent) == ([], {}, True)


@pytest.mark.parametrize(
    "payload",
    [
        {"type": "user_said", "message": "hello"},
        {"type": "task_complete", "last_agent_message": "hi there"},
        {"type": "item_completed", "item": {"type": "HumanTurn", "text": "hello"}},
    ],
)
def test_a_conversation_that_is_not_understood_is_drift(payload):
    messages, _facts, result = parse(Log().meta().line("event_msg", payload))
    assert (messages, result.silent) == ([], False)


def test_unknown_kinds_are_counted_and_passed_over():
    log = Log().meta().line("new_thing", {"a": 1}).event("newer").event("newer")
    log.line("response_item", {"type": "newest"}).done("Novelty").both("hello", "hi there")
    messages, _facts, result = parse(log)
    assert len(messages) == 2
    assert result.unknown == {
        "new_thing": 1,
        "event_msg/newer": 2,
        "response_item/newest": 1,
        "item_completed/Novelty": 1,
    }


def test_noise_is_understood_and_left_out():
    log = Log().meta().turn(uuid7(START, 1)).both("hello", "hi there")
    log.line("world_state", {"state": {"text": "hello"}})
    log.line("inter_agent_communication", {"content": "hello"})
    log.item("developer", "hello").event("agent_reasoning", text="hello")
    log.line("response_item", {"type": "reasoning", "summary": [{"text": "hello"}]})
    log.line("response_item", {"type": "function_call_output", "output": "hello"})
    log.event("exec_command_end", stdout="hello").event("collab_agent_spawn_end", prompt="hello")
    log.done("Reasoning", "hello").event("task_complete", last_agent_message="hi there")
    messages, _facts, result = parse(log)
    assert [(m.role, m.text) for m in messages] == CHAT
    assert not result.unknown
    assert result.records == len(log.lines)
