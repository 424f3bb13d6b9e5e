"""After `forget` no byte of the text is left in any file of ours, by REST, while it runs."""

import json
import sqlite3
import time

import pytest
from forgetting.canaries import holders
from server.live_server import PATIENCE, LiveServer, line, write_session

SHAPES = {
    "long": " ".join(f"quorvanadium-{n} melts before Ostrobothnia freezes" for n in range(90)),
    "short": "zephyrquoll",
    "cjk": "龍涎香の秘密の保管庫は北斗七星の下にある",
    "base64": "kQ7xT2lzIGlzIGEgY2FuYXJ5IGZvciBmb3JnZXR0aW5nXzk4NzY1",
    "split": "x" * 1490 + " marmoladenbrotkasten " + "y" * 1490,
    "lines": 'first murmelbahn line\nsecond murmelbahn line\n\tthird "murmelbahn" line',
}
NEEDLES = {
    "long": ["quorvanadium", "quorvanadium-89", "ostrobothnia"],
    "short": ["zephyrquoll"],
    "cjk": ["龍涎香", "北斗七星"],
    "base64": ["kQ7xT2lzIGlzIGEgY2FuYXJ5"],
    "split": ["marmoladenbrotkasten"],
    "lines": ["murmelbahn"],
}


def filler(session, count):
    """Ordinary turns, so that pages are split and filled around the canaries."""
    for n in range(count):
        role = "assistant" if n % 2 else "user"
        text = f"ordinary talk {n} of {session} about harbours, ledgers and train tables " * 6
        yield line(f"{session}-f{n:04d}", text, role=role, session=session)


def plant(server, shape):
    """A session with the canary as its first words (so its title), in the middle, and damaged."""
    text = SHAPES[shape]
    uid = f"canary-uid-{shape}"
    logs = server.logs
    write_session(
        logs,
        "one",
        line("first-uid", text, cwd="/srv/demo/shop"),
        *filler("s-one", 60),
        line(uid, text, role="assistant"),
        *filler("s-two", 40),
        '{"type": "user", "uuid": "torn", "message": {"content": ' + json.dumps(text) + "\n",
    )
    write_session(logs, "fork", line(uid, text, role="assistant", session="s-fork"))


def words_of(shape):
    return [*NEEDLES[shape], "first-uid", f"canary-uid-{shape}"]


def memory_with(server, text):
    """Ids of memories that hold a text, from the answers of recall by source."""
    rows = sqlite_rows(server)
    return [identifier for identifier, content in rows if text in content]


def sqlite_rows(server):
    uri = f"file:{server.data}/memory.db?mode=ro"
    connection = sqlite3.connect(uri, uri=True)
    try:
        return connection.execute("SELECT id, content FROM memories").fetchall()
    finally:
        connection.close()


def forget_all(server, text):
    replies = []
    while found := memory_with(server, text):
        status, reply = server.ask("DELETE", f"/memory/{found[0]}")
        assert status == 200, reply
        replies.append(reply)
    return replies


@pytest.mark.parametrize("shape", SHAPES)
def test_no_byte_is_left_in_any_file(tmp_path, shape):
    with LiveServer(tmp_path) as server:
        plant(server, shape)
        status, _report = server.ask("POST", "/ingest_convos", {})
        assert status == 200
        note = SHAPES[shape]
        body = {"text": note, "source": "keepsake", "metadata": {"topic": NEEDLES[shape][0]}}
        server.ask("POST", "/ingest_text", body)
        server.ask("POST", "/recall", {"query": NEEDLES[shape][0]})
        server.wait_for_vectors()
        planted = words_of(shape)
        assert "memory.db-wal" in holders(server.data, planted)
        replies = forget_all(server, NEEDLES[shape][0])
        assert replies
        # Every chunk of a long note has its metadata, so that the note goes as a whole.
        replies.append(server.ask("POST", "/forget", {"source_prefix": "keepsake"})[1])
        assert not any(reply["pending"] for reply in replies)
        assert holders(server.data, planted) == {}
        assert {h["kind"] for reply in replies for h in reply["still_in"]} == {"transcript"}
        server.ask("POST", "/ingest_convos", {"force": True})
        assert holders(server.data, planted) == {}
        server.stop()
        assert holders(server.data, planted) == {}
        server.start()
        server.ask("POST", "/ingest_convos", {"force": True})
        assert holders(server.data, planted) == {}


@pytest.mark.parametrize("field", ["source_prefix", "session", "project"])
def test_a_source_a_session_and_a_project_leave_no_byte(tmp_path, field):
    with LiveServer(tmp_path) as server:
        write_session(
            server.logs,
            "one",
            *(line(f"uid-{n}", f"grasmuecke{n} sings at dawn " * 8) for n in range(50)),
            '{"type": "custom-title", "customTitle": "Feldlerche", "sessionId": "s-one"}\n',
        )
        write_session(server.logs, "two", *filler("s-two", 30))
        server.ask("POST", "/ingest_convos", {})
        value = {"source_prefix": "convo:s-one", "session": "s-one", "project": "shop"}[field]
        status, dry = server.ask("POST", "/forget", {field: value, "dry_run": True})
        assert status == 200
        assert dry["deleted"] > 0
        assert "memory.db" in " ".join(holders(server.data, ["grasmuecke7"]))
        status, reply = server.ask("POST", "/forget", {field: value})
        assert (status, reply["deleted"], reply["pending"]) == (200, dry["deleted"], False)
        assert reply[field] == value
        assert any(held["path"].endswith("one.jsonl") for held in reply["still_in"])
        server.ask("POST", "/ingest_convos", {"force": True})
        gone = [f"grasmuecke{n} " for n in range(50)] + [f'uid-{n}"' for n in range(50)]
        assert holders(server.data, [*gone, "Feldlerche"]) == {}


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"source_prefix": ""},
        {"source_prefix": " : "},
        {"session": ""},
        {"project": " "},
        {"source_prefix": "a", "session": "b"},
    ],
)
def test_nothing_and_several_things_are_refused(live, body):
    write_session(live.logs, "one", *filler("s-one", 3))
    live.ask("POST", "/ingest_convos", {})
    status, reply = live.ask("POST", "/forget", body)
    assert status in (400, 422), reply
    assert live.ask("GET", "/memory_stats")[1]["total_memories"] > 0


def test_a_name_of_several_projects_is_refused_with_the_list(live):
    for place in ("/srv/demo/shop", "/home/ann/shop"):
        session = place.replace("/", "-")
        write_session(live.logs, session, line(f"u{session}", "words", session=session, cwd=place))
    live.ask("POST", "/ingest_convos", {})
    status, reply = live.ask("POST", "/forget", {"project": "shop"})
    assert status == 422 or status == 400
    assert "/srv/demo/shop" in reply["error"]["message"]
    assert "/home/ann/shop" in reply["error"]["message"]
    status, reply = live.ask("POST", "/forget", {"project": "/home/ann/shop"})
    assert (status, reply["deleted"]) == (200, 1)


def test_a_reader_makes_it_pending_and_it_is_finished_when_the_reader_ends(tmp_path):
    with LiveServer(tmp_path) as server:
        write_session(server.logs, "one", line("u1", "haselnussbruch " * 20), *filler("s-one", 20))
        server.ask("POST", "/ingest_convos", {})
        reader = sqlite3.connect(f"file:{server.data}/memory.db?mode=ro", uri=True)
        reader.isolation_level = None
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM memories").fetchone()[0]
        (reply,) = forget_all(server, "haselnussbruch")
        assert reply["pending"] is True
        assert "reads the database" in reply["pending_reason"]
        assert any("forgotten text" in w for w in server.ask("GET", "/health")[1]["warnings"])
        # Also over a stop, with which it can no more be finished than before.
        server.kill()
        server.start()
        assert holders(server.data, ["haselnussbruch"])
        reader.execute("COMMIT")
        reader.close()
        wait_until(lambda: not holders(server.data, ["haselnussbruch"]))
        wait_until(
            lambda: not any("forgotten" in w for w in server.ask("GET", "/health")[1]["warnings"])
        )


def wait_until(true):
    deadline = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.1)
