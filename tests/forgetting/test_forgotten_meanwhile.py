"""A copy that a person makes while something is forgotten: it does not hold it, or is named."""

import subprocess
import sys
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from forgetting.canaries import forms
from server.live_server import LiveServer, line, write_session

from cloxy_core.cli import export_run
from cloxy_core.runtime.paths import DataDirectory
from cloxy_core.services.exchange.leaving import Leaving
from cloxy_core.services.keeping import copying
from cloxy_core.services.keeping.cleaning import FileCleaner
from cloxy_core.services.keeping.records import KnownCopy, known_copies, note_copy
from cloxy_hookspecs import StoreBusyError

CANARY = "the wolkenkuckuck nests in the third drawer of the archive"


@pytest.fixture
def told(tmp_path):
    with LiveServer(tmp_path) as server:
        write_session(server.logs, "one", line("u1", CANARY))
        write_session(server.logs, "two", line("v1", "the harbour ledger", session="s-two"))
        server.ask("POST", "/ingest_convos", {})
        yield server


def forget(server):
    """Forget the session; told that nothing was known to hold it but its log."""
    status, reply = server.ask("POST", "/forget", {"session": "s-one"})
    assert status == 200, reply
    return [held for held in reply["still_in"] if held["kind"] != "transcript"]


def holds(path):
    return any(form in path.read_bytes() for form in forms("wolkenkuckuck"))


class Progress:
    def count(self, done, total):
        pass


def backup(server, target):
    paths = DataDirectory(server.data)
    now = datetime.now(UTC)
    return copying.keep(paths, target, now=now, force=False, tell=lambda _text: None)


def export(server, target):
    environ = {"CLOXY_DATA_DIR": str(server.data)}
    nothing = export_run.Wanted(None, None, None, None)
    return export_run.run(environ, nothing, str(target), False, Progress())


@contextmanager
def after_snapshots(monkeypatch, make, step):
    """Do a step each time that a copy has its words and is not known yet."""
    if make is backup:
        verify = copying.verify
        monkeypatch.setattr(copying, "verify", lambda path: (step(), verify(path)))
    else:
        lines = Leaving.lines

        def told(self):
            yield from lines(self)
            step()

        monkeypatch.setattr(Leaving, "lines", told)
    yield


@pytest.mark.parametrize("make", [backup, export])
def test_it_is_made_again_without_it(told, tmp_path, monkeypatch, make):
    target, replies = tmp_path / "copy", []

    def once():
        if not replies:
            replies.append(forget(told))

    with after_snapshots(monkeypatch, make, once):
        make(told, target)
    assert replies == [[]]
    assert not holds(target)
    assert [copy.path for copy in known_copies(told.data)] == [target]


@pytest.mark.parametrize("make", [backup, export])
def test_nothing_is_left_when_it_never_ends(told, tmp_path, monkeypatch, make):
    target, numbers = tmp_path / "copy", iter(range(100))

    def always():
        note = told.ask("POST", "/ingest_text", {"text": f"note {next(numbers)} of the day"})[1]
        assert told.ask("DELETE", f"/memory/{note['ids'][0]}")[0] == 200

    with (
        after_snapshots(monkeypatch, make, always),
        pytest.raises(StoreBusyError, match="being forgotten all the time"),
    ):
        make(told, target)
    assert [path.name for path in tmp_path.iterdir() if "copy" in path.name] == []


def test_one_that_came_between_looking_and_forgetting_is_named(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent.parent / "ingest"))
    server = __import__("ingest_support").Server(tmp_path)
    lines = __import__("session_lines")
    target = tmp_path / "mine.db"
    clean = FileCleaner.clean_now

    def cleaned(self, traces):
        done = clean(self, traces)
        command = [sys.executable, "-c", COPY, str(self._paths.database), str(target)]
        subprocess.run(command, check=True)
        note_copy(self._paths.data, KnownCopy("backup", target, traces.since + 1))
        return done

    monkeypatch.setattr(FileCleaner, "clean_now", cleaned)
    with server:
        server.write(lines.lines(*lines.turns(3, session="s1", stem=CANARY)), "s1.jsonl")
        server.ingest()
        done = server.do(server.engine.memories.forget_session("s1"))
    assert ("backup", str(target)) in {(held.kind, held.path) for held in done.still_in}
    assert holds(target)


COPY = """
import sys
from cloxy_core.store.library import driver
connection = driver.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
connection.execute("VACUUM INTO ?", (sys.argv[2],))
"""
