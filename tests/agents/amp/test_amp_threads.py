"""What is kept of a thread, and what is not."""

from pathlib import Path

import pytest
from agents.sources import items, only, read, texts
from amp_kit import (
    AT,
    CALL,
    HARBOUR,
    OTHER,
    TALK,
    THOUGHT,
    THREAD,
    TREE,
    Threads,
    aged,
    answered,
    assistant,
    put,
    talk,
    text,
    thread,
    user,
)

from cloxy_plugins.amp.settings import parse_folder
from cloxy_plugins.amp.source import threads_folder, threads_in


@pytest.fixture
def threads(tmp_path):
    return Threads(tmp_path)


def test_a_thread_is_kept_with_its_facts(threads):
    threads.put(*talk())
    result = threads.read()
    assert texts(result) == TALK
    assert [each.author for each in result.messages] == [
        "human",
        "assistant",
        "assistant",
        "human",
        "assistant",
    ]
    assert [each.model for each in result.messages] == [None, "model-x", "model-x", None, "model-x"]
    facts = result.sessions[THREAD]
    assert (facts.title, facts.cwd, facts.branch) == ("Crane", HARBOUR, "crane")
    assert {(each.cwd, each.branch) for each in result.messages} == {(HARBOUR, "crane")}
    assert not result.unknown
    assert not result.bad_lines


def test_times_are_the_messages_own_or_those_of_the_list_of_uses(threads):
    events = [
        {"operationType": "inference", "toMessageId": 1, "timestamp": "2025-10-20T22:40:03.000Z"},
        {"operationType": "title-generation", "toMessageId": 2, "timestamp": "2025-10-20T23:00Z"},
        {"operationType": "inference", "toMessageId": None, "timestamp": "2025-10-20T23:00:00Z"},
        None,
    ]
    threads.put(
        user(0, "Why?"),
        assistant(1, "One."),
        assistant(2, "Two."),
        assistant(3, "Three.", usage={"model": "m", "timestamp": "2025-10-20T22:40:09.000Z"}),
        usageLedger={"events": events},
    )
    found = threads.read().messages
    assert [(each.at - AT, each.approximate) for each in found] == [
        (0, False),
        (3000, True),
        (3000, True),
        (9000, False),
    ]


def test_a_thread_without_times_has_that_of_its_start(threads):
    message = user(0, "Why?")
    del message["meta"]
    threads.put(message, assistant(1, "So."))
    assert [(each.at, each.approximate) for each in threads.read().messages] == [
        (AT - 5000, True),
        (AT - 5000, True),
    ]


def test_several_texts_of_a_message_are_one_message(threads):
    threads.put(user(0, "One", "Two", " "), assistant(1, "So", THOUGHT, CALL, "then."))
    assert texts(threads.read()) == [("user", "One\n\nTwo"), ("assistant", "So\n\nthen.")]


def test_messages_without_words_are_left_out(threads):
    threads.put(user(0, "Why?"), answered(1), assistant(2, THOUGHT, CALL), user(3, ""))
    assert texts(threads.read()) == [("user", "Why?")]


def test_summaries_are_kept_as_such(threads):
    told = {"type": "summary", "summary": {"type": "message", "summary": "What was done."}}
    other = {"type": "summary", "summary": {"type": "thread", "thread": OTHER}}
    threads.put(
        {"role": "info", "messageId": 0, "content": [told]},
        {"role": "info", "messageId": 1, "content": [other]},
        {"role": "user", "messageId": 2, "type": "summary", "content": [text("More was done.")]},
        {"role": "user", "messageId": 3, "content": [{"type": "summary", "summary": "Plain."}]},
        {"role": "info", "messageId": 4, "content": [text("NOTICE")]},
        user(5, "Go on"),
    )
    result = threads.read()
    assert texts(result) == [
        ("summary", "What was done."),
        ("summary", "More was done."),
        ("summary", "Plain."),
        ("user", "Go on"),
    ]
    assert [each.author for each in result.messages] == ["summary"] * 3 + ["human"]
    assert not result.unknown


def test_pictures_have_a_mark(threads):
    source = {"type": "base64", "mediaType": "image/png", "data": "aGFyYm91cg=="}
    threads.put(
        user(0, "See", {"type": "image", "source": source}),
        user(1, {"type": "image", "sourcePath": "/home/me/crane [1].png", "source": source}),
        user(2, {"type": "image"}),
        assistant(3, {"type": "image", "source": source}),
    )
    first, second, third = (each.text for each in threads.read().messages)
    assert first.startswith("See\n\n[image: image/png, sha256 ")
    assert (second, third) == ("[image: crane (1).png]", "[image: unknown]")


@pytest.mark.parametrize(
    ("uri", "folder"),
    [
        (f"file://{HARBOUR}", HARBOUR),
        ("file:///srv/a%20b/", "/srv/a b"),
        ("file:///c%3A/work/crane", "C:\\work\\crane"),
        ("file://server/share/x", "\\\\server\\share\\x"),
        ("vscode-remote://ssh-remote%2Bhost/srv/x", "/srv/x"),
        (HARBOUR, HARBOUR),
        ({"fsPath": HARBOUR, "scheme": "file"}, HARBOUR),
        ("https://example.org/srv", None),
        ("file://[", None),
        ("file:///a%00b", None),
        ("harbour", None),
        (7, None),
    ],
)
def test_the_folder_is_that_of_the_first_tree(threads, uri, folder):
    threads.put(*talk(), env={"initial": {"trees": [{**TREE, "uri": uri}]}})
    assert threads.read().sessions[THREAD].cwd == folder


@pytest.mark.parametrize(
    ("ref", "branch"),
    [("refs/heads/a/b", "a/b"), ("main", "main"), ("refs/tags/v1", None), (None, None), (7, None)],
)
def test_branches(threads, ref, branch):
    tree = {**TREE, "repository": {"ref": ref}}
    threads.put(*talk(), env={"initial": {"trees": [tree]}})
    assert threads.read().sessions[THREAD].branch == branch


@pytest.mark.parametrize("title", [None, "", "Untitled", " untitled "])
def test_a_title_that_is_none_gives_way_to_the_first_words(threads, title):
    threads.put(*talk(), title=title)
    assert threads.read().sessions[THREAD].title == "Why does the crane overheat?"


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"forkedFrom": OTHER}, (OTHER, "fork")),
        ({"forkedFrom": {"threadID": OTHER, "messageId": 3}}, (OTHER, "fork")),
        (
            {"relationships": [{"type": "handoff", "role": "parent", "threadID": OTHER}]},
            (OTHER, "resume"),
        ),
        (
            {"relationships": [{"type": "fork", "role": "parent", "threadID": OTHER}]},
            (OTHER, "fork"),
        ),
        (
            {"relationships": [{"type": "handoff", "role": "child", "threadID": OTHER}]},
            (None, None),
        ),
        (
            {"relationships": [{"type": "mention", "role": "parent", "threadID": OTHER}]},
            (None, None),
        ),
        ({"relationships": [None, 7, {"type": "fork", "role": "parent"}]}, (None, None)),
        ({"forkedFrom": THREAD}, (None, None)),
        ({"mainThreadID": OTHER}, (OTHER, "subagent")),
        ({"mainThreadID": THREAD}, (None, None)),
    ],
)
def test_relations(threads, more, expected):
    threads.put(*talk(), **more)
    result = threads.read()
    facts = result.sessions[THREAD]
    assert (facts.parent, facts.relation) == expected
    authors = {each.author for each in result.messages}
    assert authors == ({"subagent"} if expected[1] == "subagent" else {"human", "assistant"})


def test_ids_stay_while_a_thread_grows_and_differ_where_a_place_is_used_again(threads):
    threads.put(user(0, "ok"), assistant(1, "It ne"))
    before = [each.uid for each in threads.read().messages]
    threads.put(user(0, "ok"), assistant(1, "It never idles."), user(2, "ok"), assistant(3, "ok"))
    after = [each.uid for each in threads.read().messages]
    assert after[:2] == before
    assert len(set(after)) == 4
    threads.put(user(0, "ok, but why?"), assistant(1, "It never idles."))
    edited = [each.uid for each in threads.read().messages]
    assert not set(edited) & set(after)


def test_a_fork_has_the_ids_of_the_thread_that_it_is_a_copy_of(threads):
    threads.put(*talk())
    threads.put(*talk()[:3], user(4, "Otherwise", at=AT + 99_000), key=OTHER, forkedFrom=THREAD)
    found = {
        Path(item.uri).stem: [each.uid for each in read(threads.source, item).messages]
        for item in items(threads.source)[0]
    }
    assert found[OTHER][:2] == found[THREAD][:2]
    assert found[OTHER][2] not in found[THREAD]


def test_equal_threads_without_times_are_two(threads):
    plain = [{"role": "user", "content": [text("ok")]}, {"role": "assistant", "content": "ok"}]
    threads.put(*plain, *plain)
    threads.put(*plain, key=OTHER)
    ids = [
        each.uid
        for item in items(threads.source)[0]
        for each in read(threads.source, item).messages
    ]
    assert len(ids) == len(set(ids)) == 6


def test_equal_prompts_of_two_threads_are_two(threads):
    threads.put(user(0, "ok"), assistant(1, "ok"))
    threads.put(user(0, "ok", at=AT + 1), assistant(1, "ok"), key=OTHER)
    found = [read(threads.source, item) for item in items(threads.source)[0]]
    assert len({each.uid for result in found for each in result.messages}) == 4


def test_two_messages_with_one_place_are_two(threads):
    threads.put(user(0, "Why?"), assistant(1, "One."), assistant(1, "Two."))
    assert len({each.uid for each in threads.read().messages}) == 3


def test_unknown_kinds_are_counted(threads):
    threads.put(user(0, "Why?", {"type": "song"}), assistant(1, {"type": "song"}, {}))
    assert dict(threads.read().unknown) == {"song": 2, "(no type)": 1}


def test_threads_of_our_own_are_not_taken(threads):
    tree = {**TREE, "uri": "file:///srv/demo/cloxy-data/work"}
    threads.put(*talk(), env={"initial": {"trees": [tree]}})
    assert not threads.read().messages


def test_only_threads_are_opened(threads):
    threads.put(*talk())
    for name in ("secrets.json", "session.json", "history.jsonl", "T-x.log", "notes.json"):
        put(threads.folder / name, b'{"apiKey": "FAKE-KEY"}')
    found, failures = items(threads.source)
    assert [Path(each.uri).stem for each in found] == [THREAD]
    assert failures == []
    above = threads_in(threads.logs, []).of(threads.folder.parent)
    assert [Path(each.uri).stem for each in items(above)[0]] == [THREAD]


def test_of_several_copies_the_newest_counts(threads, tmp_path):
    exports = tmp_path / "exports"
    source = threads_in(threads.logs, [threads.folder, exports])
    aged(threads.put(*talk()[:1]), 100)
    aged(put(exports / f"{THREAD}.json", thread(*talk())), 50)
    assert texts(only(source)) == TALK


def test_the_folder_of_threads():
    home = Path("/home/me")
    assert threads_folder({}, home) == home / ".local" / "share" / "amp" / "threads"
    assert threads_folder({"XDG_DATA_HOME": "/x"}, home) == Path("/x/amp/threads")
    assert threads_folder({"XDG_DATA_HOME": "x"}, home) == threads_folder({}, home)


def test_the_setting_wants_an_absolute_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert parse_folder(" ") is None
    assert parse_folder("~/exports") == tmp_path / "exports"
    assert parse_folder(str(tmp_path / "a" / ".." / "b")) == tmp_path / "b"
    for wrong in ("exports", "~nobody-of-this-name/x", f"{tmp_path}/\0"):
        with pytest.raises(ValueError, match="absolute"):
            parse_folder(wrong)
