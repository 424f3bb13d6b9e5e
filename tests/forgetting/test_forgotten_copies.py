"""Copies of the memory: those that Cloxy made are cleaned, those of a person are named."""

import json
import sqlite3
import subprocess
import sys

import pytest
from forgetting.canaries import holders
from forgetting.cloxy_command import cloxy
from server.live_server import LiveServer, line, write_session

CANARY = "the wolkenkuckuck nests in the third drawer of the archive"
OTHER = "the harbour ledger is balanced every second Thursday morning"
KEPT = ("backups", "quarantine", "memory.db")


@pytest.fixture
def planted(tmp_path):
    with LiveServer(tmp_path) as server:
        write_session(server.logs, "one", line("u1", CANARY), line("u2", "fine", role="assistant"))
        write_session(server.logs, "two", line("v1", OTHER, session="s-two"))
        server.ask("POST", "/ingest_convos", {})
        server.ask("POST", "/ingest_text", {"text": f"note: {CANARY}"})
        yield server


def snapshot(server, name, folder="backups"):
    """A copy as Cloxy makes them by itself."""
    target = server.data / folder / name
    target.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(f"file:{server.data}/memory.db?mode=ro", uri=True)
    connection.execute("VACUUM INTO ?", (str(target),))
    connection.close()
    return target


def forget(server):
    status, reply = server.ask("POST", "/forget", {"session": "s-one"})
    assert status == 200, reply
    status, last = server.ask("POST", "/forget", {"source_prefix": "manual"})
    assert status == 200, last
    assert not reply["pending"]
    assert not last["pending"]
    return reply, last


def contents(path):
    connection = sqlite3.connect(path)
    try:
        return [row[0] for row in connection.execute("SELECT content FROM memories")]
    finally:
        connection.close()


def test_copies_that_cloxy_made_are_rewritten(planted):
    one = snapshot(planted, "memory-20260101T000000000Z-before-core-4.db")
    two = snapshot(planted, "memory-20260102T000000000Z-before-restore.db")
    kept = snapshot(planted, "memory.db", "quarantine/20260103T000000000Z")
    assert "wolkenkuckuck" in str(contents(one))
    reply, last = forget(planted)
    assert reply["backups_rewritten"] == last["backups_rewritten"] == 3
    assert reply["backups_removed"] == []
    assert holders(planted.data, ["wolkenkuckuck", '"u1"']) == {}
    for copy in (one, two, kept):
        assert any(OTHER in content for content in contents(copy))
        connection = sqlite3.connect(copy)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.close()
        assert copy.stat().st_mode & 0o077 == 0
    assert sorted(p.name for p in (planted.data / "backups").iterdir()) == [one.name, two.name]
    # What does not hold it is left alone.
    before = one.stat().st_mtime_ns
    server_note = planted.ask("POST", "/ingest_text", {"text": "a later note on apricots"})[1]
    planted.ask("DELETE", f"/memory/{server_note['ids'][0]}")
    assert one.stat().st_mtime_ns == before


def test_a_copy_that_cannot_be_rewritten_is_removed_and_named(planted):
    torn = snapshot(planted, "memory-20260101T000000000Z-before-core-4.db")
    data = torn.read_bytes()
    torn.write_bytes(data[:4096] + b"\xff" * 4096 + data[8192:])
    rows = planted.data / "quarantine" / "20260103T000000000Z" / "rows.jsonl"
    rows.parent.mkdir(parents=True)
    rows.write_text(json.dumps({"content": CANARY}) + "\n" + json.dumps({"content": OTHER}) + "\n")
    (rows.parent / "memory.db-wal").write_bytes(b"\0" * 50 + CANARY.encode())
    reply, _last = forget(planted)
    assert str(torn) in reply["backups_removed"]
    assert holders(planted.data, ["wolkenkuckuck"]) == {}
    assert json.loads(rows.read_text())["content"] == OTHER


def test_a_database_of_5_1_loses_the_rows_that_hold_it(planted):
    old = planted.data / "backups" / "memory-20260101T000000000Z-upgrade.db"
    old.parent.mkdir(exist_ok=True)
    connection = sqlite3.connect(old)
    connection.executescript(
        """
        CREATE TABLE chunks (id INTEGER PRIMARY KEY, content TEXT NOT NULL, source TEXT);
        CREATE VIRTUAL TABLE chunks_fts USING fts5(content, content='chunks', content_rowid='id');
        CREATE TRIGGER chunks_ai AFTER INSERT ON chunks BEGIN
          INSERT INTO chunks_fts(rowid, content) VALUES (new.id, new.content); END;
        CREATE TRIGGER chunks_ad AFTER DELETE ON chunks BEGIN
          INSERT INTO chunks_fts(chunks_fts, rowid, content) VALUES('delete', old.id, old.content);
          END;
        """
    )
    for n in range(300):
        said = CANARY if n == 7 else f"{OTHER} {n}"
        connection.execute("INSERT INTO chunks(content) VALUES (?)", (f"USER: {said}",))
    connection.commit()
    connection.close()
    reply, _last = forget(planted)
    assert reply["backups_rewritten"] == 1
    assert holders(planted.data, ["wolkenkuckuck"]) == {}
    connection = sqlite3.connect(old)
    assert connection.execute("SELECT count(*) FROM chunks").fetchone() == (299,)
    found = "SELECT count(*) FROM chunks_fts WHERE chunks_fts MATCH 'harbour'"
    assert connection.execute(found).fetchone() == (299,)


def test_what_a_person_made_and_the_transcript_are_named_and_left(planted, tmp_path):
    mine, elsewhere = tmp_path / "mine.db", tmp_path / "out.jsonl"
    assert cloxy(planted, "backup", str(mine)).returncode == 0
    assert cloxy(planted, "backup").returncode == 0
    assert cloxy(planted, "export", str(elsewhere)).returncode == 0
    before = {path: path.read_bytes() for path in (mine, elsewhere)}
    reply, _last = forget(planted)
    held = {(entry["kind"], entry["path"]) for entry in reply["still_in"]}
    by_hand = next((planted.data / "backups").glob("*-by-hand.db"))
    assert held == {
        ("backup", str(mine)),
        ("backup", str(by_hand)),
        ("export", str(elsewhere)),
        ("transcript", str(planted.logs / "-srv-demo-shop" / "one.jsonl")),
    }
    assert {path: path.read_bytes() for path in before} == before
    found = holders(planted.data, ["wolkenkuckuck"])
    assert found == {f"backups/{by_hand.name}": ["wolkenkuckuck"]}
    # A restore of it does not bring it back, and what a person deleted is named no more.
    planted.stop()
    mine.unlink()
    assert cloxy(planted, "restore", str(by_hand), "--yes").returncode == 0
    by_hand.unlink()
    elsewhere.unlink()
    planted.start()
    assert holders(planted.data, ["wolkenkuckuck"]) == {}


def test_leftovers_of_killed_commands_and_log_lines_go(planted):
    backups = planted.data / "backups"
    backups.mkdir(exist_ok=True)
    (backups / "memory-20260101T000000000Z-x.db.partial").write_text(CANARY)
    (backups / ".mine.db.999999999.unfinished").write_text(CANARY)
    logs = planted.data / "logs"
    live = logs / "cloxy.log"
    with live.open("a") as file:
        file.write(f"2026-01-01 INFO somebody: {CANARY}\n2026-01-01 INFO kept line\n")
    (logs / "cloxy.log.1").write_text(f"old {CANARY}\n")
    size = live.stat().st_size
    forget(planted)
    assert holders(planted.data, ["wolkenkuckuck"]) == {}
    text = live.read_text()
    assert "kept line" in text
    assert live.stat().st_size >= size
    assert "cloxy.log.1" in {p.name for p in logs.iterdir()}


def test_an_error_of_the_database_tells_the_log_no_text(tmp_path):
    program = f"""
import pathlib, sys
from sqlalchemy import text
from cloxy_core.store.connections import reader_engine, writer_engine
from cloxy_core.store.creation import create_database
path = pathlib.Path({str(tmp_path / "a.db")!r})
create_database(path)
for engine in (writer_engine(path), reader_engine(path, 1)):
    try:
        with engine.begin() as connection:
            connection.execute(text("INSERT INTO nowhere VALUES (:said)"), {{"said": {CANARY!r}}})
    except Exception as error:
        print(error)
"""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "nowhere" in done.stdout
    assert "wolkenkuckuck" not in done.stdout
