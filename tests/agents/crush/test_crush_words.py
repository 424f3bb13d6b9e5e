"""What is told of the messages in a database."""

import json

import pytest
from crush_kit import (
    NOW,
    A,
    B,
    Store,
    T,
    finish,
    messages,
    one,
    part,
    results,
    said,
    source,
    text,
)

from cloxy_hookspecs.logs.titles import FIRST_WORDS, NAMED
from cloxy_plugins.crush.words import words_in

INITIAL = "Please analyze this codebase and create a **CRUSH.md** file containing:\n\n- Commands"


def test_words_of_both_with_their_facts(tmp_path):
    store = one(tmp_path).session()
    keys = store.chat()
    (result,) = results(source(tmp_path)).values()
    question, answer = result.messages
    assert [question.uid, answer.uid] == keys
    assert (question.role, question.author, question.model) == ("user", "human", None)
    assert (answer.role, answer.author, answer.model) == ("assistant", "assistant", "model-x")
    assert [question.at, answer.at] == [(T + 1) * 1000, (T + 2) * 1000], "seconds, not ms"
    assert not question.approximate
    assert question.cwd == str(tmp_path / "harbour")
    facts = result.sessions[A]
    assert (facts.title, facts.title_rank, facts.parent) == ("Cranes", NAMED, None)
    assert not result.bad_lines
    assert not result.unknown


def test_thinking_tools_and_shell_are_left_out(tmp_path):
    store = one(tmp_path).session()
    store.say(
        "assistant",
        part("reasoning", thinking="hm", signature="s"),
        "First.",
        part("tool_call", id="c", name="view", input="{}", finished=True),
        "Second.",
    )
    store.say("tool", part("tool_result", tool_call_id="c", content="OUTPUT", is_error=False))
    store.say("user", part("shell_command", command="ls", output="OUTPUT", exit_code=0))
    store.say("system", "You are Crush.")
    store.say("assistant", part("tool_call", id="d", name="view", input="{}", finished=True))
    (result,) = results(source(tmp_path)).values()
    assert [message.text for message in result.messages] == ["First.\n\nSecond."]
    assert not result.unknown
    assert not result.bad_lines


def test_hidden_continuations_are_left_out(tmp_path):
    store = one(tmp_path).session()
    store.say("user", text("Continue.", hidden=True))
    store.say("user", text("Go on.", hidden=False))
    assert said(source(tmp_path)) == [("user", "human", "Go on.")]


def test_pictures_become_marks_and_other_attachments_nothing(tmp_path):
    store = one(tmp_path).session()
    store.say(
        "user",
        "Look:",
        part("binary", Path="/home/x/shots/crane one.png", MIMEType="image/png", Data="aGk="),
        part("binary", Path="C:\\shots\\two.jpg", MIMEType="image/jpeg", Data="aGk="),
        part("binary", Path="", MIMEType="image/png", Data="aGk="),
        part("binary", Path="/home/x/notes.txt", MIMEType="text/plain", Data="Q0FOQVJZ"),
        part("image_url", url="https://example.org/p/three.png?token=CANARY"),
        part("image_url", url="data:image/gif;base64,aGk="),
    )
    ((_role, _author, words),) = said(source(tmp_path))
    digest = "sha256 8f434346648f"
    assert words == (
        "Look:\n\n[image: crane one.png]\n[image: two.jpg]\n"
        f"[image: image/png, {digest}]\n[image: three.png]\n[image: image/gif, {digest}]"
    )


@pytest.mark.parametrize(
    ("words", "author"),
    [
        (INITIAL, "program"),
        ("`" + INITIAL, "program"),
        (
            "Analyze this codebase and create/update **AGENTS.md** to help future agents work"
            " effectively in this repository.",
            "program",
        ),
        ("Create or update **notes/AGENTS.md** to help future agents work here.", "program"),
        (
            "The previous session was interrupted because it got too long, the initial user"
            " request was: `mend the crane`",
            "program",
        ),
        ("Please analyze this codebase and tell me what is slow", "human"),
        ("Why was the previous session interrupted because of this?", "human"),
    ],
)
def test_prompts_of_crush_itself_are_no_persons(tmp_path, words, author):
    one(tmp_path).session().say("user", words)
    assert said(source(tmp_path)) == [("user", author, words)]


def test_a_summary_is_one_and_what_was_said_before_stays(tmp_path):
    store = one(tmp_path).session()
    store.chat()
    key = store.say("assistant", "The crane overheats: it never idles.")
    store.run("UPDATE messages SET is_summary_message = 1 WHERE id = ?", key)
    store.chat(A, "And now?", "Now, too.")
    assert [role for role, _author, _words in said(source(tmp_path))] == [
        "user", "assistant", "summary", "user", "assistant",
    ]  # fmt: skip
    assert said(source(tmp_path))[2] == (
        "summary",
        "summary",
        "The crane overheats: it never idles.",
    )


def test_older_databases_name_the_summary_in_the_session(tmp_path):
    store = one(tmp_path, marked=False).session(summary="s1")
    store.chat()
    store.say("assistant", "The crane overheats.", key="s1")
    assert said(source(tmp_path))[2] == ("summary", "summary", "The crane overheats.")


@pytest.mark.parametrize("key", ["aa-0001$$call_1", "call_1"])
def test_sub_agents_are_sessions_of_their_own(tmp_path, key):
    store = one(tmp_path).session().session(key, parent=A, title="New Agent Session")
    store.chat()
    store.chat(key, "find it", "found")
    found = results(source(tmp_path))
    assert {name: len(result.messages) for name, result in found.items()} == {A: 2, key: 2}
    facts = found[key].sessions[key]
    assert (facts.parent, facts.relation) == (A, "subagent")
    assert (facts.title, facts.title_rank) == ("find it", FIRST_WORDS)
    assert [message.author for message in found[key].messages] == ["subagent", "subagent"]


def test_a_sub_agent_without_its_parent_is_one_by_its_id(tmp_path):
    one(tmp_path).session("m1$$c1").chat("m1$$c1")
    assert {author for _role, author, _words in said(source(tmp_path))} == {"subagent"}


def test_a_sub_agent_whose_id_can_stand_in_no_address_is_told(tmp_path):
    """The end of its id comes from the provider of the model."""
    odd = "m1$$call_1__thought__AAB/cd#e+" + "x" * 300
    store = one(tmp_path).session().session(odd, parent=A, title="Find it")
    store.chat()
    store.chat(odd, "find it", "found")
    found = results(source(tmp_path))
    (key,) = found.keys() - {A}
    assert [message.text for message in found[key].messages] == ["find it", "found"]
    assert found[key].sessions[key].parent == A
    assert len(key) < 100


def test_sessions_in_which_titles_are_made_up_are_left_out(tmp_path):
    store = one(tmp_path).session().session(f"title-{A}", parent=A, title="Generate a title")
    store.chat()
    store.chat(f"title-{A}", "Write a title for this", "Cranes")
    assert list(results(source(tmp_path))) == [A]


@pytest.mark.parametrize("title", ["New Session", "Untitled Session", "untitled session", " "])
def test_placeholders_are_no_titles(tmp_path, title):
    one(tmp_path).session(title=title).chat()
    (result,) = results(source(tmp_path)).values()
    facts = result.sessions[A]
    assert (facts.title, facts.title_rank) == ("Why does the crane overheat?", FIRST_WORDS)


def test_a_session_without_messages_is_none(tmp_path):
    one(tmp_path).session().session(B)
    assert results(source(tmp_path)) == {}


def test_times_that_cannot_be_are_not_believed(tmp_path):
    store = one(tmp_path).session()
    store.say("user", "one")
    store.say("user", "two", at=NOW)  # the schema says milliseconds; such a row has them
    store.say("user", "three", at=9_999_999_999)
    store.run("UPDATE sessions SET updated_at = 9999999999")
    made = source(tmp_path)
    (item,) = made.discover([])
    assert item.mtime_ns < 10**15, "a time of the future is no version"
    one_, two, three = messages(made)
    assert (one_.at, one_.approximate) == ((T + 1) * 1000, False)
    assert (two.at, two.approximate) == (NOW, False)
    assert (three.at, three.approximate) == (NOW, True)


def test_a_message_without_a_time_has_that_of_its_last_change(tmp_path):
    store = one(tmp_path).session()
    store.say("user", "when?", key="m1")
    store.run("UPDATE messages SET created_at = 'x', updated_at = ? WHERE id = 'm1'", T + 77)
    (message,) = messages(source(tmp_path))
    assert (message.at, message.approximate) == ((T + 77) * 1000, True)


def test_parts_as_bytes_are_read_too(tmp_path):
    store = one(tmp_path).session()
    store.row("m1", A, "user", json.dumps([text("as bytes")]).encode())
    assert said(source(tmp_path)) == [("user", "human", "as bytes")]


def test_what_cannot_be_read_is_told_and_the_rest_is_there(tmp_path):
    store = one(tmp_path).session()
    store.row("m1", A, "user", '[{"type":"text","data":{"text":"half')
    store.row("m2", A, "user", '{"type":"text"}')
    store.row(
        "m3", A, "user", json.dumps([text("kept"), 7, part("text", text=7), {"type": "text"}])
    )
    store.row("m4", A, "user", json.dumps([text("also"), part("hologram", x=1), {"x": 1}]))
    store.row("m5", A, "oracle", json.dumps([text("who?")]))
    store.row("", A, "user", json.dumps([text("without an id")]))
    store.row("m6", A, "user", "[" * 100_000)
    store.row("m7", A, "user", json.dumps([part("text", text=7)]))
    store.chat()
    (result,) = results(source(tmp_path)).values()
    assert [message.text for message in result.messages][:2] == ["kept", "also"]
    assert len(result.messages) == 4
    assert [bad.reason for bad in result.bad_lines] == [
        "a message cannot be read",
        "a message cannot be read",
        "a part of a message cannot be read",
        "a message cannot be read",
        "a message cannot be read",
        "a part of a message cannot be read",
    ]
    assert dict(result.unknown) == {"part hologram": 1, "part None": 1, "role oracle": 1}


def test_messages_of_no_session_are_told_quietly(tmp_path):
    store = one(tmp_path).session()
    store.chat()
    store.chat(B)
    found = results(source(tmp_path))
    assert [bad.reason for bad in found[B].bad_lines] == [
        "a session is not in the list of sessions"
    ]
    assert found[B].silent
    assert len(found[A].messages) == 2


def test_halves_of_pairs_do_not_break_a_message(tmp_path):
    store = one(tmp_path).session()
    store.row("m1", A, "user", '[{"type":"text","data":{"text":"cut \\ud83d off"}}]')
    assert said(source(tmp_path)) == [("user", "human", "cut � off")]


def test_a_very_large_message_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr("cloxy_plugins.crush.tables.LARGEST", 1000)
    store = one(tmp_path).session()
    store.say("user", "x" * 2000)
    store.say("user", "small")
    (result,) = results(source(tmp_path)).values()
    assert [message.text for message in result.messages] == ["small"]
    assert len(result.bad_lines) == 1


def test_sessions_of_cloxy_itself_are_not_taken(tmp_path):
    from crush_kit import listing

    store = Store(tmp_path / "x", folder=tmp_path / "elsewhere").session()
    store.chat()
    listing(tmp_path / "data", ("/srv/cloxy/work", str(tmp_path / "elsewhere")))
    (result,) = results(source(tmp_path)).values()
    assert result.messages == []


def test_a_message_without_a_finish_part_is_told(tmp_path):
    """The program may have ended before it was finished."""
    store = one(tmp_path).session()
    store.row("m1", A, "assistant", json.dumps([text("Becau")]))
    assert said(source(tmp_path)) == [("assistant", "assistant", "Becau")]


def test_a_picture_whose_data_is_none_has_a_mark_too(tmp_path):
    odd = part("binary", Path="", MIMEType="image/png", Data="abcde")
    one(tmp_path).session().say("user", odd, odd | {"data": {"MIMEType": "image/png"}})
    ((_role, _author, words),) = said(source(tmp_path))
    first, second = words.split("\n")
    assert first.startswith("[image: image/png, sha256 ")
    assert second == "[image: image/png]"


def test_words_of_anything_never_raise():
    for value in (None, 7, b"\xff\xfe", "", "null", "7", '"x"', "[null]", "[[]]", "{}"):
        found = words_in(value)
        assert found is None or not found.text
    assert words_in(json.dumps([finish()])).text == ""
