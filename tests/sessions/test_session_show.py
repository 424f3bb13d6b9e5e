"""`GET /sessions/{key}`: one session, as it was said."""

import sqlite3

import pytest
from sessions.sessions_kit import FIRST, LONG, gulls


def test_messages_in_order_with_all_that_is_known(filled):
    told = filled.get("/sessions/wing-0001")
    assert [message.pop("text") for message in told["messages"]] == [
        "Paint the Harbour gate", LONG, "Thanks.\n",
    ]  # fmt: skip
    memories = [message.pop("memories") for message in told["messages"]]
    assert len(memories[1]) > 5
    common = {"damaged": False, "withheld": False}
    assert told["messages"] == [
        {"number": 1, "role": "user", "author": "human", "at": "2026-05-05T16:53:20.000Z",
         "approximate": False, "model": None, **common},
        {"number": 2, "role": "assistant", "author": "assistant", "at": "2026-05-05T16:53:20.001Z",
         "approximate": True, "model": "gull-9", **common},
        {"number": 3, "role": "user", "author": "human", "at": "2026-05-05T16:53:20.002Z",
         "approximate": False, "model": None, **common},
    ]  # fmt: skip
    known = {name: told[name] for name in ("agent", "title", "project", "cwd", "branch", "total")}
    assert known == {
        "agent": "gull",
        "title": "Gate of the Harbour",
        "project": "/srv/port",
        "cwd": "/srv/port",
        "branch": "main",
        "total": 3,
    }
    assert [(child["id"], child["relation"]) for child in told["children"]] == [
        ("wing-0001/sub-1", "subagent"),
        ("wing-0001-fork", "fork"),
    ]
    assert (told["parent"], told["here"], told["next"]) == (None, None, None)


def test_the_command_that_goes_on_with_it(filled):
    assert filled.get("/sessions/wing-0001")["resume"] == {
        "arguments": ["gull", "--go-on=wing-0001"],
        "folder": "/srv/port",
        "line": "cd /srv/port && gull --go-on=wing-0001",
    }
    assert filled.get("/sessions/shared-key?agent=gull")["resume"]["folder"] is None
    assert filled.get("/sessions/wing-0001?rest=sub-1")["resume"] is None


def test_a_sub_agent_by_its_whole_id(filled):
    told = filled.get("/sessions/wing-0001?rest=sub-1")
    assert (told["id"], told["parent"], told["relation"]) == (
        "wing-0001/sub-1", "wing-0001", "subagent",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("key", "found"),
    [("robot-", "robot-77"), ("wing-0001-", "wing-0001-fork"), ("wing-0001", "wing-0001")],
)
def test_the_beginning_of_an_id_is_enough(filled, key, found):
    assert filled.get(f"/sessions/{key}")["id"] == found


@pytest.mark.parametrize(
    ("key", "status", "words"),
    [
        ("robot", 404, "6 characters"),
        ("robot-78", 404, "no such session"),
        ("%25%25%25%25%25%25%25", 404, "no such session"),
        ("wing-00", 409, "wing-0001 of gull, wing-0001-fork of gull"),
        ("shared-key", 409, "name the agent"),
        ("shared-key?agent=nobody", 404, "no such session"),
        ("wing-0001?start=4", 400, "has 3 messages"),
        ("wing-0001?start=0", 422, "start"),
        ("wing-0001?around=999999", 404, "not of this session"),
    ],
)
def test_what_means_no_session_or_several(filled, key, status, words):
    found, answer = filled.ask("GET", f"/sessions/{key}")
    assert (found, words in str(answer["error"])) == (status, True), answer


def test_the_agent_tells_equal_ids_apart(filled):
    for agent, text in (("gull", "Gull said so"), ("claude-code", "Claude was told so")):
        told = filled.get(f"/sessions/shared-key?agent={agent}")
        assert [message["text"] for message in told["messages"]] == [text]


def test_stretches_hold_every_message_once(filled):
    whole = filled.get("/sessions/wing-0001")["messages"]
    for bound in ("limit=1", "characters=1"):
        start, found = 1, []
        while start is not None:
            told = filled.get(f"/sessions/wing-0001?start={start}&{bound}")
            assert len(told["messages"]) == 1
            found += told["messages"]
            start = told["next"]
        assert found == whole


@pytest.fixture(scope="module")
def long_talk(tmp_path_factory):
    with gulls(tmp_path_factory.mktemp("talk")) as server:
        server.say(
            "talk-0001",
            *({"id": f"m{n}", "text": f"remark {n} " + "x" * 1_400, "at": FIRST + n}
              for n in range(30)),
        )  # fmt: skip
        server.say(
            "talk-sub",
            {"session": "talk-0001/sub-1", "id": "s1", "text": "count", "parent": "talk-0001"},
        )
        server.take()
        yield server


def test_the_beginning_of_an_id_means_the_session_and_not_its_sub_agents(long_talk):
    assert long_talk.get("/sessions/talk-00")["id"] == "talk-0001"
    assert long_talk.get("/sessions/talk-0001?rest=s")["id"] == "talk-0001/sub-1"


def test_a_session_is_opened_where_a_memory_was_said(long_talk):
    hit = long_talk.ask("POST", "/recall", {"query": "remark 17", "top_k": 1})[1]["results"][0]
    told = long_talk.get(f"/sessions/{hit['session_id']}?around={hit['id']}&limit=5")
    assert told["here"] == 18
    assert [message["number"] for message in told["messages"]] == [15, 16, 17, 18, 19]
    assert hit["id"] in told["messages"][3]["memories"]
    assert told["next"] == 20


def test_what_was_forgotten_is_not_shown(tmp_path):
    with gulls(tmp_path) as server:
        server.say("some-talk", {"id": "a", "text": "one secret thing of the gulls", "at": FIRST})
        server.say("some-talk", {"id": "b", "text": LONG, "at": FIRST + 1})
        server.take()
        memory = server.get("/sessions/some-talk")["messages"][0]["memories"][0]
        assert server.ask("DELETE", f"/memory/{memory}")[0] == 200
        told = server.get("/sessions/some-talk")
        assert [(m["number"], m["text"] == LONG) for m in told["messages"]] == [(1, True)]
        assert server.get("/sessions")["sessions"][0]["messages"] == 1


def test_a_memory_that_is_no_longer_active_counts_nowhere(tmp_path):
    with gulls(tmp_path) as server:
        server.say("some-talk", {"id": "a", "text": "no longer so", "at": FIRST})
        server.say("other-talk", {"id": "b", "text": "still so", "at": FIRST})
        server.take()
        server.stop()
        with sqlite3.connect(server.data / "memory.db") as database:
            database.execute(
                "UPDATE memories SET state = 'superseded' WHERE session_id ="
                " (SELECT id FROM sessions WHERE key = 'some-talk')"
            )
        database.close()
        server.start()
        assert [each["id"] for each in server.get("/sessions")["sessions"]] == ["other-talk"]
        told = server.get("/sessions/some-talk")
        assert (told["total"], told["messages"]) == (0, [])


def test_a_damaged_text_is_told_and_left_out(tmp_path):
    with gulls(tmp_path) as server:
        server.say("some-talk", {"id": "a", "text": LONG, "at": FIRST})
        server.say("some-talk", {"id": "b", "text": "still fine", "at": FIRST + 1})
        server.take()
        server.stop()
        with sqlite3.connect(server.data / "memory.db") as database:
            database.execute("UPDATE memories SET content_hash = 'x' WHERE id = 2")
        database.close()
        server.start()
        told = server.get("/sessions/some-talk")["messages"]
        assert [(m["damaged"], m["text"]) for m in told] == [(True, ""), (False, "still fine")]
