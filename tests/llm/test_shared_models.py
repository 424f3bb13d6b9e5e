"""What back-ends of models share."""

import pytest

from cloxy_hookspecs import ChatDelta, ChatMessage, ChatRequest, ToolCallDelta, ToolChoice, ToolSpec
from cloxy_hookspecs.models.answers import SLICE_SECONDS, Slices, call_delta, text_delta, told
from cloxy_hookspecs.models.conversations import SPLIT, TemplateTurns, tools_of, without_unused

TOOL = ToolSpec("recall", "Finds", {"type": "object"})
TALK = (ChatMessage("system", "Be short."), ChatMessage("user", "Hi"), ChatMessage("user", "there"))


def asked(**fields):
    return ChatRequest(messages=TALK, tools=(TOOL,), **fields)


def test_slices_grow_while_they_are_quick_and_shrink_when_they_are_slow():
    slices, sizes = Slices(32), []
    for seconds in (0.0, 0.0, 0.0, SLICE_SECONDS, 9.0, 9.0, 9.0, 9.0):
        slices.took(seconds, most=200)
        sizes.append(slices.size)
    assert sizes == [64, 128, 200, 200, 100, 50, 32, 32]


def test_calls_are_numbered_through_and_named():
    delta = call_delta(2, iter([("recall", "{}"), ("fetch", '{"url": "x"}')]))
    assert [(call.index, call.name, call.arguments) for call in delta.tool_calls] == [
        (2, "recall", "{}"),
        (3, "fetch", '{"url": "x"}'),
    ]
    first, second = (call.id for call in delta.tool_calls)
    assert first.startswith("call_") and first != second


class Reader:
    def __init__(self, *deltas):
        self.deltas = list(deltas)

    def feed(self, text):
        return self.deltas


def test_a_token_that_says_nothing_is_a_sign_of_life():
    assert list(told("", None)) == [ChatDelta("")]
    assert list(told("<tool", Reader())) == [ChatDelta()]
    call = ChatDelta(tool_calls=(ToolCallDelta(0, "c", "recall", "{}"),))
    assert list(told("x", Reader(call))) == [call]
    assert (text_delta(""), text_delta("a")) == ([], [ChatDelta("a")])


@pytest.mark.parametrize(
    ("source", "roles", "alternates"),
    [
        ("{{ messages }}", ["system", "user", "user"], False),
        ("Roles must alternate", ["system", "user"], True),
        ("SYSTEM ROLE NOT SUPPORTED", ["user", "user"], False),
    ],
)
def test_the_turns_are_those_that_the_template_takes(source, roles, alternates):
    turns = TemplateTurns(source, ())
    assert turns.alternates is alternates
    assert [turn["role"] for turn in turns.turns(TALK)] == roles


def test_control_tokens_in_a_text_are_broken():
    turns = TemplateTurns("", ["<s>", "<s><end>", "x"])
    (turn,) = turns.turns([ChatMessage("user", f"a <s><end> x <s>{SPLIT}")])
    assert turn["content"] == f"a <{SPLIT}s><end> x <{SPLIT}s>"


def test_tools_that_must_not_be_called_are_left_out():
    assert without_unused(asked(tool_choice=ToolChoice("none"))).tools == ()
    kept = without_unused(asked())
    assert kept.tools == (TOOL,)
    (tool,) = tools_of(kept)
    assert tool["function"] == {
        "name": "recall", "description": "Finds", "parameters": {"type": "object"},
    }  # fmt: skip
