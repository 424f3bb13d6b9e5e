"""What is taken of a Claude.ai export."""

import pytest
from exchange.foreign_kit import claude_ai, claude_message, messages, read, texts


def block(kind, **more):
    return {"type": kind, **more}


def test_blocks_are_taken_before_the_flat_text_and_never_both():
    talk = claude_ai(
        claude_message(
            "m1", "human", "What is larch?", content=[block("text", text="What is larch?")]
        ),
        claude_message(
            "m2",
            "assistant",
            "This block is not supported on your current device yet.\nA conifer.",
            content=[
                block("thinking", thinking="hm"),
                block("tool_use", name="artifacts", input={"content": "a document"}),
                block("tool_result", content=[block("text", text="found")]),
                block("token_budget"),
                block("text", text="A conifer."),
                block("text", text="It loses its needles."),
            ],
        ),
        claude_message("m3", "human", "Thanks.", content=[]),
        claude_message("m4", "assistant", "Only a notice.", content=[block("tool_use")]),
    )
    assert texts([talk]) == [
        "What is larch?",
        "A conifer.\nIt loses its needles.",
        "Thanks.",
    ]


def test_pasted_files_are_left_out_and_images_have_a_placeholder():
    talk = claude_ai(
        claude_message(
            "m1",
            "human",
            "Look at this.",
            attachments=[{"file_name": "t.py", "extracted_content": "import os"}],
            files=[{"file_name": "mast.PNG"}, {"file_name": "notes.pdf"}, {}, 5],
        )
    )
    assert texts([talk]) == ["Look at this.\n[image: mast.PNG]"]


def test_an_id_that_stands_twice_is_taken_once():
    talk = claude_ai(
        claude_message("m1", "human", "one"),
        claude_message("m1", "human", "one"),
        claude_message("m2", "assistant", "two"),
    )
    assert texts([talk]) == ["one", "two"]
    assert texts([claude_ai(claude_message("m", "human", " "), claude_message("m", "human", "x"))])


def test_both_sides_of_an_edit_are_taken():
    talk = claude_ai(
        claude_message("m1", "human", "first wording"),
        claude_message("m2", "human", "second wording", parent_message_uuid="m0"),
    )
    assert texts([talk]) == ["first wording", "second wording"]


def test_names_times_and_empty_conversations():
    lines, report = read(
        [
            claude_ai(key="k-0"),
            claude_ai(claude_message("m1", "human", "one", created_at=None), key="k-1", name=""),
            claude_ai(claude_message("m2", "assistant", "two"), key="k-2", name="Larch"),
        ]
    )
    sessions = [line for line in lines if line["kind"] == "session"]
    assert [(each["key"], each["title"]) for each in sessions] == [("k-1", None), ("k-2", "Larch")]
    assert {each["agent"] for each in sessions} == {"claude-ai"}
    assert [
        (m["time"], m["approximate"], m["author"]) for m in lines if m["kind"] == "message"
    ] == [
        ("2026-03-01T07:59:00.000Z", True, "human"),
        ("2026-03-01T08:00:00.500Z", False, "assistant"),
    ]
    assert report.without == 1
    assert report.conversations == 2


@pytest.mark.parametrize("message", [5, {}, {"uuid": "x", "sender": "root", "text": "x"}, None])
def test_messages_of_another_shape_are_passed_over(message):
    assert [
        m["uid"] for m in messages([claude_ai(message, claude_message("m", "human", "x"))])
    ] == ["m"]
