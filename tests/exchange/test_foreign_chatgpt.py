"""What is taken of a ChatGPT export."""

import json

import pytest
from exchange.foreign_kit import (
    NOON,
    chatgpt,
    messages,
    node,
    plain_chatgpt,
    read,
    said,
    texts,
)


def test_the_active_branch_is_taken_in_its_order_whatever_the_times():
    talk = chatgpt(
        node("a", "q", said("assistant", "the old answer", at=NOON + 50)),
        node("b", "q", said("assistant", "the new answer", at=None)),
        node("q", "root", said("user", "a question", at=NOON + 9)),
        node("root", None),
        current="b",
    )
    assert texts([talk]) == ["a question", "the new answer"]


def test_without_a_current_node_the_newest_leaf_counts():
    talk = chatgpt(
        node("q", None, said("user", "a question")),
        node("new", "q", said("assistant", "the later answer", at=NOON + 9)),
        node("old", "q", said("assistant", "the earlier answer", at=NOON + 5)),
        current="is-not-there",
    )
    assert texts([talk]) == ["a question", "the later answer"]


def test_a_ring_of_parents_ends():
    talk = chatgpt(
        node("a", "b", said("user", "one")),
        node("b", "a", said("assistant", "two")),
        current="b",
    )
    assert texts([talk]) == ["one", "two"]


@pytest.mark.parametrize(
    "message",
    [
        said("system", "be kind"),
        said("tool", "42"),
        said("user", "hidden", metadata={"is_visually_hidden_from_conversation": True}),
        said("assistant", "search()", recipient="browser"),
        said("assistant", "x = 1", kind="code"),
        said("assistant", "1", kind="execution_output"),
        said("assistant", "page", kind="tether_quote"),
        said("assistant", "hm", kind="thoughts"),
        said("assistant", "Thought for 3 s", kind="reasoning_recap"),
        said("assistant", "oops", kind="system_error"),
        said("user", "about me", kind="user_editable_context"),
        said("user", "", None, 7),
        {"author": None, "content": "text"},
        ["no object"],
    ],
)
def test_what_people_do_not_read_is_left_out(message):
    talk = chatgpt(
        node("q", None, said("user", "a question")),
        node("x", "q", message),
        node("a", "x", said("assistant", "an answer", recipient="all")),
        current="a",
    )
    assert texts([talk]) == ["a question", "an answer"]


def test_parts_that_are_objects():
    image = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-abc"}
    voice = {"content_type": "audio_transcription", "text": "what is this bird?"}
    sound = {"content_type": "audio_asset_pointer", "asset_pointer": "sediment://x"}
    talk = chatgpt(
        node("q", None, said("user", image, voice, sound, "Look.", kind="multimodal_text")),
        current="q",
    )
    assert texts([talk]) == ["[image: file-abc]\nwhat is this bird?\nLook."]


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("High at ten.\ue200cite\ue202turn0search1\ue202turn0search4\ue201 Low at four.",
         "High at ten. Low at four."),
        ("As said\ue203turn0search1\ue204.", "As said."),
        ("See \ue200url\ue202the tables\ue202https://example.org\ue201.", "See the tables."),
        ('In \ue200entity\ue202["city","Bergen","a port"]\ue201.', "In Bergen."),
        ("An \ue200entity\ue202[broken\ue201end", "An end"),
        ("Both【4†source】 and【12:0†tides.pdf】.", "Both and."),
        ("Keep 【this】 and turn0search1.", "Keep 【this】 and turn0search1."),
    ],
)  # fmt: skip
def test_marks_of_citations_are_taken_out_of_answers_only(raw, clean):
    talk = chatgpt(
        node("q", None, said("user", raw)), node("a", "q", said("assistant", raw)), current="a"
    )
    assert texts([talk]) == [raw, clean]


def test_text_that_imitates_storage_stays_as_it_is():
    imitation = '\n---\n## assistant\n{"kind":"end","sessions":0}\n<private>'
    assert texts([chatgpt(node("q", None, said("user", imitation)), current="q")]) == [imitation]


def test_times_are_given_or_near_ones_and_then_marked():
    talk = chatgpt(
        node("a", None, said("user", "one", at=None)),
        node("b", "a", said("assistant", "two", at=NOON)),
        node("c", "b", said("user", "three", at="soon")),
        node("d", "c", said("assistant", "four", at=1e300)),
        current="d",
    )
    found = [(line["time"], line["approximate"]) for line in messages([talk])]
    assert found == [
        ("2026-02-02T02:39:50.250Z", True),
        ("2026-02-02T02:40:00.250Z", False),
        ("2026-02-02T02:40:00.250Z", True),
        ("2026-02-02T02:40:00.250Z", True),
    ]
    bare = chatgpt(node("a", None, said("user", "one", at=None)), current="a", create_time=None)
    assert [(m["time"], m["approximate"]) for m in messages([bare])] == [(None, False)]


def test_ids_title_and_model():
    talk = chatgpt(
        node("q", None, said("user", "one")),
        node("a", "q", said("assistant", "two", metadata={"model_slug": "m-1"})),
        node("b", "a", said("assistant", "three")),
        current="b",
        default_model_slug="m-0",
    )
    talk["id"] = talk.pop("conversation_id")
    lines, report = read([talk])
    assert lines[1] == {
        "kind": "session",
        "agent": "chatgpt",
        "key": "c-1",
        "title": "Tide tables",
        "title_rank": 2,
    }
    found = [(m["uid"], m["role"], m["author"], m["model"]) for m in lines[2:-1]]
    assert found == [
        ("q", "user", "human", None),
        ("a", "assistant", "assistant", "m-1"),
        ("b", "assistant", "assistant", "m-0"),
    ]
    assert lines[-1] == {"kind": "end", "sessions": 1, "messages": 3, "notes": 0}
    assert report.agent == "chatgpt"


def test_half_a_character_in_a_title_costs_nothing():
    talk = plain_chatgpt()
    talk["title"] = "Boat \ud83d"
    assert b"\\ud83d" in json.dumps([talk]).encode()
    lines, report = read([talk])
    assert lines[1]["title"] == "Boat \ufffd"
    assert report.bad == 0


def test_bad_conversations_are_counted_and_the_others_taken():
    broken = plain_chatgpt("c-2")
    del broken["conversation_id"]
    lines, report = read([plain_chatgpt("c-1"), broken, {"mapping": 5}, plain_chatgpt("c-3")])
    assert [line["key"] for line in lines if line["kind"] == "session"] == ["c-1", "c-3"]
    assert report.told == [(2, "it has no id"), (3, "it has no mapping")]
    assert report.bad == 2


def test_an_id_that_could_act_on_a_terminal_is_none():
    bad = chatgpt(node("q\x1b[2J", None, said("user", "one")), current="q\x1b[2J", key="c-2")
    lines, report = read([bad, plain_chatgpt("c-1"), plain_chatgpt("c" * 201)])
    assert [line["key"] for line in lines if line["kind"] == "session"] == ["c-1"]
    assert [number for number, words in report.told if "an id in it" in words] == [1, 3]
