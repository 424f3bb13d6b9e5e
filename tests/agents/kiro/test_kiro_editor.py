"""Chats of the editor, in their two forms."""

import hashlib

import pytest
from agents.sources import items, only, read
from kiro_kit import AT, CWD, Stores, part, said, texts


@pytest.fixture
def stores(tmp_path):
    return Stores(tmp_path)


TURNS = [
    ("human", "# System Prompt\nRULES"),
    ("bot", "I will follow these instructions."),
    ("human", "<kiro-ide-message>\nWhy?\n</kiro-ide-message>"),
    ("tool", "TOOL OUTPUT"),
    ("bot", "Because."),
]


def test_a_run_without_what_was_put_in(stores):
    stores.run("e1", TURNS, endTime=(AT + 60) * 1000)
    result = only(stores.chats)
    assert said(result) == [("user", "human", "Why?"), ("assistant", "assistant", "Because.")]
    assert [(m.at, m.approximate) for m in result.messages] == [
        (AT * 1000, True),
        ((AT + 60) * 1000, True),
    ]
    assert [m.model for m in result.messages] == [None, "model-e"]
    assert {m.session for m in result.messages} == {"w1"}
    assert not result.unknown


def test_runs_of_one_workflow_tell_each_message_once(stores):
    stores.run("e1", TURNS)
    stores.run("e2", [*TURNS, ("human", "And now?"), ("bot", "Done."), ("bot", "Because.")])
    found, _ = items(stores.chats)
    uids = [m.uid for item in found for m in read(stores.chats, item).messages]
    assert len(uids) == 7
    assert len(set(uids)) == 5


def test_a_run_without_a_workflow_is_a_session_of_its_own(stores):
    stores.run("e1", TURNS, workflowId=None)
    assert {m.session for m in only(stores.chats).messages} == {"e1"}


@pytest.mark.parametrize("known", ["projects", "list"])
def test_the_folder_of_a_run_is_found_by_its_digest(tmp_path, known):
    stores = Stores(tmp_path, known=["/srv/other", CWD] if known == "projects" else [])
    place = hashlib.sha256(CWD.encode()).hexdigest()[:32]
    if known == "list":
        listed = [{"sessionId": "gone", "workspaceDirectory": CWD}]
        stores.session("s1", [], listed)
    path = stores.run("e1", TURNS, place=place)
    (item,), _ = items(stores.chats, path)
    assert read(stores.chats, item).sessions["w1"].cwd == CWD


def test_a_session_with_its_place_in_the_list(stores):
    listed = [
        7,
        {"sessionId": "s1", "title": "Crane", "workspaceDirectory": CWD, "dateCreated": f"{AT}000"},
    ]
    picture = {"type": "imageUrl", "imageUrl": {"url": "data:image/png;base64,QUJD"}}
    blocks = [{"type": "text", "text": "Why?"}, picture]
    stores.session(
        "s1", [("user", blocks), ("assistant", "Because."), ("tool", "OUT")], listed, "?"
    )
    result = only(stores.chats)
    assert texts(result) == ["Why?\n\n[image: unknown]", "Because."]
    assert {(m.at, m.approximate) for m in result.messages} == {(AT * 1000, True)}
    facts = result.sessions["s1"]
    assert (facts.cwd, facts.title) == (CWD, "Crane")


def test_a_session_says_itself_where_it_is(stores):
    stores.session("s1", [("user", "Why?")], folder="/srv/x", workspaceDirectory=CWD, title="T")
    facts = only(stores.chats).sessions["s1"]
    assert (facts.cwd, facts.title) == (CWD, "T")


@pytest.mark.parametrize("folder", ["/srv/demo/ü harbour", "d:\\Work\\Harbour", "/a"])
def test_without_a_list_the_name_of_the_folder_tells_it(stores, folder):
    stores.session("s1", [("user", "Why?")], folder=folder, title="New Session")
    facts = only(stores.chats).sessions["s1"]
    assert (facts.cwd, facts.title) == (folder, "Why?")


def test_ids_are_the_same_when_more_is_said(stores):
    stores.session("s1", [("user", "Why?"), ("assistant", "So.")])
    before = [m.uid for m in only(stores.chats).messages]
    stores.session("s1", [("user", "Why?"), ("assistant", "So."), ("user", "Why?")])
    after = [m.uid for m in only(stores.chats).messages]
    assert after[:2] == before
    assert len(set(after)) == 3


def test_other_files_are_not_opened(stores):
    path = stores.session("s1", [("user", "Why?")], [{"sessionId": "s1"}])
    for name in ("profile.json", "dev_data/x.chat", "index/y.chat", "x.chat"):
        other = stores.editor / name
        other.parent.mkdir(exist_ok=True)
        other.write_text("{}")
    found, _ = items(stores.chats)
    assert str(path) in {item.uri for item in found}
    assert not any("dev_data" in item.uri or "index" in item.uri for item in found)
    assert not any(item.uri.endswith(("profile.json", "sessions.json")) for item in found)


@pytest.mark.parametrize("data", [b"{", b"[]", b"7", b'{"chat": 7}', b"\xff\xfe"])
def test_a_damaged_chat_is_told(stores, data):
    path = stores.run("e1", TURNS)
    path.write_bytes(data)
    result = only(stores.chats)
    assert len(result.bad_lines) == 1
    assert result.messages == []


def test_unknown_roles_and_parts_are_counted(stores):
    turns = [("ghost", "x"), ("human", [part("hologram", 1)]), ("human", {"a": 1}), (None, "x")]
    stores.run("e1", turns)
    assert sum(only(stores.chats).unknown.values()) == 4
