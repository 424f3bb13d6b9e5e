"""Conversations that are rewritten in place: read whole, known messages recognised."""

import asyncio
import sqlite3
import time
from contextlib import contextmanager

import pytest
from claude_logs import record, write
from contract import toy_agent
from contract.toy_store import change_text, make_store, say, write_lines

from cloxy_core.services.ingest import pacing, reading
from cloxy_core.services.ingest.pacing import Pace
from cloxy_core.services.ingest.watcher import Watcher, _places


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    return tmp_path / "toy"


@pytest.fixture
def start(home, cloxy_app):
    def make(**settings):
        given = {"watch.dirs": "", "toyagent.home": str(home), "embed.provider": "none"}
        return cloxy_app(plugins={"toyagent": toy_agent}, settings={**given, **settings})

    return make


def ingest(app, under=None, **more):
    return app.do(app.engine.ingest.run(under, **more))


def rows(app, statement):
    return [tuple(row) for row in app.read(lambda c: c.exec_driver_sql(statement).all())]


def said(app):
    return [
        text
        for (text,) in rows(
            app,
            "SELECT substr(m.content, p.char_start + 1, p.char_end - p.char_start)"
            " FROM passages p JOIN memories m ON m.id = p.memory_id ORDER BY p.id",
        )
    ]


def cursors(app):
    return dict(rows(app, "SELECT uri, state FROM sources WHERE plugin = 'toyagent-database'"))


def test_conversations_come_in_once(start, home):
    make_store(home)
    app = start()

    report = ingest(app)
    assert (report.files_found, report.messages_added) == (2, 4)
    assert len(said(app)) == 4
    assert set(cursors(app).values()) == {"watched"}

    report = ingest(app)
    assert (report.files_processed, report.files_skipped) == (0, 2)
    app.stop()
    app.start()
    assert ingest(app).files_processed == 0
    assert ingest(app, force=True).messages_known == 4
    assert len(said(app)) == 4


def test_only_what_changed_is_read_again(start, home):
    make_store(home)
    app = start()
    ingest(app)
    say(home, "t1", "user", "And now?")

    report = ingest(app)

    assert (report.files_processed, report.messages_added, report.messages_known) == (1, 1, 2)
    assert said(app)[-1] == "And now?"


def test_changed_words_are_revised_in_their_place(start, home):
    make_store(home)
    app = start()
    ingest(app)
    change_text(home, "Why does crane t1 stop?", "Why does crane t1 not move?")
    change_text(home, "Its cable is worn, says t2.", "Its cable is cut, says t2.")

    ingest(app)

    assert sorted(said(app)) == [
        "Its cable is cut, says t2.",
        "Its cable is worn, says t1.",
        "Why does crane t1 not move?",
        "Why does crane t2 stop?",
    ]


def test_messages_that_vanish_stay(start, home):
    make_store(home)
    app = start()
    ingest(app)
    connection = sqlite3.connect(home / "toy.db")
    connection.execute("DELETE FROM words WHERE talk = 't1' AND who = 'assistant'")
    connection.execute("UPDATE talks SET updated = 99 WHERE key = 't1'")
    connection.commit()
    connection.close()

    ingest(app)

    assert len(said(app)) == 4


def test_conversation_that_is_gone_closes_its_cursor_only(start, home):
    make_store(home)
    app = start()
    ingest(app)
    connection = sqlite3.connect(home / "toy.db")
    connection.execute("DELETE FROM talks WHERE key = 't1'")
    connection.commit()
    connection.close()

    ingest(app)

    assert sorted(cursors(app).values()) == ["gone", "watched"]
    assert len(said(app)) == 4


def test_store_that_cannot_be_read_is_not_taken_for_gone(start, home):
    make_store(home)
    app = start()
    ingest(app)
    whole = (home / "toy.db").read_bytes()
    (home / "toy.db").write_bytes(b"no database " * 500)

    report = ingest(app)

    assert len(report.errors) == 1
    assert set(cursors(app).values()) == {"watched"}
    (status,) = [s for s in app.do(app.engine.catalogue.sources()) if s.name == "toyagent-database"]
    assert len(status.failures) == 1
    (home / "toy.db").write_bytes(whole)
    ingest(app)
    (status,) = [s for s in app.do(app.engine.catalogue.sources()) if s.name == "toyagent-database"]
    assert status.failures == ()


def test_conversation_that_cannot_be_read_is_tried_again(start, home, monkeypatch):
    make_store(home)
    app = start()
    monkeypatch.setattr(reading, "WHOLE_BYTES", 10)
    report = ingest(app)
    assert {error.error.split(":")[0] for error in report.errors} == {"OSError"}
    assert set(cursors(app).values()) == {"failed"}
    monkeypatch.undo()

    assert ingest(app).messages_added == 4
    assert set(cursors(app).values()) == {"watched"}


def test_empty_conversation_is_no_drift_and_strange_ones_are(start, home):
    make_store(home)
    connection = sqlite3.connect(home / "toy.db")
    connection.execute("INSERT INTO talks VALUES ('empty', 5), ('strange', 6)")
    connection.execute("INSERT INTO words (talk, who, text) VALUES ('strange', 'ghost', 'boo')")
    connection.commit()
    connection.close()
    app = start()

    report = ingest(app)

    assert [uri.rpartition("#")[2] for uri in report.drift] == ["strange"]
    (status,) = [s for s in app.do(app.engine.catalogue.sources()) if s.name == "toyagent-database"]
    assert status.unknown == {"ghost": 1}
    assert [uri.rpartition("#")[2] for uri in status.drift] == ["strange"]
    assert app.do(app.engine.ingest.status()).unknown == {"ghost": 1}


def test_long_conversation_is_written_in_runs_of_bounded_size(start, home, monkeypatch):
    make_store(home)
    connection = sqlite3.connect(home / "toy.db")
    words = [("t1", "user", f"words {n}") for n in range(950)]
    connection.executemany("INSERT INTO words (talk, who, text) VALUES (?, ?, ?)", words)
    connection.execute("UPDATE talks SET updated = 9 WHERE key = 't1'")
    connection.commit()
    connection.close()
    app = start()
    sizes = []
    real = app.engine.ingest._writer.apply

    def apply(connection, batches):
        sizes.extend(len(batch.messages) for batch in batches)
        return real(connection, batches)

    monkeypatch.setattr(app.engine.ingest._writer, "apply", apply)
    assert ingest(app).messages_added == 954
    assert max(sizes) <= reading.RUN_LINES
    say(home, "t1", "user", "the last")
    assert ingest(app).messages_added == 1


def test_store_is_let_go_before_anything_is_written(start, home, monkeypatch):
    make_store(home)
    app = start()
    open_blocks, seen = [], []
    logs = app.engine.logs
    real = logs.database

    @contextmanager
    def database(path):
        open_blocks.append(path)
        try:
            with real(path) as opened:
                yield opened
        finally:
            open_blocks.pop()

    monkeypatch.setattr(logs, "database", database)
    write_batches = app.engine.ingest._writer.apply

    def apply(connection, batches):
        seen.append(list(open_blocks))
        return write_batches(connection, batches)

    monkeypatch.setattr(app.engine.ingest._writer, "apply", apply)
    ingest(app)
    assert seen
    assert not any(seen)


def test_model_time_and_relation_are_kept(start, home):
    lines = write_lines(home / "old" / "a.toy.jsonl")
    text = lines.read_text().replace('"talk": "t9"', '"talk": "t9", "relation": "fork"')
    lines.write_text(text)
    app = start()

    ingest(app)

    ((extra,),) = rows(app, "SELECT extra FROM memories")
    assert '"model": "toy-1"' in extra
    assert '"time": "approximate"' in extra
    assert rows(app, "SELECT agent, relation FROM sessions") == [("toy-agent", "fork")]


def test_model_that_comes_with_a_later_turn_is_kept_too(start, home):
    write_lines(home / "old" / "a.toy.jsonl", said=("Where is the key?",))
    app = start()
    ingest(app)
    assert '"model"' not in rows(app, "SELECT extra FROM memories")[0][0]
    write_lines(home / "old" / "a.toy.jsonl", said=("Where is the key?", "Behind the door."))

    ingest(app)

    ((extra,),) = rows(app, "SELECT extra FROM memories")
    assert '"model": "toy-1"' in extra
    assert '"agent": "toy-agent"' in extra


def test_sources_of_others_are_not_read_when_folders_are_named(start, home, tmp_path):
    make_store(home)
    write_lines(home / "old" / "a.toy.jsonl")
    named = tmp_path / "named"
    write(named / "s.jsonl", record("user", "u1", "Hello"))
    app = start(**{"watch.dirs": str(named)})

    assert ingest(app).messages_added == 1

    found = {s.name: s for s in app.do(app.engine.catalogue.sources())}
    assert found["claude-code"].enabled
    for name in ("toyagent-files", "toyagent-database"):
        assert not found[name].enabled
        assert "CLOXY_WATCH_DIRS" in found[name].why
        assert dict(found[name].places)
    report = ingest(app, home, anywhere=True)
    assert report.messages_added == 3
    assert ingest(app, home, anywhere=True).messages_added == 0


def test_source_that_is_switched_off_is_listed(start, home):
    make_store(home)
    app = start(**{"providers.disabled": "sources.toyagent-database"})

    ingest(app)

    found = {s.name: s for s in app.do(app.engine.catalogue.sources())}
    assert not found["toyagent-database"].enabled
    assert "providers.disabled" in found["toyagent-database"].why
    assert said(app) == []


def test_folder_of_several_agents_gives_each_file_to_who_understands_it(start, tmp_path):
    folder = tmp_path / "mixed"
    write_lines(folder / "a.toy.jsonl", said=("Where is the key?", "Behind the door."))
    write(folder / "b.jsonl", record("user", "u1", "Hello"), record("user", "u2", "You"))
    app = start()

    report = ingest(app, folder, anywhere=True)

    assert report.messages_added == 4
    assert not report.drift
    by_agent = dict(rows(app, "SELECT agent, count(*) FROM sessions GROUP BY agent"))
    assert by_agent == {"claude-code": 1, "toy-agent": 1}
    assert dict(rows(app, "SELECT uri, plugin FROM sources")) == {
        str(folder / "a.toy.jsonl"): "toyagent-files",
        str(folder / "b.jsonl"): "claude-code",
    }
    assert ingest(app, folder, anywhere=True).files_processed == 0


def test_counts_of_sources(start, home):
    make_store(home)
    with write_lines(home / "old" / "a.toy.jsonl").open("a") as file:
        file.write('{"half\n{"who": "x"}\n')
    app = start()
    ingest(app)

    found = {s.name: s for s in app.do(app.engine.catalogue.sources())}

    files, database = found["toyagent-files"], found["toyagent-database"]
    assert (files.items, files.messages, files.sessions, files.bad_lines) == (1, 3, 3, 2)
    assert (database.items, database.messages, database.bad_lines) == (2, 4, 0)
    assert (files.title, files.agent, files.plugin) == ("Toy Agent", "toy-agent", "toyagent")
    assert database.places == ((str(home), True),)
    assert files.last_success is not None
    health = app.do(app.engine.health.report())
    (section,) = [each for each in health["sources"] if each["name"] == "toyagent-files"]
    assert (section["items"], section["bad_lines"], section["enabled"]) == (1, 2, True)


def test_folders_where_agents_work_are_known_to_sources(start, home, tmp_path):
    make_store(home)
    named = tmp_path / "home" / ".claude" / "projects"
    write(named / "s.jsonl", record("user", "u1", "Hello", cwd="/srv/shop"))
    write(named / "t.jsonl", record("user", "u1", "You", sessionId="t", cwd="//host/share"))
    app = start()

    ingest(app)

    assert [str(folder) for folder in app.engine.logs.known_folders()] == ["/srv/shop"]


def test_sessions_that_are_stored_are_known_to_sources(start, home, tmp_path):
    make_store(home)
    named = tmp_path / "home" / ".claude" / "projects"
    write(named / "s.jsonl", record("user", "u1", "Hello", cwd="/srv/shop"))
    write(named / "t.jsonl", record("user", "u1", "You", sessionId="t"))
    app = start()
    told = app.engine.logs.is_told_by_another
    assert not told("t", "toy-agent")

    ingest(app)
    assert told("t", "toy-agent")
    assert not told("t", "claude-code"), "the agent that asks does not count"
    assert not told("u", "toy-agent")

    app.do(app.engine.memories.forget_session("t"))
    write(named / "u.jsonl", record("user", "u1", "Here", sessionId="u"))
    ingest(app)
    assert told("u", "toy-agent"), "one that came since"
    assert not told("t", "toy-agent"), "one that was forgotten"


def test_pace_keeps_a_distance():
    now = [100.0]
    pace = Pace(lambda: now[0])
    assert pace.due("a", 5.0) is None
    pace.took("a", 100.0, found=True)
    assert pace.due("a", 5.0) == 105.0
    now[0] = 105.0
    assert pace.due("a", 5.0) is None
    pace.took("a", 103.0, found=True)
    assert pace.due("a", 5.0) == 125.0
    pace.took("b", 105.0, found=False)
    assert pace.due("b", 5.0) is None
    pace.took("a", -1000.0, found=True)
    assert pace.due("a", 5.0) == 165.0


def test_patient_passes_look_once_in_an_interval(start, home):
    make_store(home)
    app = start()
    engine = app.engine.ingest
    engine.interval = 600.0
    ingest(app, patient=True)
    assert len(said(app)) == 4
    say(home, "t1", "user", "And now?")

    assert ingest(app, home / "toy.db", patient=True).files_found == 0
    assert engine.late > time.monotonic() + 500
    assert len(said(app)) == 4
    assert ingest(app, home / "toy.db").messages_added == 1
    assert engine.late is None


def test_unrelated_places_do_not_count_as_a_look(start, home, tmp_path):
    make_store(home)
    app = start()
    app.engine.ingest.interval = 600.0
    other = tmp_path / "home" / ".claude" / "projects"
    other.mkdir(parents=True)
    ingest(app, other, patient=True)
    assert app.engine.ingest.late is None

    assert ingest(app, patient=True).messages_added == 4


def test_files_beside_a_database_stand_for_it(tmp_path):
    paths = [tmp_path / name for name in ("x.db", "x.db-wal", "x.db-shm", "y.db-journal", "z-wal")]
    assert [path.name for path in _places(paths)] == ["x.db", "x.db", "y.db", "z"]


def test_watcher_reads_what_is_only_in_the_log(start, home, monkeypatch):
    monkeypatch.setattr(pacing, "SHARE", 0)
    make_store(home)
    app = start()
    engine = app.engine.ingest

    async def scenario():
        watcher = Watcher(engine, interval=0.2, sweep=3600.0, log=engine._log)
        task = asyncio.create_task(watcher.run())
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(60):
                while not (engine.progress.scans and engine.events):
                    await asyncio.sleep(0.05)
                connection = await loop.run_in_executor(None, _written, home)
                while not (engine.progress.memories_total >= 2 and await _count(app) == 5):
                    await asyncio.sleep(0.05)
                connection.close()
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        return await _count(app)

    assert app.do(scenario()) == 5


async def _count(app):
    work = "SELECT count(*) FROM passages"
    return await app.engine.store.read(lambda c: c.exec_driver_sql(work).scalar())


def _written(home):
    connection = sqlite3.connect(home / "toy.db", isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA wal_autocheckpoint=0")
    connection.execute("BEGIN")
    connection.execute("INSERT INTO words (talk, who, text) VALUES ('t1', 'user', 'In the log')")
    connection.execute("UPDATE talks SET updated = 77 WHERE key = 't1'")
    connection.execute("COMMIT")
    return connection


def test_a_store_that_is_written_without_end_is_not_looked_at_for_each_event(start, home):
    make_store(home)
    app = start()
    ingest(app, patient=True)
    engine, looks = app.engine.ingest, []

    async def story():
        watcher = Watcher(engine, interval=600.0, sweep=600.0, log=engine._log, use_events=False)
        real = engine.run

        async def run(under=None, **more):
            looks.append(under)
            return await real(under, **more)

        engine.run = run
        for _ in range(5):
            watcher._changed.update(_places([home / "toy.db-wal"]))
            await watcher._look_at_changes()
        assert list(watcher._later) == [home / "toy.db"]
        watcher._later[home / "toy.db"] = 0.0
        await watcher._look_at_changes()

    app.do(story())
    assert looks == [home / "toy.db"] * 2


def test_a_log_that_grows_never_waits_for_stores(start, home):
    make_store(home)
    lines = write_lines(home / "old" / "a.toy.jsonl", said=("One",))
    app = start()
    app.engine.ingest.interval = 600.0
    ingest(app, patient=True)
    write_lines(lines, said=("One", "Two"))

    assert ingest(app, lines, patient=True).messages_added == 1
    assert app.engine.ingest.late is None
