"""What is taken of the records, and who said it."""

import pytest
from droid_kit import CWD, NOW, SESSION, START, Log, parse, said, text

REMINDER = "<system-reminder>\nToday is Sunday.\n</system-reminder>"


def chat(**header):
    return Log(**header).both("why does it flake?", "A clock race.")


def test_words_are_those_typed_and_those_answered_without_thoughts():
    assert said(chat().tool()) == [
        ("user", "human", "why does it flake?"),
        ("assistant", "assistant", "A clock race."),
    ]


def test_a_message_has_its_id_time_place_and_model():
    question, answer = parse(chat())[0]
    assert (question.uid, answer.uid) == ("d1", "d2")
    assert (question.session, question.cwd) == (SESSION, CWD)
    assert question.at == int(START.timestamp() * 1000) + 2000
    assert (question.approximate, question.model, answer.model) == (False, None, "model-d")


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        ([REMINDER, "go"], "go"),
        ([f"{REMINDER}\n{REMINDER}\n go "], "go"),
        ([f"go\n{REMINDER}"], "go"),
        ([f"{REMINDER}go on{REMINDER}"], "go on"),
        ([REMINDER], None),
        ([REMINDER + REMINDER], None),
        (["<system-reminder>cut off"], None),
        (["what is <system-reminder> for?"], "what is <system-reminder> for?"),
        (["why </system-reminder>"], "why </system-reminder>"),
        (["one", "two"], "one\n\ntwo"),
        (["  "], None),
    ],
)
def test_reminders_of_the_program_are_dropped(texts, words):
    assert said(Log().user(*texts)) == ([("user", "human", words)] if words else [])


def test_what_an_agent_quotes_stays():
    assert said(Log().agent(REMINDER)) == [("assistant", "assistant", REMINDER)]


def test_content_may_be_a_text_or_have_texts_in_it():
    log = Log().says("user", "why?").says("assistant", ["Because.", text("So.")])
    assert [words for _role, _author, words in said(log)] == ["why?", "Because.\n\nSo."]


@pytest.mark.parametrize(
    "more",
    [
        {"visibility": "llm_only"}, {"visibility": "user_only"}, {"hookEventName": "Stop"},
        {"isUserVisible": False}, {"hiddenFromUser": True},
    ],
)  # fmt: skip
def test_what_the_program_puts_beside_the_conversation_is_dropped(more):
    log = chat().user("The context is this.", **more)
    messages, _facts, result = parse(log)
    assert (len(messages), result.records) == (2, len(log.lines))


def test_a_program_that_types_is_no_human():
    log = Log().user("every morning", userMessageSource="automation")
    log.user("typed", userMessageSource="api").user("shown", visibility="both")
    assert said(log) == [
        ("user", "program", "every morning"),
        ("user", "human", "typed"),
        ("user", "human", "shown"),
    ]


@pytest.mark.parametrize(
    "fields",
    [
        {"summaryText": "They hunt a race."},
        {"summary": "They hunt a race."},
        {"summary": {"body": "They hunt a race."}},
    ],
)
def test_a_compaction_leaves_its_summary(fields):
    log = chat()
    log.record("compaction_state", id="c", timestamp=log.stamp(), **fields)
    assert said(log)[2:] == [("summary", "summary", "They hunt a race.")]


def test_a_summary_may_have_a_title():
    log = chat().record("compaction_state", summary={"title": "Race", "body": "Found."})
    assert said(log)[-1][2] == "Race\n\nFound."


def test_noise_is_understood_and_what_is_not_known_is_counted():
    log = chat().says("system", "be nice").says("tool", "x")
    for kind in ("todo_state", "session_settings", "agent_turn_outcome", "session_end"):
        log.record(kind, todos=[{"description": "noise", "status": "pending"}])
    messages, _facts, result = parse(log)
    assert (len(messages), result.unknown, result.records) == (2, {}, len(log.lines))
    log.record("brand_new").record(None).says("future", "x").says("user", 7)
    log.says("assistant", [{"type": "hologram"}, text("see")])
    assert parse(log)[2].unknown == {
        "brand_new": 1, "(no type)": 1, "message/future": 1, "message/(no content)": 1,
        "block/hologram": 1,
    }  # fmt: skip
    assert said(log)[-1][2] == "see"


def test_a_log_without_a_word_is_silent_and_one_of_another_form_is_not():
    messages, facts, result = parse(Log().record("todo_state"))
    assert (messages, facts, result.silent) == ([], {}, True)
    assert parse(Log().record("person", text="hello"))[2].silent is False
    assert parse(Log().says("user", {"text": "hello"}))[2].silent is False
    assert parse(Log().tool())[2].silent is False


def test_titles():
    assert parse(chat())[1][SESSION].title == "why does it flake?"
    assert parse(chat(title="Race"))[1][SESSION].title == "Race"
    both = {"title": "Race", "sessionTitle": "Clock\nrace"}
    assert parse(chat(**both))[1][SESSION].title == "Clock race"
    assert parse(chat(**both), cuts=[1, 2])[1][SESSION].title == "Clock race"
    assert parse(chat(title=f"{REMINDER} x"))[1][SESSION].title == "why does it flake?"


def test_a_header_of_one_level_more():
    log = chat()
    log.lines[0] = {"type": "session_start", "session": {"id": "deep", "workspace_root": "/srv/x"}}
    assert [(m.session, m.cwd) for m in parse(log)[0]] == [("deep", "/srv/x")] * 2


def test_a_session_that_another_one_started_has_no_human_in_it():
    log = chat(callingSessionId="above", callingToolUseId="t")
    messages, facts, _result = parse(log, cuts=[2])
    assert [m.author for m in messages] == ["subagent", "subagent"]
    assert (facts[SESSION].parent, facts[SESSION].relation) == ("above", "subagent")


def test_a_task_without_a_caller_has_no_human_in_it_either():
    log = Log().user(REMINDER, "# Task Tool Invocation\n\nSubagent type: scout").agent("Found it.")
    messages, facts, _result = parse(log, cuts=[2])
    assert [m.author for m in messages] == ["subagent", "subagent"]
    assert facts[SESSION].program is True


def fork(**more):
    log = chat(parent="origin", forkedAtMessageId="d2", **more)
    return log.both("and here?", "Here too.")


def test_a_fork_tells_what_it_copied_as_its_origins():
    messages, facts, _result = parse(fork(), cuts=[2, 4])
    assert [(m.session, m.uid) for m in messages] == [
        ("origin", "d1"), ("origin", "d2"), (SESSION, "d3"), (SESSION, "d4"),
    ]  # fmt: skip
    assert (facts[SESSION].parent, facts[SESSION].relation) == ("origin", "fork")
    assert (facts["origin"].parent, facts["origin"].relation) == (None, None)
    assert facts[SESSION].title == "and here?"


def test_a_fork_without_copies_says_everything_itself():
    log = Log(parent="origin", forkedAtMessageId="boundary")
    log.last = "boundary"
    messages, facts, _result = parse(log.both("and here?", "Here too."))
    assert {m.session for m in messages} == {SESSION}
    assert facts[SESSION].parent == "origin"


def test_sessions_in_our_own_folder_are_not_taken():
    messages, facts, result = parse(chat(cwd="/srv/cloxy/work"))
    assert (messages, facts, result.silent) == ([], {}, True)


def test_without_ids_the_file_names_the_session_and_messages_have_ids_that_stay():
    log = chat().user("yes").user("yes")
    del log.lines[0]
    for line in log.lines:
        del line["id"], line["timestamp"]
    first, again = parse(log, name="-srv/abc.jsonl")[0], parse(log, name="-srv/abc.jsonl")[0]
    assert {m.session for m in first} == {"abc"}
    assert [m.uid for m in first] == [m.uid for m in again]
    assert len({m.uid for m in first}) == 4
    assert [(m.at, m.approximate) for m in first] == [(NOW, True)] * 4


def test_a_record_written_twice_is_one_message():
    data = chat().data()
    assert len(parse(data + data)[0]) == 2


@pytest.mark.parametrize(
    ("block", "mark"),
    [
        (
            {
                "type": "image",
                "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"},
            },
            "[image: image/png, sha256 b5d4045c3f46]",
        ),
        ({"type": "image", "name": "C:\\x\\crane.png"}, "[image: crane.png]"),
        ({"type": "document", "source": {"name": "a.pdf", "data": "x"}}, "[file: a.pdf]"),
        ({"type": "document", "source": {"media_type": "text/plain"}}, "[file: text/plain]"),
        ({"type": "document"}, "[file: unknown]"),
    ],
)
def test_attachments_leave_a_mark(block, mark):
    assert said(Log().says("user", [text("see"), block])) == [("user", "human", f"see\n\n{mark}")]
    assert said(Log().says("user", [block])) == [("user", "human", mark)]
