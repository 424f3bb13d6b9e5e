"""What is told of a database, of whichever version."""

import json
import sqlite3
from contextlib import closing

import pytest
from goose_kit import (
    AGENTS,
    BEHIND,
    CWD,
    FOLDED,
    LAST,
    NOBODYS,
    NOW,
    SHOWN,
    A,
    B,
    C,
    Store,
    T,
    database,
    facts,
    messages,
    results,
    said,
    text,
)

from cloxy_core.services.logs.reader import Logs
from cloxy_hookspecs.logs.titles import FIRST_WORDS, LISTED, NAMED


@pytest.fixture
def sessions(tmp_path):
    return tmp_path / "sessions"


@pytest.mark.parametrize("version", range(1, LAST + 1))
def test_every_version_is_read_and_a_message_keeps_its_id_when_it_is_moved_on(
    tmp_path, sessions, version
):
    store = Store(sessions, version).session()
    store.chat()
    store.chat(A, "yes", "yes")
    store.chat(A, "yes", "yes")
    (result,) = results(database(tmp_path))
    first = result.messages
    assert [message.text for message in first] == [
        "Why does the crane overheat?", "It never idles.", "yes", "yes", "yes", "yes",
    ]  # fmt: skip
    assert (first[0].at, first[0].cwd, first[0].approximate) == ((T + 1) * 1000, CWD, False)
    assert result.sessions[A].title == "Cranes"
    assert not result.bad_lines
    assert not result.unknown
    store.migrate(LAST)
    assert [message.uid for message in messages(database(tmp_path))] == [
        message.uid for message in first
    ]
    assert len({message.uid for message in first}) == 6


def test_own_ids_are_kept_and_models_told(tmp_path, sessions):
    store = Store(sessions).session(model_config_json='{"model_name": "model-x", "x": 1}')
    store.say("user", "Why?", key="u-1")
    store.say("assistant", "Because.", key="chatcmpl-1")
    question, answer = messages(database(tmp_path))
    assert (question.uid, question.model) == ("u-1", None)
    assert (answer.uid, answer.model) == ("chatcmpl-1", "model-x")


def test_thinking_tools_and_notices_are_left_out(tmp_path, sessions):
    store = Store(sessions).session()
    store.say(
        "assistant",
        {"type": "thinking", "thinking": "hm", "signature": ""},
        {"type": "redactedThinking", "data": "x"},
        {"type": "reasoning", "text": "hm"},
        "First.",
        {"type": "toolRequest", "id": "t", "toolCall": {"status": "success"}},
        "Second.",
        {"type": "systemNotification", "notificationType": "inlineMessage", "msg": "OUTPUT"},
    )
    store.say("user", {"type": "toolResponse", "id": "t", "toolResult": {"value": "OUTPUT"}})
    store.say("assistant", {"type": "actionRequired", "data": {"message": "OUTPUT"}})
    store.say("assistant", {"type": "frontendToolRequest"}, {"type": "toolConfirmationRequest"})
    store.say("assistant", {"type": "conversationCompacted", "msg": "OUTPUT"})
    (result,) = results(database(tmp_path))
    assert [message.text for message in result.messages] == ["First.\n\nSecond."]
    assert not result.unknown
    assert not result.bad_lines


def test_pictures_become_marks(tmp_path, sessions):
    store = Store(sessions).session()
    picture = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
    store.say("user", "Look:", picture, {"type": "image"}, {**picture, "data": "abcde"})
    ((_role, _author, words),) = said(database(tmp_path))
    head, *marks = words.split("\n")
    assert head == "Look:"
    assert marks[1:3] == ["[image: image/png, sha256 8f434346648f]", "[image: unknown]"]
    assert marks[3].startswith("[image: image/png, sha256 ")


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        (["<info-msg>\nIt is noon\n</info-msg>\nWhy?"], "Why?"),
        (["<info-msg>\nIt is noon\n</info-msg>", "Why?"], "Why?"),
        (["  <info-msg>x</info-msg>  Why?", "And how?"], "Why?\n\nAnd how?"),
        (["Why does <info-msg>x</info-msg> stand here?"],) * 2,
        (["<info-msg>cut off before its end"], None),
        (["<info-msg>x</info-msg>"], None),
    ],
)
def test_what_goose_adds_to_a_prompt_is_left_out(tmp_path, sessions, parts, words):
    Store(sessions).session().say("user", *parts)
    expected = words[0] if isinstance(words, list) else words
    assert [each for _role, _author, each in said(database(tmp_path))] == (
        [expected] if expected else []
    )


def test_an_answer_about_such_a_block_is_as_it_is(tmp_path, sessions):
    Store(sessions).session().say("assistant", "<info-msg> is a block.")
    assert said(database(tmp_path)) == [("assistant", "assistant", "<info-msg> is a block.")]


@pytest.mark.parametrize("meta", [AGENTS, NOBODYS])
def test_what_the_person_does_not_see_is_left_out(tmp_path, sessions, meta):
    store = Store(sessions).session()
    store.say("user", "a hidden prompt", meta=meta)
    store.say("assistant", "a hidden answer", meta=meta)
    store.chat()
    assert len(said(database(tmp_path))) == 2


@pytest.mark.parametrize("meta", [None, "", "{", "7", "[]", "{}", '{"userVisible": "x"}'])
def test_without_a_word_on_it_a_message_is_seen(tmp_path, sessions, meta):
    Store(sessions).session().say("user", "seen", meta=meta)
    assert said(database(tmp_path)) == [("user", "human", "seen")]


def test_compaction_keeps_what_was_said_and_tells_the_summary(tmp_path, sessions):
    """Rows are written anew with new numbers; the last prompt is hidden, and repeated behind."""
    store = Store(sessions).session()
    store.chat()
    store.say("user", "And now?")
    before = messages(database(tmp_path))
    given = f"msg_{A}_5f0c1c1e-51a4-4d39-8f51-000000000001"
    store.replace(
        ("user", "Why does the crane overheat?", given, T + 1, FOLDED),
        ("assistant", "It never idles.", given[:-1] + "2", T + 2, FOLDED),
        ("user", "And now?", given[:-1] + "3", T + 3, NOBODYS),
        ("user", "The crane overheats.", None, T + 9, AGENTS),
        ("assistant", BEHIND, None, T + 9, AGENTS),
        ("user", "And now?", None, T + 9, SHOWN),
    )
    store.say("assistant", "Now, too.", at=T + 10)
    after = messages(database(tmp_path))
    assert [(message.role, message.text) for message in after] == [
        ("user", "Why does the crane overheat?"),
        ("assistant", "It never idles."),
        ("summary", "The crane overheats."),
        ("user", "And now?"),
        ("assistant", "Now, too."),
    ]
    kept = [after[0].uid, after[1].uid, after[3].uid]
    assert kept == [message.uid for message in before]
    assert after[2].author == "summary"


def test_rows_that_are_written_anew_within_a_second_make_a_version(tmp_path, sessions):
    store = Store(sessions).session()
    store.chat()
    made = database(tmp_path)
    (before,) = made.discover([])
    store.replace(*[("user", words, None, T, SHOWN) for words in ("other", "words")])
    (after,) = made.discover([])
    assert (after.size, after.uri, after.identity) == (before.size, before.uri, before.identity)
    assert after != before


def test_a_repeated_prompt_with_an_id_of_its_own_is_the_same_message(tmp_path, sessions):
    store = Store(sessions).session()
    store.say("user", "And now?", key="u-1", meta=NOBODYS)
    store.say("user", "The crane overheats.", key="s-1", meta=AGENTS)
    store.say("assistant", BEHIND, key="c-1", meta=AGENTS)
    store.say("user", "And now?", key="u-2")
    store.say("user", "And now?", key="u-3")
    assert [message.uid for message in messages(database(tmp_path))] == ["s-1", "u-1", "u-3"]


def test_a_second_compaction_hides_the_first_summary_which_stays_one(tmp_path, sessions):
    store = Store(sessions).session()
    store.say("user", "The first summary.", meta=NOBODYS)
    store.say("assistant", BEHIND, meta=NOBODYS)
    store.say("user", "The second summary.", meta=AGENTS)
    store.say("assistant", BEHIND.replace("compacted", "compacted at the user's request"))
    assert said(database(tmp_path)) == [
        ("summary", "summary", "The first summary."),
        ("summary", "summary", "The second summary."),
    ]


def test_a_summary_in_one_message_with_what_is_said_behind_it(tmp_path, sessions):
    store = Store(sessions).session()
    store.say("assistant", "The crane overheats.", BEHIND, meta=AGENTS)
    assert said(database(tmp_path)) == [("summary", "summary", "The crane overheats.")]


def test_old_versions_showed_the_summary(tmp_path, sessions):
    store = Store(sessions, 1).session()
    store.say("user", "The crane overheats.")
    store.say("assistant", "The previous message contains a summary that was prepared because")
    store.chat()
    assert [role for role, _author, _words in said(database(tmp_path))] == [
        "summary", "user", "assistant",
    ]  # fmt: skip


def test_prompts_that_vanish_do_not_give_their_ids_to_others(tmp_path, sessions):
    """Old compaction removes rows: what is said again later is another message."""
    store = Store(sessions).session()
    store.chat(A, "yes", "done")
    (first, _answer) = messages(database(tmp_path))
    store.run("DELETE FROM messages")
    store.chat(A, "yes", "done")
    (second, _answer) = messages(database(tmp_path))
    assert first.uid != second.uid


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("user", ["human", "assistant"]),
        ("terminal", ["human", "assistant"]),
        ("acp", ["human", "assistant"]),
        ("gateway", ["human", "assistant"]),
        ("scheduled", ["program", "assistant"]),
        ("sub_agent", ["subagent", "subagent"]),
        ("hidden", []),
    ],
)
def test_types_of_sessions(tmp_path, sessions, kind, expected):
    store = Store(sessions).session(session_type=kind)
    store.chat()
    found = results(database(tmp_path))
    assert [message.author for result in found for message in result.messages] == expected
    assert not any(result.unknown for result in found)
    if expected:
        assert found[0].sessions[A].program is (kind == "scheduled")


def test_an_unknown_type_is_told_and_no_person_is_heard(tmp_path, sessions):
    Store(sessions).session(session_type="dream").chat()
    (result,) = results(database(tmp_path))
    assert [message.author for message in result.messages] == ["program", "assistant"]
    assert dict(result.unknown) == {"session type dream": 1}


def test_a_scheduled_session_of_a_version_without_types(tmp_path, sessions):
    Store(sessions, 4).session(schedule_id="nightly").chat()
    assert said(database(tmp_path))[0][:2] == ("user", "program")
    assert facts(database(tmp_path)).program


def test_sub_agents_know_their_parent(tmp_path, sessions):
    store = Store(sessions).session().session(B, session_type="sub_agent", parent_session_id=A)
    store.chat()
    store.chat(B, "find it", "found")
    told = facts(database(tmp_path), B)
    assert (told.parent, told.relation) == (A, "subagent")


def test_a_copied_session_tells_only_what_is_new(tmp_path, sessions):
    store = Store(sessions).session()
    store.chat()
    store.say("user", "with an id", key="u-1")
    store.say("user", "The summary.", meta=AGENTS)
    store.say("assistant", BEHIND, meta=AGENTS)
    store.copy(A, B, created_at="2026-09-22 08:00:00")
    store.chat(B, "And in the copy?", "There, too.")
    store.copy(B, C, created_at="2026-09-23 08:00:00")
    store.chat(C, "And in its copy?", "There, as well.")
    store.chat(A, "And the original?", "Goes on.")
    found = {
        key: [message.text for message in result.messages]
        for result in results(database(tmp_path))
        for key in result.sessions
    }
    assert found[B] == ["And in the copy?", "There, too."]
    assert found[C] == ["And in its copy?", "There, as well."]
    assert len(found[A]) == 6
    assert [(facts(database(tmp_path), key).parent) for key in (A, B, C)] == [None, A, B]
    assert facts(database(tmp_path), C).relation == "fork"


def test_the_latest_session_with_a_copy_is_the_one_it_comes_from(tmp_path, sessions):
    store = Store(sessions).session()
    store.say("user", "one", key="u-1")
    store.say("user", "two", key="u-2")
    store.copy(A, B, created_at="2026-09-22 08:00:00")
    store.copy(B, C, created_at="2026-09-23 08:00:00")
    store.say("user", "three", session=C)
    store.run("DELETE FROM messages WHERE session_id = ? AND message_id = 'u-2'", B)
    assert facts(database(tmp_path), C).parent == B
    assert [message.text for message in messages(database(tmp_path))] == ["one", "two", "three"]


def test_equal_ids_with_other_words_are_no_copies(tmp_path, sessions):
    """Some providers give the same id to everything."""
    store = Store(sessions).session().session(B, created_at="2026-09-22 08:00:00")
    store.say("assistant", "one", key="msg_0")
    store.say("assistant", "two", key="msg_0", session=B)
    assert len(said(database(tmp_path))) == 2
    assert facts(database(tmp_path), B).parent is None


def test_a_copy_of_a_session_that_is_not_told_is_told_itself(tmp_path, sessions):
    store = Store(sessions).session(session_type="hidden")
    store.chat()
    store.copy(A, B, created_at="2026-09-22 08:00:00")
    assert len(said(database(tmp_path))) == 2


def test_an_answer_in_pieces_is_one_message(tmp_path, sessions):
    store = Store(sessions).session()
    store.say("assistant", "It nev", key="c-1")
    store.say("assistant", "er idles.", key="c-1")
    store.say("assistant", {"type": "toolRequest", "id": "t"}, key="c-1")
    store.say("user", "same id, other side", key="c-1")
    (result,) = results(database(tmp_path))
    assert [message.text for message in result.messages] == ["It never idles."]
    assert [bad.reason for bad in result.bad_lines] == ["two messages have the same id"]


@pytest.mark.parametrize(
    ("prompt", "words", "author"),
    [
        ("Sort the letters.", "Sort the letters.", "program"),
        ("Sort the letters.", "  Sort the letters.\n", "program"),
        ("Sort the letters.", "Sort the letters. Please.", "human"),
        ("Sort {{ what }} by {{key}}.", "Sort the letters by date.", "program"),
        ("Sort {{ what }} by {{key}}.", "Sort the letters by date", "human"),
        ("Sort {{ what }}.", "Mend the letters.", "human"),
        ("Sort {{ a }} by {{ b }} soon", "Sort letters soon", "human"),
        ("{{ task }}", "Why does the crane overheat?", "human"),
        ("Do {{ a }}{{ b }}", "Do it", "program"),
        ("", "Why?", "human"),
    ],
)
def test_the_prompt_of_a_recipe_is_no_persons(tmp_path, sessions, prompt, words, author):
    recipe = json.dumps({"title": "Letters", "prompt": prompt})
    store = Store(sessions).session(recipe_json=recipe)
    store.say("user", words)
    store.say("user", "Sort the letters.")
    assert [each for _role, each, _words in said(database(tmp_path))] == [author, "human"]


@pytest.mark.parametrize("recipe", ["{", "7", "[]", '{"prompt": 7}', b"\xff", "[" * 100_000])
def test_a_damaged_recipe_is_none(tmp_path, sessions, recipe):
    Store(sessions).session(recipe_json=recipe, model_config_json=recipe).chat()
    assert [author for _role, author, _words in said(database(tmp_path))] == [
        "human", "assistant",
    ]  # fmt: skip


def test_the_prompt_of_a_recipe_with_many_places_takes_no_time(tmp_path, sessions):
    recipe = json.dumps({"prompt": "{{ a }}x" * 2000 + "y"})
    Store(sessions).session(recipe_json=recipe).say("user", "x" * 200_000)
    assert [author for _role, author, _words in said(database(tmp_path))] == ["human"]


@pytest.mark.parametrize(
    ("given", "title", "rank"),
    [
        ({"name": "Cranes", "user_set_name": True}, "Cranes", NAMED),
        ({"name": "Cranes"}, "Cranes", LISTED),
        ({"name": "", "description": "Old cranes"}, "Old cranes", LISTED),
        ({"name": "CLI Session"}, "Why does the crane overheat?", FIRST_WORDS),
        ({"name": "ACP Session"}, "Why does the crane overheat?", FIRST_WORDS),
        ({"name": "New Chat"}, "Why does the crane overheat?", FIRST_WORDS),
        ({"name": "New session 3"}, "Why does the crane overheat?", FIRST_WORDS),
        ({"name": ""}, "Why does the crane overheat?", FIRST_WORDS),
    ],
)
def test_titles(tmp_path, sessions, given, title, rank):
    Store(sessions).session(**given).chat()
    told = facts(database(tmp_path))
    assert (told.title, told.title_rank) == (title, rank)


@pytest.mark.parametrize("version", [10, 17])
@pytest.mark.parametrize(
    ("given", "thread", "title", "rank"),
    [
        ("ACP Session", ("Cranes", False), "Cranes", LISTED),
        ("ACP Session", ("Cranes", True), "Cranes", NAMED),
        ("ACP Session", ("New Chat", False), "Why does the crane overheat?", FIRST_WORDS),
        ("Harbour", ("Cranes", True), "Harbour", LISTED),
        ("ACP Session", None, "Why does the crane overheat?", FIRST_WORDS),
    ],
)
def test_the_title_of_a_session_that_an_editor_sees_as_a_thread(
    tmp_path, sessions, version, given, thread, title, rank
):
    store = Store(sessions, version).session(name=given, session_type="acp", thread_id="t1")
    store.chat()
    made = database(tmp_path)
    (before,) = made.discover([])
    if thread is not None:
        store.thread("t1", thread[0], named=thread[1])
    (after,) = made.discover([])
    assert (before == after) is (thread is None), "a name is a change"
    told = facts(made)
    assert (told.title, told.title_rank) == (title, rank)
    assert len(said(made)) == 2


def test_a_database_without_the_threads_of_its_sessions(tmp_path, sessions):
    store = Store(sessions).session(name="ACP Session", thread_id="t1")
    store.chat()
    store.run("DROP TABLE threads")
    assert facts(database(tmp_path)).title == "Why does the crane overheat?"
    store.run("CREATE TABLE threads (id TEXT, title TEXT)")
    assert len(said(database(tmp_path))) == 2


def test_times_in_seconds_and_milliseconds_and_none(tmp_path, sessions):
    store = Store(sessions).session()
    store.say("user", "no time", at="soon")
    store.say("user", "seconds", at=T + 100)
    store.say("user", "milliseconds", at=T * 1000 + 200_500)
    store.say("user", "the future", at=NOW * 3)
    none, seconds, milliseconds, future = messages(database(tmp_path))
    assert (none.at, none.approximate) == (1_789_984_800_000, True), "when the row was written"
    assert (seconds.at, seconds.approximate) == ((T + 100) * 1000, False)
    assert (milliseconds.at, milliseconds.approximate) == (T * 1000 + 200_500, False)
    assert (future.at, future.approximate) == (milliseconds.at, True)


def test_a_session_of_the_future_is_no_version(tmp_path, sessions):
    store = Store(sessions).session()
    store.chat()
    store.run("UPDATE sessions SET updated_at = '9999-01-01 00:00:00'")
    (item,) = database(tmp_path).discover([])
    assert item.mtime_ns < 10**15


def test_messages_keep_their_id_when_milliseconds_become_seconds(tmp_path, sessions):
    store = Store(sessions).session()
    store.say("user", "Why?", at=T * 1000 + 250)
    (first,) = messages(database(tmp_path))
    store.run("UPDATE messages SET created_timestamp = ?", T)
    (second,) = messages(database(tmp_path))
    assert first.uid == second.uid


def test_equal_words_of_two_sessions_have_ids_of_their_own(tmp_path, sessions):
    store = Store(sessions).session().session(B)
    for session in (A, B):
        store.say("user", "yes", session=session, at=T)
    one, other = messages(database(tmp_path))
    assert one.uid != other.uid


def test_what_cannot_be_read_is_told_and_the_rest_is_there(tmp_path, sessions):
    store = Store(sessions).session()
    store.row("user", '[{"type":"text","text":"half', key="m1")
    store.row("user", '{"type":"text"}', key="m2")
    store.row("user", "[" * 100_000, key="m3")
    store.row("user", json.dumps([text("kept"), 7, {"type": "text", "text": 7}]), key="m4")
    store.row("user", json.dumps([text("also"), {"type": "hologram"}, {"x": 1}]), key="m5")
    store.row("oracle", json.dumps([text("who?")]), key="m6")
    store.row("user", json.dumps([text("an id of none")]), key="x" * 300)
    store.row("user", b"\xff\xfe", key="m7")
    (result,) = results(database(tmp_path))
    assert [message.text for message in result.messages] == ["kept", "also", "an id of none"]
    assert [bad.reason for bad in result.bad_lines] == [
        *["a message cannot be read"] * 3,
        *["a part of a message cannot be read"] * 2,
        "a message cannot be read",
    ]
    assert dict(result.unknown) == {
        "content hologram": 1, "content None": 1, "role oracle": 1,
    }  # fmt: skip


def test_a_very_large_message_is_told(tmp_path, sessions, monkeypatch):
    monkeypatch.setattr("cloxy_plugins.goose.tables.LARGEST", 1000)
    store = Store(sessions).session()
    store.say("user", "x" * 2000)
    store.say("user", "small")
    (result,) = results(database(tmp_path))
    assert [message.text for message in result.messages] == ["small"]
    assert len(result.bad_lines) == 1


def test_messages_of_no_session_are_told_quietly(tmp_path, sessions):
    store = Store(sessions).session()
    store.chat()
    store.chat(B)
    lost, told = sorted(results(database(tmp_path)), key=lambda result: len(result.messages))
    assert [bad.reason for bad in lost.bad_lines] == ["a session is not in the list of sessions"]
    assert lost.silent
    assert len(told.messages) == 2


def test_sessions_without_messages_are_none(tmp_path, sessions):
    Store(sessions).session()
    assert results(database(tmp_path)) == []


def test_sessions_of_cloxy_itself_are_not_taken(tmp_path, sessions):
    Store(sessions).session(working_dir="/srv/cloxy/x").chat()
    (result,) = results(database(tmp_path))
    assert result.messages == []


def test_an_archived_session_is_read(tmp_path, sessions):
    Store(sessions).session(archived_at="2026-09-22 08:00:00").chat()
    assert len(said(database(tmp_path))) == 2


def test_other_tables_are_never_asked(tmp_path, sessions):
    store = Store(sessions).session()
    store.chat()
    asked = []

    class Watching:
        def __init__(self, inner):
            self.inner = inner

        def rows(self, statement, parameters=()):
            asked.append(statement)
            return self.inner.rows(statement, parameters)

        def tables(self):
            return self.inner.tables()

        def columns(self, table):
            return self.inner.columns(table)

    class Reader(Logs):
        def database(self, path):
            opened = super().database(path)

            class Opened:
                def __enter__(self):
                    return Watching(opened.__enter__())

                def __exit__(self, *error):
                    return opened.__exit__(*error)

            return Opened()

    made = database(tmp_path, reader=Reader(tmp_path / "copies"))
    records = [line.data for item in made.discover([]) for line in made.read(item, 0)]
    assert len(records) == 3
    assert b"CANARY" not in b"".join(records)
    assert asked
    for statement in asked:
        for table in ("provider_inventory", "thread_messages", "usage_ledger"):
            assert table not in statement


def test_everything_may_be_in_the_log_beside_the_database(tmp_path, sessions):
    store = Store(sessions)
    with closing(sqlite3.connect(store.path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM messages").fetchall()  # it keeps the log
        store.session().chat()
        assert len(said(database(tmp_path))) == 2


def test_a_database_of_something_else_is_a_failure_and_an_empty_one_none(tmp_path):
    for name, statement in (("other", "CREATE TABLE x (y)"), ("empty", "SELECT 1")):
        folder = tmp_path / name
        folder.mkdir()
        with closing(sqlite3.connect(folder / "sessions.db")) as connection:
            connection.execute(statement)
            connection.commit()
    failures = []
    assert results(database(tmp_path, tmp_path / "empty"), failures) == []
    assert failures == []
    assert results(database(tmp_path, tmp_path / "other"), failures) == []
    assert [failure.uri for failure in failures] == [str(tmp_path / "other" / "sessions.db")]


def test_a_table_of_messages_without_their_content_is_told(tmp_path, sessions):
    store = Store(sessions).session()
    store.chat()
    store.run("ALTER TABLE messages DROP COLUMN content_json")
    (result,) = results(database(tmp_path))
    assert [bad.reason for bad in result.bad_lines] == [
        "the table of messages is not as it should be"
    ]
