"""What is taken of the stores, and who said it."""

import hashlib
import json

import pytest
from opencode_kit import CWD, NOW, A, B, Store, T, Tree, parser, results, said, source, text, uid

from cloxy_core.services.logs.reader import Logs
from cloxy_hookspecs import RawLine, SourceItem

CHAT = [
    (A, "user", "human", "Why does the crane overheat?"),
    (A, "assistant", "assistant", "It never idles."),
]


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "opencode"


@pytest.fixture
def store(folder):
    return Store(folder).session()


def test_both_stores_give_the_same(tmp_path, folder, store):
    store.chat()
    from_database = said(source(tmp_path))
    old = tmp_path / "old"
    tree = Tree(old)
    tree.session()
    question = tree.say("user", "Why does the crane overheat?")
    tree.say("assistant", "It never idles.", parentID=question)
    made = source(tmp_path, old)
    assert said(made) == from_database == CHAT
    one, two = results(source(tmp_path)), results(made)
    for key, result in one.items():
        fields = [(m.uid, m.at, m.cwd, m.model, m.approximate) for m in result.messages]
        assert fields == [(m.uid, m.at, m.cwd, m.model, m.approximate) for m in two[key].messages]
        assert result.sessions == two[key].sessions


def test_a_message_has_its_id_time_place_and_model(tmp_path, store):
    keys = store.chat()
    (result,) = results(source(tmp_path)).values()
    question, answer = result.messages
    assert (question.uid, answer.uid) == keys
    assert (question.at, question.approximate) == (T + 1000, False)
    assert (question.cwd, answer.cwd) == (CWD, CWD + "/src")
    assert (question.model, answer.model) == (None, "model-x")
    assert (result.sessions[A].title, result.sessions[A].cwd) == ("Cranes", CWD)


def test_several_texts_are_one_message(tmp_path, store):
    store.say("user", "one", "two", text(" "), "three")
    assert said(source(tmp_path)) == [(A, "user", "human", "one\n\ntwo\n\nthree")]


def test_what_no_person_wrote_and_no_person_sees_is_left_out(tmp_path, store):
    store.say(
        "user", "look at @a.py", text("body of a.py", synthetic=True),
        {"type": "file", "mime": "text/plain", "url": "file:///a.py", "filename": "a.py"},
        {"type": "agent", "name": "explore"}, {"type": "subtask", "prompt": "p"},
    )  # fmt: skip
    store.say("user", text("Continue if you have next steps", synthetic=True))
    store.say(
        "assistant", {"type": "step-start", "snapshot": "s"},
        {"type": "reasoning", "text": "I think"},
        {"type": "tool", "tool": "bash", "state": {"output": "noise"}},
        text("Seen."), text("a notice", ignored=True), {"type": "patch", "hash": "h"},
        {"type": "snapshot"}, {"type": "retry"}, {"type": "step-finish", "reason": "stop"},
    )  # fmt: skip
    store.say("assistant", error={"name": "APIError", "data": {"message": "no"}})
    made = source(tmp_path)
    assert [row[3] for row in said(made)] == ["look at @a.py", "Seen."]
    (result,) = results(made).values()
    assert (result.unknown, result.bad_lines, result.silent) == ({}, [], False)


def test_pictures_leave_a_mark(tmp_path, store):
    digest = hashlib.sha256(b"ABC").hexdigest()[:12]
    data = {"type": "file", "mime": "image/png", "url": "data:image/png;base64,QUJD"}
    named = {"type": "file", "mime": "image/jpeg", "url": "file:///x/a%20b.jpg"}
    store.say("user", "see", data, named, {**named, "filename": "c.jpg"})
    store.say("user", data)
    marks = f"[image: image/png, sha256 {digest}]"
    assert [row[3] for row in said(source(tmp_path))] == [
        f"see\n\n{marks}\n\n[image: a b.jpg]\n\n[image: c.jpg]",
        marks,
    ]


def test_a_summary_is_its_own_kind(tmp_path, store):
    store.say("user", {"type": "compaction", "auto": True}, summary={"title": "x", "diffs": []})
    store.say("assistant", "We look at cranes.", summary=True)
    store.say("user", "go on", summary={"title": "x"})
    assert said(source(tmp_path)) == [
        (A, "summary", "summary", "We look at cranes."),
        (A, "user", "human", "go on"),
    ]


def test_a_sub_agent_is_a_child(tmp_path, store):
    store.chat()
    store.session(B, parent=A, title="Child session - 2026-09-01T10:00:00.000Z")
    store.chat(B, "find the motor", "Found.")
    made = source(tmp_path)
    rows = [row[1:] for row in said(made) if row[0] == B]
    assert rows == [
        ("user", "subagent", "find the motor"),
        ("assistant", "subagent", "Found."),
    ]
    facts = results(made)[f"opencode:{B}"].sessions[B]
    assert (facts.parent, facts.relation, facts.title) == (A, "subagent", "find the motor")


@pytest.mark.parametrize("title", ["New session - 2026-09-01T10:00:00.000Z", "", "  "])
def test_a_title_that_is_none_gives_way_to_the_first_words(tmp_path, folder, title):
    store = Store(folder).session(title=title)
    store.chat()
    store.chat(A, "later words", "yes")
    (result,) = results(source(tmp_path)).values()
    assert (result.sessions[A].title, result.sessions[A].title_rank) == (CHAT[0][3], 1)


def test_unknown_kinds_are_counted(tmp_path, store):
    store.say("user", "hello", {"type": "hologram"}, {"type": 7})
    store.say("oracle", "the future")
    (result,) = results(source(tmp_path)).values()
    assert result.unknown == {"part/hologram": 1, "part/(no type)": 1, "message/oracle": 1}


def test_null_and_damaged_values_are_counted(tmp_path, store):
    store.chat()
    store.row("msg_null", A, store.at, None)
    store.row("msg_bad", A, store.at, "{bad")
    store.part("msg_bad", 1, json.dumps(text("of a message that is lost")))
    store.part("msg_orphan", 2, json.dumps(text("of none")))
    whole = store.say("user", "whole")
    for number, data in enumerate((None, "[]", "{bad", json.dumps({"type": "text"})), 1):
        store.part(whole, number, data)
    store.run("UPDATE part SET data = x'7b7d' WHERE data = '[]'")
    (result,) = results(source(tmp_path)).values()
    assert [m.text for m in result.messages] == [CHAT[0][3], CHAT[1][3], "whole"]
    assert len(result.bad_lines) == 6
    assert result.unknown == {"part/(no type)": 1}


def test_characters_that_trouble_others(tmp_path, store):
    key = store.say("user")
    store.part(key, 1, '{"type":"text","text":"ok \\ud83d and \\ud83d\\ude80 a\u2028b"}')
    ((_session, _role, _author, words),) = said(source(tmp_path))
    assert words == "ok \N{REPLACEMENT CHARACTER} and \N{ROCKET} a\u2028b"


def test_a_session_without_a_word_is_none(tmp_path, store):
    store.session(B)
    store.say("assistant", error={"name": "x"}, session=B)
    empty, wordless = results(source(tmp_path)).values()
    assert (empty.sessions, empty.silent) == ({}, True)
    assert (wordless.sessions, wordless.silent) == ({}, False)


def test_sessions_in_our_own_folder_are_not_taken(tmp_path, folder):
    store = Store(folder).session(directory="/srv/cloxy/work")
    store.chat()
    (result,) = results(source(tmp_path)).values()
    assert (result.messages, result.sessions) == ([], {})


def test_the_second_version(tmp_path, folder):
    store = Store(folder, second=True).session(A).session(B, parent=A)
    picture = {"mime": "image/png", "uri": "data:image/png;base64,QUJD", "name": "a.png"}
    store.entry("user", {"text": "Why?", "files": [picture]})
    for kind in (
        "system", "synthetic", "skill", "shell", "idle", "model-switched", "agent-switched",
        "location-switched",
    ):  # fmt: skip
        store.entry(kind, {"text": "noise", "output": "noise"})
    content = [
        {"type": "reasoning", "text": "hm"}, {"type": "text", "text": "Because."},
        {"type": "tool", "state": {}}, {"type": "text", "text": "So."},
    ]  # fmt: skip
    store.entry("assistant", {"content": content, "model": {"id": "model-y", "providerID": "p"}})
    store.entry("compaction", {"status": "completed", "summary": "We asked.", "recent": "x"})
    store.entry("compaction", {"status": "running", "summary": "We as", "recent": "x"})
    store.entry("hologram", {"text": "?"})
    store.entry("user", None)
    store.entry("user", {"text": "find it"}, session=B)
    made = source(tmp_path)
    digest = hashlib.sha256(b"ABC").hexdigest()[:12]
    assert said(made) == [
        (A, "user", "human", f"Why?\n\n[image: image/png, sha256 {digest}]"),
        (A, "assistant", "assistant", "Because.\n\nSo."),
        (A, "summary", "summary", "We asked."),
        (B, "user", "subagent", "find it"),
    ]
    result = results(made)[f"opencode:{A}"]
    assert result.messages[1].model == "model-y"
    assert (len(result.bad_lines), result.unknown) == (1, {"message/hologram": 1})


def test_a_database_that_was_moved_to_the_second_version(tmp_path, folder):
    store = Store(folder, second=True)
    store.second = False
    store.session(A)
    question, answer = store.chat()
    summary = store.say("assistant", "We look.", summary=True)
    store.second = True
    store.session(A, title="Cranes, later")
    at = T + 1000
    store.entry("user", {"text": "Why does the crane overheat?"}, key=question, at=at)
    store.entry("assistant", {"content": [text("It never idles.")]}, key=answer, at=at + 1000)
    store.entry("compaction", {"summary": "We look."}, key=uid(at + 2501), at=at + 2500)
    # Some releases gave other ids.
    same = {"text": "Why does the crane overheat?"}
    store.entry("user", same, key=uid(at, 9), at=at)
    new = store.entry("user", {"text": "new in two"})
    made = source(tmp_path)
    (result,) = results(made).values()
    assert [m.uid for m in result.messages] == [question, answer, summary, new]
    assert result.sessions[A].title == "Cranes, later"


@pytest.mark.parametrize("value", [None, [], {}, 7, True, "", "x", [1], {"type": []}])
@pytest.mark.parametrize("key", ["kind", "id", "role", "parts", "created", "cwd", "model", "title"])
def test_records_of_no_known_form(key, value):
    head = {"kind": "session", "id": A, "parent": B, "relation": "fork", "directory": "/x"}
    whole = {"kind": "message", "id": "m", "role": "user", "parts": [text("hello")], "created": T}
    records = [head, {**head, key: value}, {**whole, "id": "n", key: value}, whole]
    lines = [RawLine(n, n + 1, json.dumps(r).encode()) for n, r in enumerate(records)]
    result = parser().parse(SourceItem(f"/x/opencode.db#{A}", "1", 1, NOW * 10**6), lines, {})
    json.dumps(result.state)
    assert "hello" in [message.text for message in result.messages]
    told = result.records + sum(result.unknown.values()) + len(result.bad_lines)
    assert told >= len(records)


def test_only_what_is_needed_is_ever_named(tmp_path, folder, store):
    statements = []

    class Watched(Logs):
        def database(self, path):
            block = super().database(path)
            return Watching(block)

    class Watching:
        def __init__(self, block):
            self.block = block

        def __enter__(self):
            inner = self.block.__enter__()
            plain = inner.rows

            def rows(statement, parameters=()):
                statements.append(statement)
                return plain(statement, parameters)

            inner.rows = rows
            return inner

        def __exit__(self, *error):
            return self.block.__exit__(*error)

    store.chat()
    store.session(B)
    store.chat(B)
    (folder / "auth.json").write_text('{"token": "CANARY"}')
    made = source(tmp_path, reader=Watched(tmp_path / "copies"))
    items = list(made.discover([]))
    data = b"".join(line.data for item in items for line in made.read(item, 0))
    assert statements
    assert b"CANARY" not in data
    assert b"crane" in data
    named = " ".join(statements).lower()
    for word in ("account", "credential", "share", "auth", "*from", "* from", "event"):
        assert word not in named
