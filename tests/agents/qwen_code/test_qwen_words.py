"""What is taken of the records, and who said it."""

import pytest
from qwen_kit import CWD, SESSION, START, Log, parse, said

FILES = "--- Content from referenced files ---"
END = "--- End of content ---"


def chat():
    return Log().both("why does it flake?", "A clock race.")


def test_words_are_those_typed_and_those_answered_without_thoughts():
    assert said(chat()) == [
        ("user", "human", "why does it flake?"),
        ("assistant", "assistant", "A clock race."),
    ]


def test_a_message_has_its_id_time_place_and_model():
    question, answer = parse(chat())[0]
    assert (question.uid, answer.uid) == ("q0", "q2")
    assert (question.session, question.cwd, question.branch) == (SESSION, CWD, "main")
    assert question.at == int(START.timestamp() * 1000)
    assert (question.approximate, question.model, answer.model) == (False, None, "model-q")


def test_an_answer_that_only_calls_tools_says_nothing():
    call = {"functionCall": {"id": "c", "name": "read_file", "args": {"path": "secret"}}}
    log = chat().parts({"text": "hm", "thought": True}, call, kind="assistant")
    log.parts({"functionResponse": {"id": "c", "response": {"output": "x"}}}, kind="tool_result")
    log.parts({"functionResponse": {"id": "c", "response": {"output": "x"}}})
    messages, _facts, result = parse(log)
    assert len(messages) == 2
    assert result.records == len(log.lines)


def parts_of(*texts):
    return said(Log().parts(*({"text": text} for text in texts)))


@pytest.mark.parametrize(
    "texts",
    [
        ["look @a.py", f"\n{FILES}", "\nContent from a.py:\n", "secret = 1", f"\n{END}"],
        [f"look @a.py\n{FILES}\nContent from a.py:\nsecret = 1\n{END}"],
        [f"look @a.py\n\n{FILES}\nsecret = 1"],
        ["look @a.py", f"{FILES}\nsecret = 1", "secret = 2"],
    ],
)
def test_content_of_named_files_is_dropped(texts):
    assert parts_of(*texts) == [("user", "human", "look @a.py")]


def test_words_behind_the_content_of_files_stay():
    texts = ["look @a.py", FILES, "secret", f"{END}\nand then?"]
    assert parts_of(*texts) == [("user", "human", "look @a.py\n\n\nand then?")]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<session_context>\nThis is it.\n</session_context>", None),
        ("<session_context>\ncut off", None),
        ("<hook_context>recalled: x</hook_context>\nfix it", "fix it"),
        ("fix it\n<hook_context>recalled: x</hook_context>", "fix it"),
        ("<system-reminder>a</system-reminder><system-reminder>b</system-reminder> go", "go"),
        ("I ran the following shell command:\n```sh\nls\n```", None),
        ("why </hook_context>", "why </hook_context>"),
        ("a <b>bold</b> word", "a <b>bold</b> word"),
    ],
)
def test_what_the_program_put_in_is_dropped(text, words):
    assert parts_of(text) == ([("user", "human", words)] if words else [])


def test_words_are_taken_as_they_were_shown_where_they_are_noted():
    payload = {"displayText": "fix @a.py", "hookContext": "recalled"}
    log = Log().user("fix @a.py with all of its content", systemPayload=payload)
    assert said(log) == [("user", "human", "fix @a.py")]
    log = Log().user("expanded", systemPayload={"displayText": f"fix\n{FILES}\nsecret\n{END}"})
    assert said(log) == [("user", "human", "fix")]


def test_who_speaks_in_the_users_name():
    log = Log().user("typed meanwhile", "mid_turn_user_message").user("spoken", "realtime_message")
    log.user("every morning", "cron").user("<task-notification>x</task-notification>")
    log.user("a task ended", "notification").user("go on with the goal", "goal_runtime")
    log.user("of a new sort", "brand_new")
    assert said(log) == [
        ("user", "human", "typed meanwhile"),
        ("user", "human", "spoken"),
        ("user", "program", "every morning"),
        ("user", "program", "of a new sort"),
    ]
    assert parse(log)[2].unknown == {"user/brand_new": 1}


def history(*entries):
    pairs = [{"role": role, "parts": [{"text": text}]} for role, text in entries]
    return {"info": {"originalTokenCount": 9}, "compressedHistory": pairs}


def test_a_compression_leaves_its_summary_and_no_copies():
    kept = [("model", "Got it."), ("user", "why does it flake?"), ("model", "A clock race.")]
    log = chat().system("chat_compression", history(("user", "They hunt a race."), *kept))
    state = "<state_snapshot>\nA race.\n</state_snapshot>"
    log.system("chat_compression", history(("user", "Startup."), ("user", state), *kept))
    log.system("chat_compression", history(("model", "x"))).system("chat_compression")
    assert said(log)[2:] == [
        ("summary", "summary", "They hunt a race."),
        ("summary", "summary", state),
    ]


def test_what_was_rewound_stays():
    log = chat().system("rewind", {"truncatedCount": 2})
    log.last = None
    log.both("and now?", "Still.")
    assert [text for _role, _author, text in said(log)][-2:] == ["and now?", "Still."]
    assert len(said(log)) == 4


def test_noise_is_understood_and_says_nothing():
    log = chat()
    for kind in (
        "ui_telemetry", "slash_command", "at_command", "attribution_snapshot", "rewind",
        "file_history_snapshot", "session_model", "session_source", "agent_bootstrap",
        "agent_launch_prompt", "turn_result", "background_task_completed", "goal_state",
    ):  # fmt: skip
        log.system(kind, {"userText": "noise", "displayText": "noise", "history": []})
    messages, _facts, result = parse(log)
    assert (len(messages), result.unknown, result.records) == (2, {}, len(log.lines))


def test_unknown_kinds_are_counted():
    log = chat().system("brand_new").system("brand_new").record("person", message={"parts": []})
    assert parse(log)[2].unknown == {"system/brand_new": 2, "person": 1}


def test_a_log_without_a_word_is_silent_and_one_of_another_form_is_not():
    silent = Log().system("ui_telemetry").system("slash_command").system("custom_title", {
        "customTitle": "Crane"
    })  # fmt: skip
    messages, facts, result = parse(silent)
    assert (messages, facts, result.silent) == ([], {}, True)
    assert parse(Log().record("person", message={"text": "hello"}))[2].silent is False
    assert parse(Log().record("user", message="hello"))[2].silent is False
    assert parse(Log().record("tool_result"))[2].silent is False
    assert parse(Log().system("managed_session_header_v1"))[2].silent is False


def test_titles():
    assert parse(chat())[1][SESSION].title == "why does it flake?"
    log = chat().system("custom_title", {"customTitle": "Clock\nrace", "titleSource": "auto"})
    assert parse(log)[1][SESSION].title == "Clock race"
    log.system("custom_title", {"customTitle": "My race"})
    log.system("custom_title", {"customTitle": "Race again", "titleSource": "auto"})
    assert parse(log)[1][SESSION].title == "My race"
    assert parse(log, cuts=[2, 4, 5])[1][SESSION].title == "My race"


def test_a_sub_agent_is_a_session_of_its_own():
    log = Log(agent="explore-7f").both("find the race", "Found it.")
    messages, facts, _result = parse(log, name=f"subagents/{SESSION}/agent-explore-7f.jsonl")
    key = f"{SESSION}/explore-7f"
    assert [(m.session, m.author) for m in messages] == [(key, "subagent")] * 2
    fact = facts[key]
    assert (fact.parent, fact.relation, fact.title) == (SESSION, "subagent", "find the race")


def test_a_branch_tells_what_it_copied_as_its_origins():
    branch = chat()
    for line in branch.lines:
        line["forkedFrom"] = {"sessionId": SESSION, "messageUuid": line["uuid"]}
        line["sessionId"] = "branch"
    branch.session = "branch"
    messages, facts, _result = parse(branch.both("and here?", "Here too."), cuts=[3, 4])
    assert [(m.session, m.uid) for m in messages] == [
        (SESSION, "q0"), (SESSION, "q2"), ("branch", "q3"), ("branch", "q5"),
    ]  # fmt: skip
    assert (facts["branch"].parent, facts["branch"].relation) == (SESSION, "fork")
    assert facts["branch"].title == "and here?"
    assert (facts[SESSION].parent, facts[SESSION].relation) == (None, None)


def test_a_session_that_another_started_has_no_human_in_it():
    log = Log().system("parent_session", {"parentSessionId": "above"}).both("do it", "Done.")
    messages, facts, _result = parse(log)
    assert [m.author for m in messages] == ["program", "assistant"]
    assert (facts[SESSION].parent, facts[SESSION].relation) == ("above", "subagent")


def test_sessions_in_our_own_folder_are_not_taken():
    log = chat()
    for line in log.lines:
        line["cwd"] = "/srv/cloxy/work"
    messages, facts, result = parse(log)
    assert (messages, facts, result.silent) == ([], {}, True)


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("chats/abc.jsonl", "abc"),
        ("chats/archive/abc.jsonl", "abc"),
        ("subagents/abc/agent-x1.jsonl", "abc/x1"),
    ],
)
def test_without_ids_the_file_names_the_session_and_messages_have_ids_that_stay(name, key):
    log = chat()
    for line in log.lines:
        del line["sessionId"], line["uuid"]
    first, again = parse(log, name=name)[0], parse(log, name=name)[0]
    assert {m.session for m in first} == {key}
    assert [m.uid for m in first] == [m.uid for m in again]
    assert len({m.uid for m in first}) == 2


def test_a_record_written_twice_is_one_message():
    data = chat().data()
    assert len(parse(data + data)[0]) == 2


PIXEL = "iVBORw0KGgo="


@pytest.mark.parametrize(
    ("part", "mark"),
    [
        (
            {"inlineData": {"mimeType": "image/png", "data": PIXEL}},
            "[image: image/png, sha256 4c4b6a3be131]",
        ),
        ({"inlineData": {"mimeType": "application/pdf", "data": PIXEL}}, "[file: application/pdf]"),
        ({"inlineData": {"mimeType": "image/png", "displayName": "a.png"}}, "[image: a.png]"),
        ({"fileData": {"mimeType": "image/png", "fileUri": "file:///x/y.png"}}, "[image: y.png]"),
        ({"inlineData": {}}, "[file: unknown]"),
    ],
)
def test_attachments_leave_a_mark(part, mark):
    assert said(Log().parts({"text": "see"}, part)) == [("user", "human", f"see\n\n{mark}")]
    assert said(Log().parts(part)) == [("user", "human", mark)]
