"""What is taken of sessions, and who said it."""

import pytest
from gemini_kit import NAME, ROOT, SESSION, START, THANKS, Log

CHAT = [("user", "human", "why does it flake?"), ("assistant", "assistant", "A clock race.")]


def chat(**head):
    return Log(**head).both("why does it flake?", "A clock race.")


@pytest.mark.parametrize("ending", ["json", "jsonl"])
def test_both_forms_say_the_same(folder, ending):
    folder.write(chat(), f"harbour/chats/{NAME}.{ending}")
    (folder.tmp / "harbour" / ".project_root").write_text(ROOT + "\n")
    assert folder.said() == CHAT
    question, answer = folder.parse()[0]
    assert (question.uid, answer.uid, question.session) == ("m0", "m1", SESSION)
    assert (question.cwd, question.model, answer.model) == (ROOT, None, "g-1")
    assert question.at == int(START.timestamp() * 1000) + 4_000
    assert question.approximate is False


def test_the_latest_form_of_a_message_counts_in_its_first_place(folder):
    log = chat()
    early = log.lines[3] | {"content": "", "toolCalls": []}
    log.lines.insert(3, early)
    log.line(log.lines[1] | {"content": [{"text": "why does it really flake?"}]})
    folder.write(log)
    assert [text for _role, _author, text in folder.said()] == [
        "why does it really flake?", "A clock race.",
    ]  # fmt: skip


def test_a_later_form_without_words_does_not_take_them(folder):
    log = chat()
    log.line(log.lines[3] | {"content": "", "toolCalls": [{"name": "x"}]})
    folder.write(log)
    assert folder.said() == CHAT


def test_old_qwen_code_names_its_answers_after_itself(folder):
    folder.write(Log().message("qwen", "hi"))
    assert folder.said() == [("assistant", "assistant", "hi")]


def test_what_was_rewound_or_left_out_of_a_new_list_stays(folder):
    log = chat().both("second", "two").line({"$rewindTo": "m2"})
    log.set(messages=[log.lines[1], log.lines[3] | {"content": [{"text": "A clock race."}]}])
    folder.write(log.both("third", "three"))
    texts = [text for _role, _author, text in folder.said()]
    assert texts == ["why does it flake?", "A clock race.", "second", "two", "third", "three"]
    assert folder.parse()[2].unknown == {}


def test_a_rewind_before_the_last_of_two_messages(folder):
    log = Log(prefix="g").gemini("one").gemini("two").line({"$rewindTo": "g1"}).gemini("three")
    folder.write(log)
    assert [message.uid for message in folder.parse()[0]] == ["g0", "g1", "g2"]


def test_a_list_of_messages_may_be_set_at_the_start(folder):
    log = Log()
    log.set(messages=[log.make("user", [{"text": "<session_context>\nx\n</session_context>"}])])
    folder.write(log.both("hi", "ho"))
    assert [text for _role, _author, text in folder.said()] == ["hi", "ho"]


def test_a_shortened_history_leaves_its_summary(folder):
    log = chat()
    kept = [line for line in log.lines if "type" in line]
    state = log.make("user", [{"text": "<state_snapshot>\nA race.\n</state_snapshot>"}])
    log.set(messages=[state, log.make("gemini", [{"text": THANKS}]), kept[1]])
    free = log.make("user", [{"text": "They hunt a race."}])
    log.set(messages=[free, log.make("gemini", [{"text": THANKS}]), kept[1]])
    folder.write(log.gemini(THANKS))
    assert folder.said() == [
        *CHAT,
        ("summary", "summary", "<state_snapshot>\nA race.\n</state_snapshot>"),
        ("summary", "summary", "They hunt a race."),
        ("assistant", "assistant", THANKS),
    ]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("typed", "typed"),
        ([{"text": "one"}, {"text": "two"}], "one\n\ntwo"),
        ([{"functionResponse": {"response": {"output": "x"}}}], None),
        ([{"functionResponse": {"response": {}}}, {"text": "and then"}], "and then"),
        ("/help", None),
        ("/chat save x", None),
        ("?", None),
        ("/etc/hosts is broken", "/etc/hosts is broken"),
        ("? really", "? really"),
        ("<session_context>\nx\n</session_context>", None),
        ("<hook_context>x</hook_context> go on", "go on"),
        ("I ran the following shell command:\n```sh\nls\n```", None),
        ("see @a\n--- Content from referenced files ---\nx\n--- End of content ---", "see @a"),
        ([{"text": "see"}, {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}],
         "see\n\n[image: image/png, sha256 4c4b6a3be131]"),
        ([{"fileData": {"mimeType": "image/png", "fileUri": "file:///x/y.png"}}], "[image: y.png]"),
        ({"text": "a single part"}, "a single part"),
        ([], None),
        ("  ", None),
    ],
)  # fmt: skip
def test_words_of_people(folder, content, words):
    folder.write(Log().message("user", content))
    assert folder.said() == ([("user", "human", words)] if words else [])


@pytest.mark.parametrize("shown", ["fix @a.py", [{"text": "fix @a.py"}]])
def test_words_are_taken_as_they_were_shown(folder, shown):
    folder.write(Log().user("fix @a.py and all that is in it", displayContent=shown))
    assert folder.said() == [("user", "human", "fix @a.py")]


def test_notices_thoughts_and_tools_are_left_out(folder):
    log = chat()
    for kind in ("info", "error", "warning"):
        log.message(kind, "noise")
    log.gemini("", toolCalls=[{"name": "read_file", "resultDisplay": "noise"}])
    log.message("gemini", [{"text": "hm", "thought": True}])
    folder.write(log)
    assert folder.said() == CHAT
    (item,) = folder.items()
    records = b"".join(line.data for line in folder.source.read(item, 0))
    assert b"secret thought" not in records
    assert b"resultDisplay" not in records
    assert folder.parse()[2].unknown == {}


def test_unknown_kinds_are_counted(folder):
    log = chat().message("narrator", "x").message("narrator", "x").line({"odd": 1})
    log.set(messages=[7])
    folder.write(log.set(messages="x").message("user", 7))
    messages, _facts, result = folder.parse()
    assert len(messages) == 2
    assert result.unknown == {"narrator": 2, "line": 1, "entry": 1, "messages": 1, "user": 1}
    assert result.silent is False


def test_a_session_without_a_word_is_none_and_silent(folder):
    folder.write(Log().user("<session_context>x</session_context>").message("info", "x"))
    messages, facts, result = folder.parse()
    assert (messages, facts, result.silent) == ([], {}, True)


def test_titles(folder):
    folder.write(chat())
    assert folder.parse()[1][SESSION].title == "why does it flake?"
    folder.write(chat().set(summary="A clock\nrace"))
    assert folder.parse()[1][SESSION].title == "A clock race"


def test_a_sub_agent_is_a_session_of_its_own(folder):
    folder.write(chat())
    log = Log("helper-1", kind="subagent", directories=["/srv/demo/harbour"], prefix="s")
    folder.write(log.both("find it", "Found."), f"harbour/chats/{SESSION}/helper-1.jsonl")
    messages, facts, _result = folder.parse()
    key = f"{SESSION}/helper-1"
    inner = [message for message in messages if message.session == key]
    assert [message.author for message in inner] == ["subagent", "subagent"]
    assert (facts[key].parent, facts[key].relation, facts[key].cwd) == (SESSION, "subagent", ROOT)
    assert facts[SESSION].relation is None


def test_two_sessions_in_one_log_are_two(folder):
    log = chat()
    log.session = "second"
    folder.write(log.head().both("hi", "ho"))
    assert [message.session for message in folder.parse()[0]] == [SESSION] * 2 + ["second"] * 2


def test_a_session_that_goes_on_stays_one(folder):
    folder.write(chat().set(sessionId=SESSION).both("again", "yes"))
    assert {message.session for message in folder.parse()[0]} == {SESSION}
    assert len(folder.parse()[0]) == 4


def test_without_a_head_the_file_names_the_session(folder):
    log = chat()
    del log.lines[0]
    folder.write(log)
    assert {message.session for message in folder.parse()[0]} == {"c01d5ea7"}


def test_messages_without_ids_are_numbered(folder):
    log = chat()
    for line in log.lines:
        line.pop("id", None)
    folder.write(log, f"harbour/chats/{NAME}.json")
    messages = folder.parse()[0]
    assert [message.uid for message in messages] == ["made-0-user", "made-1-gemini"]


def test_messages_without_times_have_one_near_them(folder):
    log = chat()
    for line in log.lines:
        line.pop("timestamp", None)
    folder.write(log)
    began = int(START.timestamp() * 1000) + 2_000
    assert [(m.at, m.approximate) for m in folder.parse()[0]] == [(began, True)] * 2


def test_sessions_in_our_own_folder_are_not_taken(folder):
    folder.write(chat())
    (folder.tmp / "harbour" / ".project_root").write_text("/srv/cloxy/work")
    messages, facts, result = folder.parse()
    assert (messages, facts, result.silent) == ([], {}, True)
