"""The database of older versions: which tables, which table wins, what is kept of a turn."""

import json
import sqlite3
from contextlib import closing

import pytest
from agents.sources import items, only, read
from kiro_kit import AT, CWD, A, B, Log, Stores, every, put, said, store, talk, texts


@pytest.fixture
def stores(tmp_path):
    return Stores(tmp_path)


def test_prompts_and_answers_with_their_times_and_models(stores):
    store(stores.data, talk())
    result = only(stores.store)
    assert said(result) == [
        ("user", "human", "Why does the crane overheat?"),
        ("assistant", "assistant", "It never idles."),
        ("user", "human", "Add a test"),
        ("assistant", "assistant", "Done."),
    ]
    assert [m.uid for m in result.messages][1::2] == [f"{A}-r0", f"{A}-r1"]
    assert result.messages[1].at == AT * 1000
    assert not any(m.approximate for m in result.messages)
    assert [m.model for m in result.messages] == [None, "model-q", None, "model-q"]
    assert result.sessions[A].cwd == CWD
    assert result.sessions[A].title == "Why does the crane overheat?"


def test_results_of_tools_hooks_and_transcripts_are_not_kept(stores):
    value = talk(A, [("go", ""), (None, "Done.")])
    use = {"message_id": "u", "content": "I look.", "tool_uses": [{"args": "TOOL INPUT"}]}
    value["history"][0]["assistant"] = {"ToolUse": use}
    value["tangent_state"] = None
    store(stores.data, value)
    assert texts(only(stores.store)) == ["go", "I look.", "Done."]


def test_a_prompt_in_which_tools_were_stopped_is_kept(stores):
    value = talk()
    stopped = {"prompt": "no, the other one", "tool_use_results": [{"content": "TOOL OUTPUT"}]}
    value["history"][1]["user"]["content"] = {"CancelledToolUses": stopped}
    value["history"][0]["user"]["content"] = {"CancelledToolUses": {**stopped, "prompt": None}}
    store(stores.data, value)
    assert texts(only(stores.store)) == ["It never idles.", "no, the other one", "Done."]


@pytest.mark.parametrize("form", ["text", "pair"])
def test_the_latest_summary_stands_before_what_is_left(stores, form):
    request = {"stream_end_timestamp_ms": (AT - 60) * 1000}
    summary = "They met." if form == "text" else ["They met.", request]
    store(stores.data, talk(latest_summary=summary))
    first = only(stores.store).messages[0]
    assert (first.role, first.author, first.text) == ("summary", "summary", "They met.")
    if form == "pair":
        assert (first.at, first.approximate) == ((AT - 60) * 1000, False)


def test_ids_stay_when_the_history_is_cut_at_its_front(stores):
    turns = [("again", "one"), ("again", "two"), ("again", "three")]
    store(stores.data, talk(A, turns))
    before = [m.uid for m in only(stores.store).messages]
    assert len(set(before)) == 6
    value = talk(A, turns)
    del value["history"][0]
    store(stores.data, value)
    assert [m.uid for m in only(stores.store).messages] == before[2:]


def test_the_older_table_has_one_conversation_for_a_folder(stores):
    value = talk(B)
    for turn in value["history"]:
        del turn["user"]["env_context"]
    store(stores.older, old=[("/srv/demo/quay", value)])
    result = only(stores.store)
    assert [m.session for m in result.messages] == [B] * 4
    assert result.sessions[B].cwd == "/srv/demo/quay"


def test_a_row_without_its_folder_is_read(stores):
    path = store(stores.older, old=[("/srv/demo/quay", talk(B))])
    with closing(sqlite3.connect(path)) as database:
        database.execute("UPDATE conversations SET key = NULL")
        database.commit()
    assert len(only(stores.store).messages) == 4


def test_a_row_that_a_damaged_index_does_not_lead_to_is_read(stores):
    path = store(stores.older, old=[("/srv/demo/quay", talk(B))])
    with closing(sqlite3.connect(path)) as database:
        index = "SELECT rootpage FROM sqlite_schema WHERE type = 'index' AND tbl_name = ?"
        ((page,),) = database.execute(index, ("conversations",))
        ((size,),) = database.execute("PRAGMA page_size")
    data = bytearray(path.read_bytes())
    cells = (page - 1) * size + 3  # how many entries the page has
    data[cells : cells + 2] = b"\0\0"
    path.write_bytes(data)
    assert len(only(stores.store).messages) == 4


def test_a_conversation_whose_row_is_gone_is_told(stores):
    path = store(stores.older, old=[("/srv/demo/quay", talk(B))])
    (item,), _ = items(stores.store)
    with closing(sqlite3.connect(path)) as database:
        database.execute("DELETE FROM conversations")
        database.commit()
    result = read(stores.store, item)
    assert [bad.reason for bad in result.bad_lines] == ["a conversation has no row"]


def test_a_conversation_without_an_id_is_known_by_its_folder(stores):
    value = talk()
    del value["conversation_id"]
    store(stores.data, old=[("/srv/demo/quay", value)])
    (item,), _ = items(stores.store)
    assert "/srv/demo/quay" not in item.uri
    assert len(read(stores.store, item).messages) == 4
    assert item.identity == items(stores.store)[0][0].identity


def test_of_two_tables_and_two_databases_the_newer_one_counts(stores):
    old = talk(A, [("old", "old")])
    store(stores.data, talk(A, [("new", "new")]), old=[(CWD, old)])
    store(stores.older, talk(A, [("older", "older")]), talk(B, [("other", "other")]))
    found = every(stores.store)
    assert texts(found[A]) == ["new", "new"]
    assert texts(found[B]) == ["other", "other"]


def test_of_two_folders_with_one_conversation_the_newest_row_counts(stores):
    path = store(stores.data, talk(A, [("one", "1")]))
    with closing(sqlite3.connect(path)) as database:
        put(database, talk(A, [("one", "1"), ("two", "2")]), folder="/srv/x", at=AT * 2000)
        database.commit()
    assert texts(only(stores.store)) == ["one", "1", "two", "2"]


def test_a_conversation_with_a_log_is_left_to_it(stores):
    store(stores.data, talk(A), talk(B))
    stores.log(Log().both("one", "1"), A)
    assert list(every(stores.store)) == [B]


def test_a_log_without_a_byte_is_none(stores):
    store(stores.data, talk(A))
    stores.log(b"", A)
    assert list(every(stores.store)) == [A]


def test_other_tables_are_never_read(stores, monkeypatch):
    path = store(stores.data, talk(), old=[("/srv/demo/quay", talk(B))])
    asked = []
    real = stores.reader.database

    def spied(place):
        class Spy:
            def __enter__(self):
                self.context = real(place)
                self.database = self.context.__enter__()
                return self

            def __exit__(self, *error):
                return self.context.__exit__(*error)

            def tables(self):
                return self.database.tables()

            def columns(self, table):
                asked.append(table)
                return self.database.columns(table)

            def rows(self, statement, parameters=()):
                asked.append(statement)
                return self.database.rows(statement, parameters)

        return Spy()

    monkeypatch.setattr(stores.reader, "database", spied)
    assert len(every(stores.store)) == 2
    assert path.exists()
    assert asked
    assert not any("auth" in each or "*" in each for each in asked)


def test_columns_that_are_not_there_are_not_asked_for(stores):
    stores.data.mkdir(parents=True)
    with closing(sqlite3.connect(stores.data / "data.sqlite3")) as database:
        database.execute("CREATE TABLE conversations_v2 (key TEXT, body TEXT)")
        database.execute("CREATE TABLE conversations (folder TEXT, body TEXT)")
        database.commit()
    assert items(stores.store) == ([], [])


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("{", "a conversation is not JSON"),
        ("[]", "a conversation is no record"),
        ('{"conversation_id": "x"}', "a conversation has no history"),
    ],
)
def test_a_damaged_conversation_is_told_and_the_others_come(stores, value, reason):
    store(stores.data, value, talk(B), old=[("/srv/a", value), ("/srv/b", talk("c"))])
    found = every(stores.store)
    assert [bad.reason for bad in found[A].bad_lines] == [reason]
    assert len(found[B].messages) == len(found["c"].messages) == 4
    assert sum(bool(each.bad_lines) for each in found.values()) == 2


def test_turns_of_another_form_are_counted(stores):
    value = talk()
    value["history"] += [7, {"user": 1, "assistant": []}, {}]
    store(stores.data, value)
    result = only(stores.store)
    assert dict(result.unknown) == {"turn of another form": 3}
    assert len(result.messages) == 4


def test_what_is_no_database_is_told(stores):
    stores.data.mkdir(parents=True)
    (stores.data / "data.sqlite3").write_bytes(json.dumps(talk()).encode())
    found, failures = items(stores.store)
    assert found == []
    assert "no SQLite database" in failures[0].reason
