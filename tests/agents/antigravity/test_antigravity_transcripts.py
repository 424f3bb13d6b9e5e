"""Transcripts: what is kept of their steps, where conversations were held, who started them."""

import json
import os

import pytest
from agents.sources import items, only, read
from antigravity_kit import (
    AT,
    CWD,
    SAID,
    A,
    B,
    C,
    Log,
    Stores,
    chat,
    every,
    request,
    said,
    stamp,
    texts,
)

from cloxy_plugins.antigravity.places import transcripts_below
from cloxy_plugins.antigravity.words import request_of


@pytest.fixture
def stores(tmp_path):
    return Stores(tmp_path)


def test_prompts_answers_and_checkpoints_are_kept_and_nothing_else(stores):
    stores.log(chat())
    result = only(stores.logs)
    assert said(result) == SAID
    assert [m.uid for m in result.messages] == [f"step-{n}" for n in (0, 6, 7, 8, 10)]
    assert not result.bad_lines
    assert not result.unknown
    facts = result.sessions[A]
    assert (facts.title, facts.parent) == ("Why does the crane overheat?", None)


def test_times_are_the_steps_own(stores):
    stores.log(Log().both("one", "1"))
    assert [(m.at, m.approximate) for m in only(stores.logs).messages] == [
        (AT * 1000, False),
        ((AT + 2) * 1000, False),
    ]


def test_the_model_that_was_chosen_holds_until_another_is(stores):
    log = Log().user("a", model="Gemini 9 Pro (High)").agent("1").both("b", "2")
    log.user("c", model="Gemini 9.5 Flash").agent("3")
    stores.log(log)
    assert [m.model for m in only(stores.logs).messages] == [
        None, "Gemini 9 Pro (High)", None, "Gemini 9 Pro (High)", None, "Gemini 9.5 Flash",
    ]  # fmt: skip


def test_words_about_a_choice_of_a_model_are_none(stores):
    stores.log(Log().both("`Model Selection` from None to Other. No need to say it.", "1"))
    assert only(stores.logs).messages[1].model is None


def test_lines_in_another_order_are_sorted(stores):
    log = chat()
    log.lines = [*log.lines[:6], *reversed(log.lines[6:])]
    stores.log(log)
    result = only(stores.logs)
    assert said(result) == SAID
    assert [m.at for m in result.messages] == sorted(m.at for m in result.messages)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (request("a <b>c</b>"), "a <b>c</b>"),
        ("<USER_REQUEST>\nabout </USER_REQUEST> itself\n</USER_REQUEST>\nX",
         "about </USER_REQUEST> itself"),
        ("<USER_REQUEST>\ncut off", "cut off"),
        ("no marks\n<ADDITIONAL_METADATA>\nX\n</ADDITIONAL_METADATA>", "no marks"),
        ("what is <NOT_CLOSED> here?", "what is <NOT_CLOSED> here?"),
        ("plain", "plain"),
    ],
)  # fmt: skip
def test_only_the_request_is_what_was_typed(stores, content, words):
    stores.log(Log().step("USER_EXPLICIT", "USER_INPUT", content).agent("fine"))
    assert texts(only(stores.logs)) == [words, "fine"]


def test_a_request_without_words_is_none(stores):
    stores.log(Log().user("").agent("fine"))
    assert texts(only(stores.logs)) == ["fine"]


def test_a_prompt_that_nobody_typed_is_a_programs(stores):
    stores.log(Log().user("go on", source="SYSTEM").agent("fine"))
    result = only(stores.logs)
    assert [m.author for m in result.messages] == ["program", "assistant"]


def test_a_step_that_is_written_again_is_one(stores):
    log = Log().both("one", "hal")
    log.lines.append({**log.lines[-1], "content": "half and more"})
    log.lines.append({**log.lines[-1], "content": ""})
    stores.log(log)
    assert texts(only(stores.logs)) == ["one", "half and more"]


def test_a_step_without_a_number_has_an_id_of_its_own(stores):
    log = chat()
    for line in log.lines:
        line["step_index"] = None
    stores.log(log)
    result = only(stores.logs)
    assert said(result) == SAID
    assert len({m.uid for m in result.messages}) == 5
    assert [m.uid for m in only(stores.logs).messages] == [m.uid for m in result.messages]


def test_of_two_transcripts_the_one_with_everything_counts(stores):
    full = chat()
    cut = Log()
    cut.lines = [{**line} for line in full.lines[:9]]
    cut.lines[0]["content"] = "<USER_REQUEST>\nWhy does<truncated>"
    more = {**full.lines[8], "step_index": 20, "content": request("only here")}
    stores.log(cut.data() + json.dumps(more).encode() + b"\n")
    stores.full(full)
    (item,), _ = items(stores.logs)
    assert item.uri.endswith("transcript.jsonl")
    assert said(read(stores.logs, item)) == [*SAID, ("user", "human", "only here")]


@pytest.mark.parametrize("empty", ["cut", "full", "no"])
def test_one_transcript_is_enough(stores, empty):
    if empty != "cut":
        stores.log(chat())
    if empty != "full":
        stores.full(chat())
    if empty == "cut":
        stores.log(b"")
    elif empty == "full":
        stores.full(b"")
    assert said(only(stores.logs)) == SAID


def test_a_full_transcript_alone_is_read(stores):
    stores.full(chat())
    assert said(only(stores.logs)) == SAID


def test_a_change_of_the_other_transcript_makes_a_new_version(stores):
    stores.log(chat())
    (before,), _ = items(stores.logs)
    stores.full(chat())
    (after,), _ = items(stores.logs)
    assert (before.uri, before.identity) == (after.uri, after.identity)
    assert before != after


def test_the_folder_comes_from_the_list_of_prompts(stores):
    stores.prompts(
        {"conversationId": B, "workspace": "/srv/demo/quay", "display": "x", "timestamp": 1},
        "{half",
        [7],
        {"conversationId": A, "workspace": CWD, "display": "why", "timestamp": 1},
        {"conversationId": A, "workspace": "/srv/demo/later", "display": "and", "timestamp": 2},
    )
    stores.log(chat())
    result = only(stores.logs)
    assert result.sessions[A].cwd == CWD
    assert {m.cwd for m in result.messages} == {CWD}
    stores.prompts({"conversationId": A, "workspace": "file:///srv/demo/my%20quay"})
    assert only(stores.logs).sessions[A].cwd == "/srv/demo/my quay"


def test_else_from_the_conversations_last_held(stores):
    stores.last({CWD: A, "/srv/demo/quay": B})
    stores.log(chat())
    assert only(stores.logs).sessions[A].cwd == CWD
    stores.last("{")
    assert only(stores.logs).sessions[A].cwd is None


def test_else_from_a_path_behind_a_prompt_that_lies_in_a_known_folder(tmp_path):
    stores = Stores(tmp_path, known=["/srv/demo", CWD, "/srv/demo/harb"])
    stores.log(Log().user("why", f"Active Document: {CWD}/src/crane.py (LANGUAGE_PYTHON)"))
    assert only(stores.logs).sessions[A].cwd == CWD
    stores.log(Log().user(f"look at {CWD}/src/crane.py"))
    assert only(stores.logs).sessions[A].cwd is None


def test_a_conversation_that_another_one_started_is_its_sub_agent(stores):
    stores.prompts({"conversationId": A, "workspace": "/srv/demo/main"})
    stores.log(chat().starts(B).starts(C, "/srv/demo/quay").starts(A))
    stores.log(Log().both("find the crane", "found"), B)
    stores.log(Log().both("find the quay", "found").summary(), C)
    found = every(stores.logs)
    assert said(found[B]) == [
        ("user", "subagent", "find the crane"),
        ("assistant", "subagent", "found"),
    ]
    for key, folder in ((B, CWD), (C, "/srv/demo/quay")):
        facts = found[key].sessions[key]
        assert (facts.parent, facts.relation, facts.cwd) == (A, "subagent", folder)
    assert found[C].messages[-1].author == "summary"
    facts = found[A].sessions[A]
    assert (facts.parent, facts.relation, facts.cwd) == (None, None, "/srv/demo/main")


def test_words_about_a_conversation_start_none(stores):
    text = f'INVOKE_SUBAGENT {{"conversationId": "{B}"}}'
    stores.log(Log().both(text, text).step("SYSTEM", "CHECKPOINT", text))
    stores.log(Log().both("one", "1"), B)
    assert every(stores.logs)[B].messages[0].author == "human"


def test_known_noise_is_silent_and_other_steps_are_counted(stores):
    log = chat().step("SYSTEM", "SYSTEM_MESSAGE", "x").step("SYSTEM", "ERROR_MESSAGE", "x")
    log.step("MODEL", "RUN_SOMETHING_NEW", "x").step("SYSTEM", "BRAND_NEW", "x")
    log.step("MODEL", "NEW_ANSWER", "x", thinking="y")
    log.step("USER_EXPLICIT", "USER_INPUT", {"text": "x"}).step("SYSTEM", "CHECKPOINT")
    log.lines.append({"a": 1})
    stores.log(log)
    result = only(stores.logs)
    assert said(result) == SAID
    assert dict(result.unknown) == {
        "BRAND_NEW": 1,
        "NEW_ANSWER": 1,
        "USER_INPUT of another form": 1,
        "CHECKPOINT of another form": 1,
        "(no type)": 1,
    }


def test_the_editors_conversations_are_read_too(stores):
    stores.log(chat(), home=stores.editor)
    assert said(only(stores.logs)) == SAID


def test_our_own_sessions_are_not_taken(stores):
    stores.prompts({"conversationId": A, "workspace": "/srv/demo/cloxy-data/work"})
    stores.log(chat())
    assert only(stores.logs).messages == []


def test_what_a_transcript_is_not(stores):
    path = stores.log(chat())
    for other in (
        path.with_name("transcript.jsonl.bak"),
        path.with_name("other.jsonl"),
        path.parents[2] / "transcript.jsonl",
        path.parents[2] / "work" / ".system_generated" / "logs" / "transcript.jsonl",
        path.parents[1] / "tasks" / "logs" / "transcript.jsonl",
        stores.home / "brain" / "transcript.jsonl",
    ):
        other.parent.mkdir(parents=True, exist_ok=True)
        other.write_bytes(path.read_bytes())
    found, _ = items(stores.logs)
    assert [item.uri for item in found] == [str(path)]


def test_only_folders_of_conversations_are_looked_into(stores):
    tree = transcripts_below(stores.home / "brain")
    assert tree.enter((A,))
    assert tree.enter((A, ".system_generated"))
    assert tree.enter((A, ".system_generated", "logs"))
    assert not tree.enter((A, "scratch"))
    assert not tree.enter((A, ".system_generated", "steps"))
    assert not tree.enter((A, "scratch", "logs"))
    around = transcripts_below(stores.home.parent)
    assert around.enter(("antigravity",))
    assert around.enter(("antigravity", "brain"))
    assert not around.enter(("antigravity", "conversations"))


def test_a_transcript_of_something_else_is_none(stores):
    path = stores.log(chat())
    other = stores.home / "other" / A / ".system_generated" / "logs" / "transcript.jsonl"
    other.parent.mkdir(parents=True)
    other.write_bytes(path.read_bytes())
    found, _ = items(stores.logs.of(stores.home))
    assert [item.uri for item in found] == [str(path)]


@pytest.mark.skipif(os.name == "nt", reason="links need a right of their own there")
def test_side_files_that_are_links_are_not_followed(stores, tmp_path):
    outside = tmp_path / "outside.jsonl"
    outside.write_text(json.dumps({"conversationId": A, "workspace": CWD}) + "\n")
    stores.log(chat())
    (stores.home / "history.jsonl").symlink_to(outside)
    result = only(stores.logs)
    assert result.sessions[A].cwd is None
    assert len(result.messages) == 5
    assert result.messages[0].at == AT * 1000
    assert stamp(0) == "2026-07-07T04:13:20Z"


@pytest.mark.parametrize("words", [" " * 300_000 + "x", "<ADDITIONAL_METADATA>" * 30_000])
def test_words_that_would_be_looked_through_again_and_again(words):
    assert request_of(words) == words.strip()
