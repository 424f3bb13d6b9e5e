"""Starting, stopping and refusing to start."""

import os
import secrets
import socket
import sqlite3
import stat
import subprocess

import pytest
from server.live_server import PATIENCE, PROGRAM

from cloxy_core.runtime.lock import read_holder


def start(folder, *arguments, **settings):
    """Run `cloxy start` where it is expected to refuse."""
    return subprocess.run(
        [PROGRAM, "start", *arguments],
        env={**os.environ, "CLOXY_DATA_DIR": str(folder / "data"), "CLOXY_WATCH": "0", **settings},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


def test_sigterm_ends_it_with_0_and_an_empty_log(live):
    live.ask("POST", "/ingest_text", {"text": "something to keep"})
    assert live.stop() == 0
    wal = live.data / "memory.db-wal"
    assert not wal.exists() or wal.stat().st_size == 0


def test_everything_is_private(live):
    live.ask("POST", "/ingest_text", {"text": "something to keep"})
    for path in [live.data, *live.data.rglob("*")]:
        assert not stat.S_IMODE(path.stat().st_mode) & 0o077, path


def test_a_second_server_is_told_about_the_first(live):
    second = start(live.folder, CLOXY_PORT="0")
    assert second.returncode == 1
    assert str(live.process.pid) in second.stderr
    assert live.ask("GET", "/health")[0] == 200


def test_a_killed_server_leaves_nothing_in_the_way(live):
    live.ask("POST", "/ingest_text", {"text": "survives a kill"})
    live.kill()
    live.start()
    found = live.ask("POST", "/recall", {"query": "survives a kill"})[1]["results"]
    assert found


def test_a_taken_port_is_named(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        refused = start(tmp_path, "--port", str(port))
    assert refused.returncode == 1
    assert str(port) in refused.stderr
    assert "CLOXY_PORT" in refused.stderr


def test_an_address_of_another_machine_is_not_called_a_taken_port(tmp_path):
    key = secrets.token_urlsafe(32)
    refused = start(tmp_path, "--host", "192.0.2.7", "--port", "0", CLOXY_API_KEY=key)
    assert refused.returncode == 1
    assert "CLOXY_HOST" in refused.stderr
    assert "another program" not in refused.stderr


def test_a_server_that_does_not_watch_says_so(live):
    assert "watching nothing, because watch.enabled is off" in live.errors.read_text(
        encoding="utf-8"
    )


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7"])
def test_no_key_no_exposure(tmp_path, host):
    refused = start(tmp_path, CLOXY_HOST=host)
    assert refused.returncode == 1
    assert refused.stderr.startswith(f"cloxy: refusing to listen on '{host}' without a key; ")
    assert "CLOXY_API_KEY" in refused.stderr


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("CLOXY_PORT", "a lot"),
        ("CLOXY_WATCH", "maybe"),
        ("CLOXY_WATCH_INTERVAL", "-1"),
        ("CLOXY_WATCH_DIRS", "relative/folder"),
    ],
)
def test_a_bad_setting_is_named(tmp_path, variable, value):
    refused = start(tmp_path, **{variable: value})
    assert refused.returncode == 1
    assert variable in refused.stderr


def test_a_database_of_the_original_is_left_untouched(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    file = data / "memory.db"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE chunks (id INTEGER PRIMARY KEY, content TEXT)")
    connection.close()
    before = file.read_bytes()
    refused = start(tmp_path, CLOXY_PORT="0")
    assert refused.returncode == 1
    assert "memory.db" in refused.stderr
    assert file.read_bytes() == before


def test_the_same_server_twice_is_a_good_end_with_one_line(live):
    port = live.url.rpartition(":")[2]
    second = start(live.folder, "--port", port)
    assert (second.returncode, second.stderr.count("\n")) == (0, 1)
    assert live.url in second.stderr
    assert live.ask("GET", "/health")[0] == 200


def test_a_free_port_that_was_taken_is_written_into_the_lock(live):
    assert read_holder(live.data / "server.lock").url == live.url
