"""What is read of threads with Zed's agent."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from agents.sources import items, only, read, texts
from zed_kit import (
    BEGUN_AT,
    CHANGED,
    CHANGED_AT,
    CHAT,
    MESSAGES,
    OLD_MESSAGES,
    Zed,
    agent,
    document,
    mention,
    old_document,
    old_message,
    packed,
    user,
    write,
)

from cloxy_hookspecs import ForeignDatabaseError
from cloxy_plugins.zed import threads
from cloxy_plugins.zed.inflating import inflated
from cloxy_plugins.zed.places import data_folders, text_thread_folders
from cloxy_plugins.zed.source import threads_source

HOME = Path("/home/pat")


@pytest.fixture
def zed(tmp_path):
    return Zed(tmp_path)


@pytest.mark.parametrize("kind", ["zstd", "json"])
@pytest.mark.parametrize("form", [document, old_document])
def test_a_thread(zed, form, kind):
    zed.write(value=form(), kind=kind)
    result = only(zed.source)
    assert texts(result) == CHAT
    prompt, answer = result.messages[:2]
    assert (prompt.session, prompt.author, prompt.model) == ("t1", "human", None)
    assert (answer.author, answer.model) == ("assistant", "model-x")
    facts = result.sessions["t1"]
    assert (facts.title, facts.cwd, facts.branch) == ("Crane", "/srv/demo/harbour", "main")
    assert (facts.parent, facts.relation) == (None, None)
    assert not result.unknown
    assert not result.bad_lines
    text = repr(result)
    for noise in ("TOOL", "SECRET", "LARGE DIFF", "FILE BODY", "DRAFT"):
        assert noise not in text


def test_a_row_of_the_first_version_of_the_table(zed):
    zed.write(columns=())
    result = only(zed.source)
    assert texts(result) == CHAT
    # Without folders beside it, the first worktree is the place.
    facts = result.sessions["t1"]
    assert (facts.cwd, facts.branch) == ("/srv/demo/dock", "other")


def test_both_forms_side_by_side(zed):
    zed.write("t1")
    zed.write("t2", old_document())
    zed.write("t3", old_document(), kind="json")
    found, failures = items(zed.source)
    assert failures == []
    assert [texts(read(zed.source, item)) for item in found] == [CHAT] * 3


def test_ids_stay_when_zed_turns_the_older_form_into_the_newer(zed):
    zed.write(value=old_document())
    before = [message.uid for message in only(zed.source).messages]
    zed.write(value=document([
        user("Why does the crane overheat?", key="new"), agent("It never idles."),
        user("Add a test for Ünïcödé 港", key="newer"), agent("Done."),
    ]))  # fmt: skip
    assert [message.uid for message in only(zed.source).messages] == before
    assert len(set(before)) == 4


def test_ids_stay_when_something_is_put_in_before(zed):
    twice = [user("go on"), agent("Yes."), user("go on"), agent("Yes.")]
    zed.write(value=document(twice))
    before = [message.uid for message in only(zed.source).messages]
    assert len(set(before)) == 4
    zed.write(value=document([user("First"), {"Compaction": {"Summary": "All of it"}}, *twice]))
    assert [message.uid for message in only(zed.source).messages][2:] == before


def test_times(zed):
    zed.write(created_at=CHANGED)
    messages = only(zed.source).messages
    assert [message.at for message in messages] == [BEGUN_AT, BEGUN_AT, CHANGED_AT, CHANGED_AT]
    assert all(message.approximate for message in messages)
    zed.write(value=document(initial_project_snapshot=None), created_at="2026-02-06T02:00:00Z")
    assert only(zed.source).messages[0].at == BEGUN_AT - 381_947
    zed.write(value=document(initial_project_snapshot=None), created_at=None, updated_at="never")
    assert {message.at for message in only(zed.source).messages} == {CHANGED_AT}


def test_mentions_have_their_names_only(zed):
    uris = [
        {"File": {"abs_path": "/srv/demo/harbour/crane.py"}},
        {"Directory": {"abs_path": "C:\\Work\\dock\\"}},
        {"Symbol": {"abs_path": "/x/crane.py", "name": "lift", "line_range": [1, 2]}},
        {"Thread": {"id": "t9", "name": "Old crane"}},
        {"Fetch": {"url": "https://host/page"}},
        {"Selection": {"line_range": [1, 2]}},
        {"Diagnostics": {"include_errors": True}},
        {"GitDiff": {"base_ref": "main"}},
        "PastedImage",
        None,
        7,
    ]
    content = [part for uri in uris for part in (" ", mention(uri))]
    zed.write(value=document([user("Look at", *content, " please")]))
    assert texts(only(zed.source)) == [
        ("user", "Look at @crane.py @dock @lift @Old crane @https://host/page @Selection"
                 " @Diagnostics @main    please"),
    ]  # fmt: skip


def test_a_prompt_of_mentions_alone_says_nothing(zed):
    zed.write(value=document([user(mention({"File": {"abs_path": "/x"}}), " "), agent("Seen.")]))
    assert texts(only(zed.source)) == [("assistant", "Seen.")]


def test_pictures_have_a_placeholder(zed):
    picture = {"Image": {"source": "iVBORw0KGgo", "size": None}}
    zed.write(value=document([user("look ", picture, picture), user(picture, key="u2")]))
    assert [text for _role, text in texts(only(zed.source))] == [
        "look\n\n[image: unknown]\n[image: unknown]",
        "[image: unknown]",
    ]


def test_summaries(zed):
    native = {"Compaction": {"ProviderNative": {"data": "OPAQUE"}}}
    zed.write(value=document(
        [*MESSAGES[:2], {"Compaction": {"Summary": "The crane."}}, native, *MESSAGES[4:]],
        detailed_summary="All of the crane.",
    ))  # fmt: skip
    result = only(zed.source)
    assert texts(result) == [
        *CHAT[:2], ("summary", "The crane."), *CHAT[2:], ("summary", "All of the crane."),
    ]  # fmt: skip
    assert {m.author for m in result.messages if m.role == "summary"} == {"summary"}
    state = {"Generated": {"text": "Of old.", "message_id": 3}}
    zed.write(value=old_document(detailed_summary_state=state))
    assert texts(only(zed.source)) == [*CHAT, ("summary", "Of old.")]


def test_old_forms_of_messages(zed):
    zed.write(value=old_document([
        {"id": 0, "role": "user", "text": "Why?"},
        {"id": 1, "role": "assistant", "text": "Because."},
        old_message(2, "system", "SYSTEM PROMPT"),
        old_message(3, "user", "Here is the result", tool_results=[{"content": "TOOL OUTPUT"}]),
        old_message(4, "user", "Continue where you left off", is_hidden=True),
        old_message(5, "assistant", " Two ", "", "parts "),
        old_message(6, "user", "typed ", "in two"),
        old_message(7, "assistant"),
    ], version=None))  # fmt: skip
    result = only(zed.source)
    assert [(message.role, message.author, message.text) for message in result.messages] == [
        ("user", "human", "Why?"),
        ("assistant", "assistant", "Because."),
        ("user", "program", "Continue where you left off"),
        ("assistant", "assistant", "Two\n\nparts"),
        ("user", "human", "typed in two"),
    ]
    assert not result.bad_lines
    assert not result.unknown


@pytest.mark.parametrize("beside", [True, False])
def test_sub_agents_know_who_started_them(zed, beside):
    zed.write("t1")
    context = {"parent_thread_id": "t1", "depth": 1}
    row = {"parent_id": "t1"} if beside else {}
    zed.write("t2", document(subagent_context=None if beside else context), **row)
    zed.write("t3", parent_id="t2" if beside else None)
    _parent, child, grandchild = (read(zed.source, item) for item in items(zed.source)[0])
    facts = child.sessions["t1/t2"]
    assert (facts.parent, facts.relation) == ("t1", "subagent")
    assert {message.author for message in child.messages} == {"subagent"}
    if beside:
        assert grandchild.sessions["t2/t3"].parent == "t1/t2"


def test_a_thread_that_is_its_own_parent_has_none(zed):
    zed.write(parent_id="t1")
    assert only(zed.source).sessions["t1"].parent is None


@pytest.mark.parametrize(
    ("paths", "order", "cwd"),
    [
        ("/srv/a\n/srv/b", "1,0", "/srv/b"),
        ("/srv/a\n/srv/b", "0,1", "/srv/a"),
        ("/srv/a\n/srv/b", None, "/srv/a"),
        ("/srv/a", "7,0,x", "/srv/a"),
        ("\n", "0", "/srv/demo/dock"),
        (None, None, "/srv/demo/dock"),
        (7, 7, "7"),
    ],
)
def test_the_folder_of_several_is_the_first_as_the_project_has_them(zed, paths, order, cwd):
    zed.write(folder_paths=paths, folder_paths_order=order)
    assert only(zed.source).sessions["t1"].cwd == cwd


@pytest.mark.parametrize("title", ["New Thread", "New Agent Thread", "", "  "])
def test_what_every_thread_is_called_is_no_title(zed, title):
    zed.write(value=document(title=title), summary=title)
    facts = only(zed.source).sessions["t1"]
    assert (facts.title, facts.title_rank) == ("Why does the crane overheat?", 1)
    zed.write(value=document(title="Crane"), summary=title)
    assert only(zed.source).sessions["t1"].title == "Crane"


def test_threads_without_a_word_and_those_of_other_agents_are_left_out(zed):
    """Of a thread with another agent Zed has facts at most; the agent has a log of its own."""
    zed.write(value=document([]))
    zed.write("t2", document([agent(), user("")]))
    with closing(sqlite3.connect(zed.database)) as database:
        database.execute(
            "CREATE TABLE sidebar_threads (session_id TEXT, agent_id TEXT, title TEXT)"
        )
        database.execute("INSERT INTO sidebar_threads VALUES ('t9', 'claude-acp', 'Elsewhere')")
        database.commit()
    found, failures = items(zed.source)
    assert (len(found), failures) == (2, [])
    for item in found:
        result = read(zed.source, item)
        assert (result.messages, result.sessions, result.bad_lines) == ([], {}, [])
        assert result.silent


def test_what_is_not_known_is_counted(zed):
    zed.write(value=document([
        {"Oracle": {}},
        "Pause",
        7,
        {"User": {"content": [{"Hologram": {}}, "Blink", 7, {"a": 1, "b": 2}]}},
        {"User": {}},
        {"Agent": {"content": [{"Text": 7}, {"Text": "Still."}, {"Dream": {}}]}},
        {"Agent": 7},
        {"Compaction": {"Rest": 1}},
        {"role": "oracle"},
        {"role": {"a": "words"}},
        old_message(1, "user", segments=[{"type": "dream"}, {"type": "text"}, 7]),
        old_message(2, "user", segments=7),
        {"role": "user"},
    ]))  # fmt: skip
    result = only(zed.source)
    assert texts(result) == [("assistant", "Still.")]
    assert result.unknown == {
        "message of kind Oracle": 1,
        "message of kind Pause": 1,
        "part of kind Hologram": 1,
        "part of kind Blink": 1,
        "part of kind Dream": 1,
        "summary of no known form": 1,
        "message of role oracle": 1,
        "message of role (no name)": 1,
        "part of kind dream": 1,
    }
    assert len(result.bad_lines) == 8


def test_a_change_makes_a_new_version_of_its_thread_alone(zed):
    zed.write("t1")
    zed.write("t2")
    before = {item.identity: item for item in items(zed.source)[0]}
    for change in (
        {"updated_at": "2026-02-06T03:00:00Z"},
        {"updated_at": "2026-02-06T03:00:00.0000001Z"},
        {"summary": "Winch", "updated_at": "2026-02-06T03:00:00.0000001Z"},
        {"value": document(MESSAGES[:2]), "updated_at": "2026-02-06T03:00:00.0000001Z"},
    ):
        zed.write("t1", **change)
        after = {item.identity: item for item in items(zed.source)[0]}
        assert after["zed:t2"] == before["zed:t2"]
        assert after["zed:t1"] != before["zed:t1"]
        before = after
    assert [item.uri for item in after.values()] == [
        f"{zed.database}#t1", f"{zed.database}#t2",
    ]  # fmt: skip


def test_looking_reads_no_document(zed):
    """Columns behind the document would have all of it read."""
    zed.write(data=packed(document()), kind="zstd")
    asked = []

    class Listening:
        def tables(self):
            return frozenset({"threads"})

        def columns(self, _table):
            return frozenset({"id", "summary", "updated_at", "data_type", "data", "created_at"})

        def rows(self, statement, _parameters=()):
            asked.append(statement)
            return iter([("t1", 5, CHANGED, "Crane")])

    assert set(threads.Threads().versions(Listening())) == {"t1"}
    assert "created_at" not in asked[0]
    assert asked[0].count("data") == asked[0].count("length(data)")


def test_only_the_database_of_threads_is_looked_at(zed, tmp_path):
    zed.write()
    for other in ("db/0-stable/db.sqlite", "threads/threads.db.bak", "threads/deep/threads.db",
                  "threads.db", "threads/threads-db.1.mdb/data.mdb"):  # fmt: skip
        write(zed.folder / other, "t9")
    assert [item.uri for item in items(zed.source)[0]] == [f"{zed.database}#t1"]
    assert zed.source.roots() == (zed.folder / "threads",)
    for folder in (zed.folder, zed.folder / "threads"):
        assert len(list(zed.source.of(folder).discover([]))) == 1
    assert list(zed.source.of(tmp_path).discover([])) == []


def test_a_thread_that_is_gone_is_told(zed):
    zed.write("t1")
    zed.write("t2")
    first, _second = items(zed.source)[0]
    with closing(sqlite3.connect(zed.database)) as database:
        database.execute("DELETE FROM threads WHERE id = 't1'")
        database.commit()
    with pytest.raises(ForeignDatabaseError, match="gone"):
        list(zed.source.read(first, 0))
    assert [item.identity for item in items(zed.source)[0]] == ["zed:t2"]


def test_a_table_of_another_form_is_told(zed):
    zed.database.parent.mkdir(parents=True)
    with closing(sqlite3.connect(zed.database)) as database:
        database.execute("CREATE TABLE other (id TEXT)")
        database.commit()
    assert items(zed.source) == ([], [])
    with closing(sqlite3.connect(zed.database)) as database:
        database.execute("CREATE TABLE threads (id TEXT, body BLOB)")
        database.commit()
    found, failures = items(zed.source)
    assert found == []
    assert [(each.uri, each.reason) for each in failures] == [
        (str(zed.database), "its threads have no data, data_type")
    ]


def test_the_document_is_unpacked_within_bounds():
    data = b"crane " * 500_000
    assert inflated(packed(data), len(data)) == data
    assert inflated(packed(data) + packed(b"more"), len(data) + 4) == data + b"more"
    with pytest.raises(ValueError, match="unpacks to more than 2 MB"):
        inflated(packed(data), len(data) - 1)
    with pytest.raises(ValueError, match="too early"):
        inflated(packed(data)[:-4], len(data))
    with pytest.raises(ValueError, match="damaged"):
        inflated(b"no frame at all", 100)
    assert inflated(b"", 0) == b""


def test_a_thread_that_is_too_large_is_told(zed, monkeypatch):
    monkeypatch.setattr(threads, "MOST", 4 << 20)
    zed.write("t1", data=packed(b" " * (5 << 20)))
    zed.write("t2", data=b"x" * (5 << 20))
    zed.write("t3")
    reasons = [[line.reason for line in read(zed.source, item).bad_lines]
               for item in items(zed.source)[0]]  # fmt: skip
    assert reasons == [["a thread unpacks to more than 4 MB"], ["a thread has more than 4 MB"], []]


@pytest.mark.parametrize(
    ("environment", "platform", "folders"),
    [
        ({}, "darwin", ["/home/pat/Library/Application Support/Zed"]),
        ({"XDG_DATA_HOME": "/x"}, "darwin", ["/home/pat/Library/Application Support/Zed"]),
        ({}, "win32", ["/home/pat/AppData/Local/Zed"]),
        ({"LOCALAPPDATA": "/local"}, "win32", ["/local/Zed"]),
        ({}, "linux", ["/home/pat/.local/share/zed"]),
        ({"XDG_DATA_HOME": "/x"}, "linux", ["/x/zed"]),
        ({"XDG_DATA_HOME": "x"}, "linux", ["/home/pat/.local/share/zed"]),
        ({"FLATPAK_XDG_DATA_HOME": "/f"}, "linux", ["/f/zed", "/home/pat/.local/share/zed"]),
    ],
)
def test_places(environment, platform, folders):
    found = data_folders(environment, HOME, platform)
    flatpaks = [each for each in found if ".var" in each.parts]
    assert [each for each in found if each not in flatpaks] == [Path(each) for each in folders]
    if platform == "linux":
        assert HOME / ".var/app/dev.zed.Zed/data/zed" in flatpaks
        assert HOME / ".var/app/dev.zed.Zed-Preview/data/zed" in flatpaks
        assert text_thread_folders(environment, HOME, platform) == found
    else:
        assert flatpaks == []
    if platform == "darwin":
        assert text_thread_folders(environment, HOME, platform) == [HOME / ".config/zed"]


def test_a_thread_that_several_folders_have_comes_from_the_first(tmp_path):
    first, second = Zed(tmp_path / "a"), Zed(tmp_path / "b")
    first.write(value=document(MESSAGES[:2]))
    second.write()
    second.write("t2", old_document(OLD_MESSAGES))
    found = threads_of(first, second)
    assert [item.uri for item in found] == [f"{first.database}#t1", f"{second.database}#t2"]


def threads_of(*folders):
    source = threads_source(folders[0].logs, lambda: [each.folder for each in folders])
    return items(source)[0]


@pytest.mark.parametrize("snapshot", [None, 7, {}, {"worktree_snapshots": [None, 7]}, {
    "worktree_snapshots": [{"worktree_path": None, "git_state": 7}], "timestamp": 7}])  # fmt: skip
def test_a_thread_without_a_place(zed, snapshot):
    zed.write(value=document(initial_project_snapshot=snapshot), folder_paths=None)
    facts = only(zed.source).sessions["t1"]
    assert (facts.cwd, facts.branch) == (None, None)
