"""Turns of the Messages API become the turns that a model's template knows."""

import json

import pytest

from cloxy_hookspecs import ChatMessage, ToolCall
from cloxy_plugins.model_api.anthropic_turns import read_conversation
from cloxy_plugins.model_api.fields import FieldError

ARCHIVE = {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"path": "a.py"}}


def read(*messages, system=None):
    return read_conversation({"messages": list(messages), "system": system})


def user(*content):
    return {"role": "user", "content": content[0] if len(content) == 1 else list(content)}


def assistant(*content):
    return {"role": "assistant", "content": content[0] if len(content) == 1 else list(content)}


def text(words, **more):
    return {"type": "text", "text": words, **more}


def result(call="toolu_1", content="done", **more):
    return {"type": "tool_result", "tool_use_id": call, "content": content, **more}


def refused(*messages, system=None):
    with pytest.raises(FieldError) as caught:
        read(*messages, system=system)
    assert caught.value.http_status == 400
    assert caught.value.message.startswith(caught.value.param)
    return caught.value.param


def test_a_string_and_blocks_are_the_same():
    assert read(user("Hi")) == read(user([text("Hi")])) == read(user([text("Hi", citations=None)]))


def test_system_as_string_and_as_blocks():
    told = ChatMessage("system", "Be short.")
    assert read(user("Hi"), system="Be short.").messages[0] == told
    blocks = [text("Be short.", cache_control={"type": "ephemeral"}), text("Be kind.")]
    assert read(user("Hi"), system=blocks).messages[0].text == "Be short.\n\nBe kind."
    assert read(user("Hi"), system=[]).messages[0].role == "user"


def test_a_block_for_the_accounts_of_the_maker_is_no_instruction():
    blocks = [text("x-anthropic-billing-header: cc_version=2.1.9.a3f; cch=0;"), text("Be short.")]
    assert read(user("Hi"), system=blocks).messages[0].text == "Be short."


def test_turns_of_the_same_role_are_joined():
    found = read(user("a"), user([text("b"), text("c")]), assistant("d"), assistant("e"), user("f"))
    assert [(one.role, one.text) for one in found.messages] == [
        ("user", "a\n\nb\n\nc"),
        ("assistant", "d\n\ne"),
        ("user", "f"),
    ]
    assert found.humans == (0, 2)


def test_a_sentence_may_go_on_in_the_next_block_of_an_answer():
    found = read(user("a"), assistant([text("The sky "), text("is blue.")]), user("b"))
    assert found.messages[1].text == "The sky is blue."


def test_a_call_and_its_result_stand_next_to_each_other_and_the_rest_follows():
    found = read(
        user("Read it"),
        assistant([text("Yes."), ARCHIVE]),
        user([text("and be quick"), result()]),
    )
    assert found.messages[1:] == (
        ChatMessage("assistant", "Yes.", (ToolCall("toolu_1", "Read", '{"path": "a.py"}'),)),
        ChatMessage("tool", "done", tool_call_id="toolu_1", name="Read"),
        ChatMessage("user", "and be quick"),
    )
    assert found.humans == (0, 3)


def test_a_turn_that_holds_only_results_is_no_humans():
    found = read(user("Read it"), assistant([ARCHIVE]), user([result()]))
    assert [one.role for one in found.messages] == ["user", "assistant", "tool"]
    assert found.humans == (0,)


def test_results_of_several_calls_keep_their_order_even_in_turns_of_their_own():
    other = {**ARCHIVE, "id": "toolu_2", "name": "Grep"}
    found = read(
        user("go"), assistant([ARCHIVE, other]), user([result("toolu_2", "b")]), user([result()])
    )
    assert [(one.tool_call_id, one.name) for one in found.messages[2:]] == [
        ("toolu_2", "Grep"),
        ("toolu_1", "Read"),
    ]


@pytest.mark.parametrize(
    ("content", "more", "shown"),
    [
        ("plain", {}, "plain"),
        (None, {}, ""),
        ([], {}, ""),
        ([text("a"), text("b")], {}, "a\n\nb"),
        ("no such file", {"is_error": True}, "Error: no such file"),
        ("", {"is_error": True}, "Error"),
        ([{"type": "tool_reference", "tool_name": "Glob"}], {}, "Glob"),
    ],
)
def test_forms_of_a_result(content, more, shown):
    found = read(user("a"), assistant([ARCHIVE]), user([result(content=content, **more)]))
    assert found.messages[2].text == shown


def test_reminders_of_the_agent_stay_in_the_turn_and_make_no_human():
    reminder = "<system-reminder>\nThe date is today.\n</system-reminder>"
    found = read(user([text(reminder), text("What now?")]))
    assert found.messages[0].text == f"{reminder}\n\nWhat now?"
    assert found.humans == (0,)
    assert read(user("a"), assistant([ARCHIVE]), user([result(), text(reminder)])).humans == (0,)


def test_thinking_is_left_out_and_a_turn_of_nothing_else_vanishes():
    thinking = {"type": "thinking", "thinking": "hm", "signature": "x"}
    hidden = {"type": "redacted_thinking", "data": "abc"}
    found = read(user("a"), assistant([thinking, hidden]), user("b"))
    assert [(one.role, one.text) for one in found.messages] == [("user", "a\n\nb")]
    found = read(user("a"), assistant([thinking, text("c")]), user("b"))
    assert found.messages[1].text == "c"


def test_an_answer_that_is_begun_stays_last():
    found = read(user("Name a colour"), assistant("The colour is"))
    assert found.messages[-1] == ChatMessage("assistant", "The colour is")
    assert found.humans == (0,)


def test_documents_and_search_results_as_text():
    plain = {"type": "text", "media_type": "text/plain", "data": "line one"}
    inner = {"type": "content", "content": [text("part")]}
    hit = {
        "type": "search_result",
        "title": "Zebra",
        "source": "z.md",
        "content": [text("stripes")],
    }
    found = read(
        user(
            [
                {"type": "document", "title": "Notes", "source": plain},
                {"type": "document", "source": inner},
                hit,
            ]
        )
    )
    assert found.messages[0].text == "Notes\n\nline one\n\npart\n\nZebra\n\nz.md\n\nstripes"


def test_what_servers_did_in_an_earlier_answer_is_shown_as_text():
    call = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "q"}}
    page = {
        "type": "web_search_result",
        "title": "Page",
        "url": "http://x",
        "encrypted_content": "k",
    }
    shown = {"type": "web_search_tool_result", "tool_use_id": "s", "content": [page]}
    found = read(user("a"), assistant([text("See:"), call, shown, text("So.")]), user("b"))
    said = found.messages[1].text
    assert 'web_search {"query": "q"}' in said
    assert "Page" in said and "http://x" in said and "So." in said
    assert "k" not in said.replace("\n", " ").split()


def test_system_turns_within_the_messages():
    aside = {"role": "system", "content": "Only read."}
    found = read(aside, user("a"), system="Be short.")
    assert found.messages[0].text == "Be short.\n\nOnly read."
    found = read(user("a"), aside, assistant("b"), user("c"))
    assert found.messages[0].text == "a\n\n<system-reminder>\nOnly read.\n</system-reminder>"


IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}
PDF = {
    "type": "document",
    "source": {"type": "base64", "media_type": "application/pdf", "data": "A"},
}


@pytest.mark.parametrize(
    ("messages", "param"),
    [
        ([user([text("a"), IMAGE])], "messages.0.content.1.type"),
        ([user([PDF])], "messages.0.content.0.source.type"),
        ([user("a"), assistant([ARCHIVE]), user([result(content=[{"type": "odd", "text": "a"}])])],
         "messages.2.content.0.content.0.type"),
        ([user([{"type": "mystery", "text": "lost"}])], "messages.0.content.0.type"),
        ([user([{"type": "container_upload", "file_id": "f"}])], "messages.0.content.0.type"),
        ([user([{"text": "a"}])], "messages.0.content.0.type"),
        ([user([text(3)])], "messages.0.content.0.text"),
        ([user([{"type": "text"}])], "messages.0.content.0.text"),
        ([user(["a"])], "messages.0.content.0"),
        ([user(3)], "messages.0.content"),
        ([{"role": "user"}], "messages.0.content"),
        ([{"content": "a"}], "messages.0.role"),
        ([{"role": "tool", "content": "a"}], "messages.0.role"),
        (["a"], "messages.0"),
        ([], "messages"),
        ([user("  ")], "messages"),
        ([assistant("a"), user("b")], "messages.0.role"),
        ([user([ARCHIVE])], "messages.0.content.0.type"),
        ([user("a"), assistant([result()])], "messages.1.content.0.type"),
        ([user("a"), assistant([{**ARCHIVE, "input": "x"}])], "messages.1.content.0.input"),
        ([user("a"), assistant([{"type": "tool_use", "id": "t", "name": "n"}])],
         "messages.1.content.0.input"),
        ([user("a"), assistant([{**ARCHIVE, "name": None}])], "messages.1.content.0.name"),
        ([user([result()])], "messages.0.content.0.tool_use_id"),
        ([user("a"), assistant([ARCHIVE]), user([result("other")])],
         "messages.2.content.0.tool_use_id"),
        ([user("a"), assistant([ARCHIVE]), user([result(), result()])],
         "messages.2.content.1.tool_use_id"),
        ([user("a"), assistant([ARCHIVE]), user("b")], "messages.1"),
        ([user("a"), assistant([ARCHIVE])], "messages.1"),
        ([user("a"), assistant([ARCHIVE, ARCHIVE]), user([result()])], "messages.1"),
        ([user("a"), assistant([ARCHIVE]), user([result(is_error="yes")])],
         "messages.2.content.0.is_error"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_by_name(messages, param):
    assert refused(*messages) == param


def test_an_image_that_a_tool_brought_does_not_end_the_session():
    found = read(
        user("a"), assistant([ARCHIVE]), user([result(content=[text("Here:"), IMAGE, PDF])])
    )
    assert found.messages[2].text == (
        "Here:\n\n[The tool brought an image (image/png), which this model cannot read.]\n\n"
        "[The tool brought a document (application/pdf), which this model cannot read.]"
    )
    plain = {"type": "document", "source": {"type": "text", "data": "line one"}}
    found = read(user("a"), assistant([ARCHIVE]), user([result(content=[plain])]))
    assert found.messages[2].text == "line one"


def test_system_is_refused_by_name():
    assert refused(user("a"), system=3) == "system"
    assert refused(user("a"), system=[IMAGE]) == "system.0.type"
    assert refused(user("a"), system=["a"]) == "system.0"


def test_a_kind_that_nobody_knows_and_that_holds_nothing_does_no_harm():
    found = read(user([text("a"), {"type": "checkpoint", "id": 3}]))
    assert found.messages[0].text == "a"


def test_arguments_stay_readable():
    odd = {**ARCHIVE, "input": {"path": "zebra-ö-語.py", "deep": {"a": [1, None]}}}
    found = read(user("a"), assistant([odd]), user([result()]))
    arguments = found.messages[1].tool_calls[0].arguments
    assert json.loads(arguments) == odd["input"]
    assert "語" in arguments
