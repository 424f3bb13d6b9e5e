"""Reading in pieces gives what reading at once gives."""

import json

from codex_kit import START, Log, item_for, parse, parser, uuid7
from hypothesis import given, settings
from hypothesis import strategies as st

from cloxy_core.testing.fakes import raw_lines

WORDS = st.sampled_from(["go", "ok", "and now?", "# Plan", "x" * 300])
KINDS = st.sampled_from(
    [
        *("item", "event", "done", "agent_item", "agent_event", "agent_done", "plan", "plan_item"),
        *("turn", "turnless", "meta", "fork", "injected", "picture", "noise", "compacted", "pause"),
    ]
)


def add(log, kind, words, number):
    if kind == "item":
        log.item("user", words)
    elif kind == "event":
        log.event("user_message", message=words)
    elif kind == "done":
        log.done("UserMessage", words)
    elif kind == "agent_item":
        log.item("assistant", words)
    elif kind == "agent_event":
        log.event("agent_message", message=words)
    elif kind == "agent_done":
        log.done("AgentMessage", words)
    elif kind == "plan":
        log.done("Plan", None, text=words)
    elif kind == "plan_item":
        log.item("assistant", f"So:\n<proposed_plan>{words}</proposed_plan>")
    elif kind == "turn":
        log.turn(uuid7(START, number), model=f"m{number}")
    elif kind == "turnless":
        log.line("turn_context", {"cwd": f"/srv/{number}", "model": "m"})
    elif kind == "meta":
        log.meta()
    elif kind == "fork":
        log.meta(uuid7(START, 1 + number % 3))
    elif kind == "injected":
        log.item("user", "<environment_context><cwd>/srv/e</cwd></environment_context>")
    elif kind == "picture":
        log.item("user", {"type": "input_image", "image_url": f"data:image/png;base64,{number}"})
    elif kind == "noise":
        log.event("token_count", info=None)
    elif kind == "compacted":
        log.line("compacted", {"message": words})
    else:
        log.step = 2.0 if log.step < 1 else 0.002


@st.composite
def logs(draw):
    log = Log()
    first = draw(st.sampled_from(["meta", "fork", "sub", "none"]))
    if first != "none":
        log.meta(
            **{"fork": {"forked_from_id": "p"}, "sub": {"parent_thread_id": "p"}}.get(first, {})
        )
    for number, (kind, words) in enumerate(draw(st.lists(st.tuples(KINDS, WORDS), max_size=40))):
        add(log, kind, words, number)
    return log


@settings(max_examples=120, deadline=None)
@given(logs(), st.data())
def test_any_split_gives_the_same_messages(log, data):
    whole, facts, result = parse(log)
    count = len(log.lines)
    cuts = data.draw(st.lists(st.integers(0, count), max_size=8))
    for pieces in (cuts, range(count + 1)):
        messages, parts, last = parse(log, cuts=pieces)
        assert messages == whole
        assert json.dumps(last.state) == json.dumps(result.state)
        assert last.silent == result.silent
        assert {(f.key, f.parent, f.cwd, f.relation) for f in parts.values()} == {
            (f.key, f.parent, f.cwd, f.relation) for f in facts.values()
        }
    assert len({(m.session, m.uid) for m in whole}) == len(whole)
    assert all(m.session in facts for m in whole)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.booleans(), WORDS), max_size=80), st.integers(0, 2))
def test_whatever_is_said_is_kept_as_often_as_it_is_said(speech, forms):
    """Both forms in either order, or only one: nothing is lost, nothing comes twice."""
    log = Log().meta().turn(uuid7(START, 1))
    expected = []
    for user, words in speech:
        expected.append(("user" if user else "assistant", words))
        event = ("user_message" if user else "agent_message", words)
        if forms != 1 and (user or forms == 2):
            log.item(*expected[-1])
        if forms != 2:
            log.event(event[0], message=words)
        if forms == 0 and not user:
            log.item(*expected[-1])
    assert [(m.role, m.text) for m in parse(log)[0]] == expected


def test_the_state_stays_small_and_holds_no_words():
    log = Log().meta()
    for number in range(3_000):
        log.both(f"question about the quince {number}", f"answer about the medlar {number}")
    messages, _facts, result = parse(log)
    state = json.dumps(result.state)
    assert len(messages) == 6_000
    assert len(state) < 20_000
    assert "quince" not in state and "medlar" not in state


def test_a_state_of_nonsense_is_no_state():
    lines = raw_lines(Log().meta().both("hello", "hi there").data())
    for value in (None, 7, "x", [], [[]], [[1]], {"a": "b"}, [["a", "b", {}]]):
        state = dict.fromkeys(parser().parse(item_for(), [], {}).state, value)
        messages = parser().parse(item_for(), lines, state).messages
        assert [m.text for m in messages] == ["hello", "hi there"], value
