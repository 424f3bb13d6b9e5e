"""What is taken of the events, and who said it."""

import pytest
from copilot_kit import CONTEXT, CWD, SESSION, START, Log, parse, said

from cloxy_plugins.copilot_cli.content import mark_of


def chat():
    return Log().start().both("why does it flake?", "A clock race.")


def test_words_are_those_typed_and_those_answered():
    assert said(chat()) == [
        ("user", "human", "why does it flake?"),
        ("assistant", "assistant", "A clock race."),
    ]


def test_a_message_has_its_id_time_place_and_model():
    question, answer = parse(chat())[0]
    assert (question.uid, answer.uid) == ("e2", "e4")
    assert (question.session, question.cwd, question.branch) == (SESSION, CWD, "main")
    assert question.at == int(START.timestamp() * 1000) + 4_000
    assert (question.approximate, question.model, answer.model) == (False, None, "model-x")


def test_an_answer_that_only_asks_for_tools_says_nothing():
    log = chat().agent("", toolRequests=[{"name": "bash"}], reasoningText="I will look.")
    assert len(parse(log)[0]) == 2


def test_what_a_program_put_in_is_not_human():
    log = Log().start().user("go on", isAutopilotContinuation=True)
    log.user("every morning", source="schedule-1").user("hello", source="user")
    log.user("from elsewhere", inputOrigin="authenticated-cross-session")
    log.user("<skill-context>how to pdf</skill-context>", source="skill-pdf")
    log.user("a task ended", source="system")
    assert said(log) == [
        ("user", "program", "go on"),
        ("user", "program", "every morning"),
        ("user", "human", "hello"),
        ("user", "program", "from elsewhere"),
    ]


def test_a_sub_agent_is_a_session_of_its_own():
    log = chat().user("find the race", agent="call_1").agent("Found it.", agent="call_1")
    log.event("assistant.message", {"content": "Older.", "parentToolCallId": "call_2"})
    messages, facts, _result = parse(log)
    rows = [(m.session, m.role, m.author, m.text) for m in messages[2:]]
    assert rows == [
        (f"{SESSION}/call_1", "user", "subagent", "find the race"),
        (f"{SESSION}/call_1", "assistant", "subagent", "Found it."),
        (f"{SESSION}/call_2", "assistant", "subagent", "Older."),
    ]
    fact = facts[f"{SESSION}/call_1"]
    assert (fact.parent, fact.relation, fact.title) == (SESSION, "subagent", "find the race")
    assert facts[SESSION].title == "why does it flake?"


def test_a_later_order_does_not_rename_a_sub_agent():
    log = chat().user("find it", agent="c").agent("Done.", agent="c").user("and then", agent="c")
    _messages, facts, _result = parse(log, cuts=[7, 8, 9])
    assert facts[f"{SESSION}/c"].title == "find it"


def test_summaries_are_their_own_kind():
    log = chat()
    log.event("session.compaction_start")
    log.event("session.compaction_complete", {"success": True, "summaryContent": "We hunt."})
    log.event("session.compaction_complete", {"success": False, "error": "no"})
    log.event("session.task_complete", {"summary": "Fixed the race."})
    assert said(log)[2:] == [
        ("summary", "summary", "We hunt."),
        ("summary", "summary", "Fixed the race."),
    ]


def test_noise_is_understood_and_says_nothing():
    log = chat()
    for kind in (
        "tool.execution_start", "tool.execution_complete", "tool.user_requested", "hook.start",
        "hook.end", "permission.requested", "subagent.started", "session.usage_checkpoint",
        "session.shutdown", "session.permissions_changed", "session.mode_changed",
        "session.auto_mode_resolved", "system.notification", "skill.invoked", "abort",
        "session.info", "session.resume",
    ):  # fmt: skip
        log.event(kind, {"content": "noise", "message": "noise", "summary": "noise"})
    messages, _facts, result = parse(log)
    assert len(messages) == 2
    assert result.unknown == {}
    assert result.records == len(log.lines)


def test_unknown_types_are_counted():
    log = chat().event("session.brand_new", {"x": 1}).event("session.brand_new", {"x": 1})
    assert parse(log)[2].unknown == {"session.brand_new": 2}


def test_a_log_without_a_word_is_silent_and_one_of_another_form_is_not():
    silent = Log().start().event("session.shutdown")
    messages, facts, result = parse(silent)
    assert (messages, facts, result.silent) == ([], {}, True)
    assert parse(Log().start().event("user.said", {"text": "hello"}))[2].silent is False
    assert parse(Log().start().event("user.message", {"content": [1]}))[2].silent is False
    assert parse(Log().start().event("tool.execution_start"))[2].silent is False


def test_models_follow_what_was_chosen():
    log = Log().start(selectedModel="model-a")
    log.event("assistant.message", {"content": "one"})
    log.event("session.model_change", {"newModel": "model-b"})
    log.event("assistant.message", {"content": "two"})
    log.event("session.model_change", {"newModel": "auto"})
    log.event("assistant.message", {"content": "three"})
    log.event("session.auto_mode_resolved", {"chosenModel": "model-c"})
    log.event("assistant.message", {"content": "four"})
    models = [message.model for message in parse(log)[0]]
    assert models == ["model-a", "model-b", None, "model-c"]


def test_places_follow_the_session():
    log = chat()
    log.event("session.context_changed", {**CONTEXT, "cwd": CWD + "/src", "branch": "fix"})
    messages, facts, _result = parse(log.both("and here?", "Here too."))
    assert [(m.cwd, m.branch) for m in messages[1:3]] == [(CWD, "main"), (CWD + "/src", "fix")]
    assert (facts[SESSION].cwd, facts[SESSION].branch) == (CWD, "fix")


def test_sessions_in_our_own_folder_are_not_taken():
    log = Log().start(context={"cwd": "/srv/cloxy/work"}).both("summarise", "A summary.")
    messages, facts, result = parse(log)
    assert (messages, facts, result.silent) == ([], {}, True)


def test_without_a_first_event_the_folder_names_the_session():
    log = Log().both("hello", "hi")
    assert {m.session for m in parse(log, session="abc")[0]} == {"abc"}
    # The first event counts: copies of a log stay one session.
    twice = Log().start().both("hello", "hi").data()
    messages, _facts, _result = parse(twice + twice, session="abc")
    assert [(m.session, m.text) for m in messages] == [(SESSION, "hello"), (SESSION, "hi")]


def test_a_card_gives_the_title():
    assert parse(chat(), title=("Harbour crane", 4))[1][SESSION].title == "Harbour crane"
    assert parse(Log().start(), title=("Harbour crane", 4))[1] == {}
    log = chat().event("session.title_changed", {"title": "Clock\nrace"})
    assert parse(log)[1][SESSION].title == "Clock race"
    assert parse(log, title=("a prompt", 2))[1][SESSION].title == "Clock race"


def test_a_message_without_an_id_has_one_that_stays():
    log = chat()
    for line in log.lines:
        del line["id"]
    first, again = parse(log)[0], parse(log)[0]
    assert [m.uid for m in first] == [m.uid for m in again]
    assert len({m.uid for m in first}) == 2


PIXEL = "iVBORw0KGgo="


@pytest.mark.parametrize(
    ("attachment", "mark"),
    [
        (
            {"type": "blob", "data": PIXEL, "mimeType": "image/png", "displayName": "a.png"},
            "[image: image/png, sha256 4c4b6a3be131]",
        ),
        ({"type": "blob", "mimeType": "image/png", "displayName": "a.png"}, "[image: a.png]"),
        ({"type": "file", "path": "/srv/x/shot.PNG"}, "[image: shot.PNG]"),
        ({"type": "file", "path": "C:\\x\\notes.md", "displayName": ""}, "[file: notes.md]"),
        ({"type": "directory", "displayName": "src"}, "[folder: src]"),
        ({"type": "selection", "filePath": "/a/b.py", "text": "secret"}, "[selection: b.py]"),
        ({"type": "github_reference", "title": "A bug", "number": 7}, "[attachment: A bug]"),
        ({"type": "blob", "data": "AA==", "mimeType": "audio/wav"}, "[file: audio/wav]"),
        ({}, "[attachment: unknown]"),
    ],
)
def test_attachments_leave_a_mark(attachment, mark):
    assert mark_of(attachment) == mark
    log = Log().start().user("see", attachments=[attachment, None, 7])
    assert said(log) == [("user", "human", f"see\n\n{mark}")]
    assert said(Log().start().user("", attachments=[attachment])) == [("user", "human", mark)]
