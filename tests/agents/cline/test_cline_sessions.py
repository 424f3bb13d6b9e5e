"""What is kept of sessions of Cline 4, and how they belong together."""

import pytest
from agents.sources import items, only, texts
from cline_kit import AT, HARBOUR, TASK, Tasks, put, said, say, talk, text, typed

WARNING = (
    "Warning: this is a legacy conversation, which means tool names may have changed. Please use"
    " the most up-to-date tools you are aware of."
)


@pytest.fixture
def tasks(tmp_path):
    return Tasks(tmp_path)


def told(tasks, *messages, **more):
    tasks.session("s1", *messages, **more)
    return texts(only(tasks.source))


def test_a_session_has_its_facts_from_the_manifest(tasks):
    tasks.session(
        "s1",
        said(typed("Why?"), ts=AT),
        said("It never idles.", "assistant", ts=AT + 9, modelInfo={"id": "model-x"}),
        said("Nor rests.", "assistant", ts=AT + 10),
        manifest={"metadata": {"title": "Crane"}, "model": "model-y", "prompt": "Why?"},
    )
    result = only(tasks.source)
    assert texts(result) == [
        ("user", "Why?"),
        ("assistant", "It never idles."),
        ("assistant", "Nor rests."),
    ]
    assert [each.author for each in result.messages] == ["human", "assistant", "assistant"]
    assert [each.at for each in result.messages] == [AT, AT + 9, AT + 10]
    assert [each.model for each in result.messages] == [None, "model-x", "model-y"]
    facts = result.sessions["s1"]
    assert (facts.title, facts.cwd, facts.parent, facts.program) == ("Crane", HARBOUR, None, False)


def test_a_session_without_a_manifest_is_read_too(tasks):
    assert told(tasks, said(typed("Why?")), said("So.", "assistant")) == [
        ("user", "Why?"),
        ("assistant", "So."),
    ]


@pytest.mark.parametrize(
    ("written", "words"),
    [
        (typed("Why?"), "Why?"),
        ("Why?", "Why?"),
        (f"<mode_notice>NOTICE</mode_notice>{typed('Why?')}", "Why?"),
        (f'{typed("Why?")}\n<file_content path="x">BODY</file_content>', "Why?"),
        (typed("a </user_input> b"), "a </user_input> b"),
        ('<user_command slash="team">Why?</user_command>', "/team Why?"),
        ("<environment_notice>NOTICE</environment_notice>Why?", "Why?"),
        ("What is <environment_details> for?", "What is <environment_details> for?"),
    ],
)
def test_what_a_person_typed(tasks, written, words):
    assert told(tasks, said(written)) == [("user", words)]


@pytest.mark.parametrize(
    "message",
    [
        said(typed("[TASK RESUMPTION] Please continue where you left off.")),
        said('<hook_context source="x">\nHOOK\n</hook_context>'),
        said("NOTICE", metadata={"kind": "recovery_notice", "displayRole": "system"}),
        said("NOTICE", metadata={"displayRole": "status"}),
        said("NOTICE", metadata={"kind": "stop_notice"}),
        said([{"type": "tool_result", "tool_use_id": "t1", "content": "OUTPUT"}]),
        said("FAILED", "error"),
        said([{"type": "thinking", "thinking": "THOUGHTS"}], "assistant"),
        said([{"type": "tool_use", "id": "t1", "name": "read_files", "input": {}}], "assistant"),
    ],
)
def test_noise_is_neither_kept_nor_unknown(tasks, message):
    tasks.session("s1", said(typed("Why?")), message)
    result = only(tasks.source)
    assert texts(result) == [("user", "Why?")]
    assert not result.unknown
    assert not result.bad_lines


def test_words_sent_while_the_agent_worked_are_a_persons(tasks):
    assert told(tasks, said("And the motor?", metadata={"userRunSpan": 0})) == [
        ("user", "And the motor?")
    ]


def test_questions_and_results_are_inside_of_calls(tasks):
    calls = [
        {"type": "tool_use", "id": "t1", "name": "ask_question", "input": {"question": "Which?"}},
        {"type": "tool_use", "id": "t2", "name": "read_files", "input": {"question": "INPUT"}},
    ]
    answers = [
        {"type": "tool_result", "tool_use_id": "t1", "content": "The second"},
        {"type": "tool_result", "tool_use_id": "t2", "content": "OUTPUT"},
    ]
    ended = {
        "type": "tool_use",
        "id": "t3",
        "name": "submit_and_exit",
        "input": {"summary": "End."},
    }
    failed = {"type": "tool_result", "tool_use_id": "t1", "is_error": True, "content": "TIMEOUT"}
    assert told(
        tasks,
        said([text("Hm."), *calls], "assistant"),
        said(answers),
        said([failed]),
        said([ended], "assistant"),
    ) == [("assistant", "Hm.\n\nWhich?"), ("user", "The second"), ("assistant", "End.")]


def test_summaries_stand_in_the_session_or_beside_it_and_are_kept_once(tasks):
    summary = said("What was done.", metadata={"kind": "compaction_summary"})
    other = {**said("More was done."), "compactionSummary": True}
    path = {"compaction": [summary, other, said("NOT THIS")], "manifest": {}}
    tasks.session("s1", said(typed("Why?")), summary, **path)
    result = only(tasks.source)
    assert texts(result) == [
        ("user", "Why?"),
        ("summary", "What was done."),
        ("summary", "More was done."),
    ]
    assert {each.author for each in result.messages[1:]} == {"summary"}


def test_an_agent_that_was_started_is_a_session_below(tasks):
    tasks.session("s1", said(typed("Why?")), manifest={"metadata": {"title": "Crane"}})
    tasks.session("s1", said("Find out why."), said("The motor.", "assistant"), child="agent_7")
    facts, messages = tasks.by_session()["s1/agent_7"]
    assert (facts.parent, facts.relation, facts.cwd) == ("s1", "subagent", HARBOUR)
    assert facts.title == "Find out why."
    assert [(each.role, each.author) for each in messages] == [
        ("user", "subagent"),
        ("assistant", "subagent"),
    ]


def test_a_scheduled_session_is_a_programs(tasks):
    origin = {"mode": "automation", "trigger": "nightly"}
    tasks.session(
        "s1",
        said(typed("Tidy up")),
        said("Tidy.", "assistant"),
        manifest={"metadata": {"sessionHistoryOrigin": origin}},
    )
    result = only(tasks.source)
    assert [each.author for each in result.messages] == ["program", "assistant"]
    assert result.sessions["s1"].program


def test_a_fork_has_the_ids_of_the_session_that_said_it_first(tasks):
    spoken = [said(typed("ok"), ts=AT), said("ok", "assistant", ts=AT + 10)]
    tasks.session("s1", *spoken, said(typed("ok"), ts=AT + 5000), manifest={})

    def forked(origin, at):
        return {"metadata": {"fork": {"forkedFromSessionId": origin, "forkedAt": at}}}

    tasks.session(
        "s2",
        *spoken,
        said(typed("ok"), ts=AT + 9000),
        manifest=forked("s1", "2026-01-21T12:53:21Z"),
    )
    tasks.session("s3", *spoken, manifest=forked("s2", "2026-01-21T12:53:30Z"))
    found = tasks.by_session()
    ids = {key: [each.uid for each in messages] for key, (_facts, messages) in found.items()}
    assert ids["s2"][:2] == ids["s1"][:2] == ids["s3"]
    assert ids["s2"][2] != ids["s1"][2], "both said it after they had parted"
    facts = {key: (each.parent, each.relation) for key, (each, _messages) in found.items()}
    assert facts == {"s1": (None, None), "s2": ("s1", "fork"), "s3": ("s2", "fork")}


@pytest.mark.parametrize("origin", ["s2", "../s1", "..", "gone", "a\\b"])
def test_forks_of_nothing_that_is_there(tasks, origin):
    metadata = {"fork": {"forkedFromSessionId": origin, "forkedAt": "2030-01-01T00:00:00Z"}}
    tasks.session("s2", said(typed("Why?"), ts=AT), manifest={"metadata": metadata})
    assert texts(only(tasks.source)) == [("user", "Why?")]


def test_a_fork_of_something_outside_is_not_looked_up(tasks):
    metadata = {"fork": {"forkedFromSessionId": "../x", "forkedAt": "2030-01-01T00:00:00Z"}}
    tasks.session("s2", said(typed("Why?"), ts=AT), manifest={"metadata": metadata})
    before = [each.uid for each in only(tasks.source).messages]
    (tasks.sessions / "x").mkdir()
    outside = {"metadata": {"fork": {"forkedFromSessionId": "s9"}}}
    put(tasks.sessions.parent / "x.json", outside)
    (tasks.sessions.parent / "x").mkdir()
    assert [each.uid for each in only(tasks.source).messages] == before


def test_a_task_that_cline_4_went_on_with_is_one_session_without_repetitions(tasks):
    """What was said before is read from the task, what was said after from the session."""
    back = [say(20, "user_feedback", "And the motor?"), say(21, "text", "It runs hot.")]
    tasks.shown(*talk(), *back)
    counts = {"version": 1, "baseUiMessageCount": len(talk()), "baseApiMessageCount": 3}
    tasks.beside("sdk_writeback.json", counts)
    tasks.session(
        TASK,
        said("<task>\nWhy does the crane overheat?\n</task>"),
        said("Let me look at the crane.", "assistant"),
        said(WARNING),
        said(typed("And the motor?")),
        said("It runs hot.", "assistant"),
        manifest={},
    )
    assert len(items(tasks.source)[0]) == 2
    found = tasks.by_session()
    assert list(found) == [TASK]
    words = [each.text for each in found[TASK][1]]
    assert sorted(words) == sorted(
        [
            "Why does the crane overheat?",
            "Let me look at the crane.",
            "It never idles.",
            "Add a test for Ünïcödé 港",
            "And the motor?",
            "It runs hot.",
        ]
    )


def test_ids_stay_when_those_of_the_store_are_made_anew(tasks):
    tasks.session("s1", said(typed("ok"), id="a"), said("ok", "assistant"), said(typed("ok")))
    before = [each.uid for each in only(tasks.source).messages]
    assert len(set(before)) == 3
    tasks.session("s1", said(typed("ok"), id="b", ts=AT), said("ok", "assistant"), said("ok"))
    assert [each.uid for each in only(tasks.source).messages] == before


def test_pictures_have_a_mark(tasks):
    picture = {"type": "image", "data": "aGFyYm91cg==", "mediaType": "image/png"}
    ((_role, words),) = told(tasks, said([text(typed("Why?")), picture]))
    assert words.startswith("Why?\n\n[image: image/png, sha256 ")


@pytest.mark.parametrize("whole", [b"", b"[]", b"{", b'{"messages": {}}', b"7", b"null"])
def test_a_file_that_is_no_session_is_told(tasks, whole):
    tasks.session("s1").write_bytes(whole)
    result = only(tasks.source)
    assert not result.messages
    assert len(result.bad_lines) == 1
