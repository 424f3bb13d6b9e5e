"""What is read of the editor's databases."""

import json
import sqlite3
from contextlib import closing

import pytest
from agents.sources import items, read, texts
from cursor_kit import (
    AT,
    CHAT,
    Stores,
    bubble,
    composer,
    identifier,
    only,
    put,
    talk,
    transcript,
    workspace,
    write,
)

from cloxy_hookspecs import ForeignDatabaseError
from cloxy_plugins.cursor import statements


@pytest.fixture
def stores(tmp_path):
    return Stores(tmp_path)


def test_a_conversation(stores):
    write(stores.store, talk())
    result = only(stores.editor)
    assert texts(result) == CHAT
    first, answer = result.messages[:2]
    assert (first.uid, answer.uid, first.session) == ("b1", "b3", "c1")
    assert (first.author, answer.author) == ("human", "assistant")
    assert (first.model, answer.model) == (None, "model-x")
    assert (first.at, first.approximate) == (1_783_397_581_000, False)
    facts = result.sessions["c1"]
    assert (facts.cwd, facts.title, facts.parent) == ("/srv/demo/harbour", "Crane", None)
    assert not result.bad_lines
    assert not result.unknown


def test_a_live_store_in_a_strange_folder_with_bad_rows(tmp_path):
    stores = Stores(tmp_path / "a#b %20")
    rows = composer(
        "c1",
        bubble("b1", 1, "Why?"),
        bubble("b2", 2, "Because."),
        bubble("b3", 2, "gone"),
        bubble("b4", 2, "gone"),
    )
    rows |= {"bubbleId:c1:b3": None, "bubbleId:c1:b4": "{bad"}
    write(stores.store, rows, wal=True)
    with closing(sqlite3.connect(stores.store)) as other:
        other.execute("BEGIN IMMEDIATE")
        put(other, "cursorDiskKV", {"bubbleId:c1:b1": bubble("b1", 1, "uncommitted")})
        before = sorted(path.name for path in stores.store.parent.iterdir())
        result = only(stores.editor)
        assert texts(result) == [("user", "Why?"), ("assistant", "Because.")]
        assert [bad.reason for bad in result.bad_lines] == [
            "the row of a message is NULL",
            "the row of a message is not JSON, or too large",
        ]
        assert sorted(path.name for path in stores.store.parent.iterdir()) == before
        other.rollback()


def test_keys_tokens_and_noise_are_never_read(stores):
    noise = {
        "agentKv:blob:1": {"text": "AGENT KV"},
        "checkpointId:c1:1": {"text": "CHECKPOINT"},
        "messageRequestContext:c1:b1": {"text": "CONTEXT"},
    }
    write(stores.store, talk() | noise, {"cursorAuth/accessToken": "FAKE-TOKEN"})
    (item,), _ = items(stores.editor)
    data = b"".join(line.data for line in stores.editor.read(item, 0))
    for secret in (b"FAKE", b"THOUGHTS", b"OUTPUT", b"DRAFT", b"KV", b"CHECKPOINT", b"SAME AGAIN"):
        assert secret not in data


def test_orphans_gone_messages_and_strays_are_counted(stores):
    rows = talk()
    del rows["bubbleId:c1:b5"]
    rows["bubbleId:c1:b9"] = bubble("b9", 1, "a branch that was left")
    rows["bubbleId:nobody:b1"] = bubble("b1", 1, "of nobody")
    write(stores.store, rows)
    (item,), failures = items(stores.editor)
    assert [(each.reason, each.deliberate) for each in failures] == [
        ("1 messages of no conversation are passed over", True)
    ]
    result = read(stores.editor, item)
    assert texts(result) == CHAT[:3]
    assert result.unknown == {
        "message that is listed but gone": 1,
        "message of a branch that was left": 1,
    }


def test_damaged_and_empty_conversations(stores):
    rows = {
        "composerData:empty-state-draft": None,
        "composerData:null": None,
        "composerData:bad": "{bad",
        "composerData:list": "[1]",
        "composerData:number": 7,
        **composer("empty"),
        **composer("reverted", bubble("b1", 1, "x"), fullConversationHeadersOnly=[]),
    }
    write(stores.store, rows)
    found, _ = items(stores.editor)
    assert [item.uri.rpartition("#")[2] for item in found] == ["bad", "null"]
    bad, null = (read(stores.editor, item) for item in found)
    assert [each.reason for each in bad.bad_lines] == ["the row of a conversation is not JSON"]
    assert not bad.silent
    assert [each.reason for each in null.bad_lines] == ["the row of a conversation is NULL"]
    assert null.silent


def test_conversations_of_2024_hold_their_messages(stores):
    inline = [bubble("b1", 1, "old words"), bubble("b2", 2, "old answer"), {"type": 1}, 7]
    inline[0]["createdAt"] = None
    inline[0]["timingInfo"] = {"clientStartTime": AT}
    write(stores.store, composer("c1", conversation=inline))
    result = only(stores.editor)
    assert texts(result) == [("user", "old words"), ("assistant", "old answer")]
    assert (result.messages[0].at, result.messages[0].approximate) == (AT, True)
    assert result.sessions["c1"].title == "old words"


def test_a_conversation_without_a_list_has_its_rows_in_order(stores):
    rows = composer("c1", bubble("b2", 1, "first"), bubble("b1", 2, "second"))
    del rows["composerData:c1"]["fullConversationHeadersOnly"]
    write(stores.store, rows)
    assert texts(only(stores.editor)) == [("user", "first"), ("assistant", "second")]


def test_messages_without_time_have_one_near(stores):
    rows = composer("c1", *(bubble(f"b{n}", 1 + n % 2, f"t{n}", createdAt=None) for n in range(4)))
    rows["bubbleId:c1:b2"]["createdAt"] = AT + 5000
    write(stores.store, rows)
    times = [(m.at - AT, m.approximate) for m in only(stores.editor).messages]
    assert times == [(0, True), (0, True), (5000, False), (5000, True)]


def test_models_pictures_and_types(stores):
    rows = composer(
        "c1",
        bubble("b1", 1, "look", images=[{"path": "/tmp/shot.png"}, {"uuid": "u1"}]),
        bubble("b2", 2, "a", modelInfo={"modelName": "model-y"}),
        bubble("b3", "user", "", context={"selectedImages": [{"path": "C:\\x\\b.png"}, {}]}),
        bubble("b4", "ai", "b", modelInfo={"modelName": "default"}),
        bubble("b5", 9, "c"),
        modelConfig={"modelName": "default"},
    )
    write(stores.store, rows)
    result = only(stores.editor)
    assert texts(result) == [
        ("user", "look\n\n[image: shot.png]\n[image: u1]"),
        ("assistant", "a"),
        ("user", "[image: b.png]\n[image: unknown]"),
        ("assistant", "b"),
    ]
    assert [message.model for message in result.messages] == [None, "model-y", None, None]
    assert result.unknown == {"message of type 9": 1}


def test_sub_agents_know_who_started_them(stores):
    write(stores.store, talk(subagentComposerIds=["c2"]) | talk("c2", workspaceIdentifier=None))
    found, _ = items(stores.editor)
    child = read(stores.editor, found[1])
    assert set(child.sessions) == {"c1/c2"}
    facts = child.sessions["c1/c2"]
    assert (facts.parent, facts.relation) == ("c1", "subagent")
    assert {message.author for message in child.messages} == {"subagent"}


def test_folders_from_headers_and_workspaces(stores):
    plain = {"workspaceIdentifier": None, "name": None}
    rows = {}
    for key in ("header", "header-id", "listed", "open", "several", "nowhere"):
        rows |= talk(key, **plain)
    rows |= talk("own", workspaceIdentifier=identifier("/srv/demo/own"))
    rows |= talk("windows", workspaceIdentifier={"uri": "file:///c%3A/Work/demo"})
    rows |= talk("multi", workspaceIdentifier={"id": "w1", "configPath": {"path": "/srv/all"}})
    headers = [
        {"composerId": "header", "workspaceIdentifier": identifier("/srv/h"), "name": "H"},
        {"composerId": "header-id", "workspaceIdentifier": {"id": "w2"}},
        {"composerId": "nowhere", "workspaceIdentifier": {"id": "../w2"}},
        "no header",
    ]
    write(stores.store, rows, {"composer.composerHeaders": {"allComposers": headers}})
    workspace(stores.user, "w1", items={
        "composer.composerData": {
            "allComposers": [{"composerId": "listed", "name": "Listed"}, None],
            "selectedComposerIds": ["open", "listed", None],
        }
    })  # fmt: skip
    workspace(stores.user, "w2", "file:///srv/demo/second")
    workspace(stores.user, "w3", {"workspace": "file:///srv/demo/a.code-workspace"}, items={
        "composer.composerData": {"allComposers": [{"composerId": "several"}]}
    })  # fmt: skip
    facts = {}
    for item in items(stores.editor)[0]:
        facts |= read(stores.editor, item).sessions
    assert {key: each.cwd for key, each in facts.items()} == {
        "own": "/srv/demo/own",
        "windows": r"C:\Work\demo",
        "multi": None,
        "header": "/srv/h",
        "header-id": "/srv/demo/second",
        "listed": "/srv/demo/harbour",
        "open": "/srv/demo/harbour",
        "several": None,
        "nowhere": None,
    }
    assert (facts["header"].title, facts["listed"].title) == ("H", "Listed")
    assert facts["open"].title == "Why does the crane overheat?"


def test_headers_in_a_table(stores):
    write(stores.store, talk(workspaceIdentifier=None, name=None) | talk("c2", name=None))
    with closing(sqlite3.connect(stores.store)) as database:
        database.execute(
            "CREATE TABLE composerHeaders (composerId TEXT, workspaceId TEXT, value TEXT)"
        )
        value = json.dumps({"name": "From the table", "subagentInfo": {"parentComposerId": "c1"}})
        database.execute("INSERT INTO composerHeaders VALUES ('c1', 'w1', NULL)")
        database.execute("INSERT INTO composerHeaders VALUES ('c2', 'w1', ?)", (value,))
        database.commit()
    workspace(stores.user)
    one, two = (read(stores.editor, item) for item in items(stores.editor)[0])
    assert one.sessions["c1"].cwd == "/srv/demo/harbour"
    assert two.sessions["c1/c2"].title == "From the table"


def test_chats_of_panes(stores):
    tabs = [
        {
            "tabId": "t1",
            "chatTitle": "Old crane",
            "lastSendTime": AT,
            "bubbles": [
                {"type": "user", "id": "p1", "rawText": "", "text": "typed"},
                {"type": "ai", "id": "p2", "rawText": "answered", "modelType": "gpt-x"},
                {"type": "user", "id": "p3", "rawText": ""},
                5,
            ],
        },
        {"tabId": "t2", "chatTitle": "New chat", "bubbles": [{"type": "user", "id": "q"}]},
        {"tabId": "t3"},
        None,
    ]
    place = workspace(stores.user, items={
        "workbench.panel.aichat.view.aichat.chatdata": {"tabs": tabs},
        "aiService.prompts": [{"text": "PROMPT LIST"}],
    })  # fmt: skip
    found, failures = items(stores.editor)
    assert not failures
    first, second = (read(stores.editor, item) for item in found)
    assert texts(first) == [("user", "typed"), ("assistant", "answered")]
    assert [(m.at, m.approximate, m.model) for m in first.messages] == [
        (AT, True, None),
        (AT, True, "gpt-x"),
    ]
    assert first.sessions["t1"].title == "Old crane"
    assert first.sessions["t1"].cwd == "/srv/demo/harbour"
    assert not second.messages
    write(place / "state.vscdb", {}, {"workbench.panel.aichat.view.aichat.chatdata": "{bad"})
    found, failures = items(stores.editor)
    assert (found, [each.reason for each in failures]) == ([], ["its chats are damaged"])


def test_a_transcript_with_text_goes_before_the_database(stores):
    write(stores.store, talk() | talk("c2"))
    path = transcript(stores.cursor, data='{"type":"turn_ended","status":"success"}\n')
    assert len(items(stores.editor)[0]) == 2
    assert read(stores.transcripts, items(stores.transcripts)[0][0]).messages == []
    path.unlink()
    transcript(stores.cursor)
    assert [item.identity for item in items(stores.editor)[0]] == ["cursor:c2"]
    result = read(stores.transcripts, items(stores.transcripts)[0][0])
    assert [(message.uid, message.approximate, message.model) for message in result.messages] == [
        ("b1", False, None),
        ("b3", False, "model-x"),
    ]
    assert (result.sessions["c1"].title, result.sessions["c1"].cwd) == (
        "Crane",
        "/srv/demo/harbour",
    )


@pytest.mark.parametrize("in_place", [False, True])
def test_each_change_makes_a_new_version_of_its_conversation_alone(stores, in_place):
    write(stores.store, talk() | talk("c2"))
    before = {item.identity: item for item in items(stores.editor)[0]}
    with closing(sqlite3.connect(stores.store)) as database:
        if in_place:
            value = json.dumps(talk()["composerData:c1"] | {"lastUpdatedAt": AT + 99_000})
            database.execute(
                "UPDATE cursorDiskKV SET value = ? WHERE key = 'composerData:c1'", (value,)
            )
        else:
            # A message that grows while it is written, and nothing else.
            put(database, "cursorDiskKV", {"bubbleId:c1:b5": bubble("b5", 2, "Gone.")})
        database.commit()
    after = {item.identity: item for item in items(stores.editor)[0]}
    assert before["cursor:c2"] == after["cursor:c2"]
    assert before["cursor:c1"] != after["cursor:c1"]


def test_an_unchanged_store_is_not_opened_again(stores):
    write(stores.store, talk())
    first = items(stores.editor)
    opened = []
    stores.logs.database = opened.append
    assert items(stores.editor) == first
    assert opened == []


def test_queries_use_the_index_only(stores):
    """A store has millions of rows and several gigabytes."""
    write(stores.store, talk())
    with closing(sqlite3.connect(stores.store)) as database:
        for name, values in (
            ("COMPOSERS", ()),
            ("BUBBLE_COUNTS", ()),
            ("COMPOSER", ("k",)),
            ("ORDER", ("k",)),
            ("INLINE", ("k",)),
            ("BUBBLE_IDS", (1, "a", "b")),
            ("BUBBLES", (1, "a", "b")),
        ):
            statement = f"EXPLAIN QUERY PLAN {getattr(statements, name)}"
            plan = [row[3] for row in database.execute(statement, values)]
            scans = [step for step in plan if "SCAN" in step and "cursorDiskKV" in step]
            assert scans == [], name
            if name == "BUBBLE_COUNTS":
                assert any("COVERING INDEX" in step for step in plan), plan


def test_discovery_below_a_place(stores, tmp_path):
    write(stores.store, talk())
    pane = {"tabs": [{"tabId": "t", "bubbles": [{"type": "user", "id": "p", "text": "x"}]}]}
    place = workspace(stores.user, items={"workbench.panel.aichat.view.aichat.chatdata": pane})
    both = items(stores.editor)[0]
    assert len(both) == 2
    assert items(stores.editor, stores.user)[0] == both
    assert items(stores.editor, stores.store)[0] == both[:1]
    assert items(stores.editor, place)[0] == both[1:]
    assert items(stores.editor, tmp_path / "elsewhere")[0] == []


def test_a_store_that_cannot_be_read_is_told(stores):
    stores.store.parent.mkdir(parents=True)
    stores.store.write_bytes(b"no database at all" * 100)
    found, failures = items(stores.editor)
    assert found == []
    assert [each.uri for each in failures] == [str(stores.store)]
    stores.store.unlink()
    write(stores.store, talk())
    (item,), _ = items(stores.editor)
    stores.store.unlink()
    with pytest.raises((OSError, ForeignDatabaseError)):
        list(stores.editor.read(item, 0))


def test_a_conversation_that_is_gone_is_told(stores):
    write(stores.store, talk())
    (item,), _ = items(stores.editor)
    with closing(sqlite3.connect(stores.store)) as database:
        database.execute("DELETE FROM cursorDiskKV")
        database.commit()
    with pytest.raises(OSError, match="gone"):
        list(stores.editor.read(item, 0))
