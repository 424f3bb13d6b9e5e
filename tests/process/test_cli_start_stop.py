"""`cloxy start -d` and `cloxy stop`, with real servers."""

import json
import os
import signal
import socket
import stat
from pathlib import Path

import pytest
from process.launching_kit import Background, open_files, printed, wait_until
from process.stub_server import StubServer

needs_proc = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")


@pytest.fixture
def background(tmp_path):
    server = Background(tmp_path, SECRET_OF_THE_EDITOR="x", CLOXY_MAX="y")
    yield server
    server.stop()


def test_start_says_where_it_is_and_stop_ends_it(background):
    run = background.run("start", "-d")
    assert run.returncode == 0, run.stderr
    assert run.stderr == b""
    said = run.stdout.decode()
    assert f"runs at {background.url} (process {background.pid})" in said
    assert str(background.data / "logs" / "launch.log") in said
    assert background.client.request("GET", "/health")["service"] == "cloxy"
    again = background.run("start", "--detach")
    assert again.returncode == 0
    assert f"already runs at {background.url} (process {background.pid})" in again.stdout.decode()
    pid = background.pid
    stopped = background.run("stop")
    assert stopped.returncode == 0, stopped.stderr
    expected = f"stopped the server at {background.url} (process {pid})\n"
    assert stopped.stdout.decode() == expected
    assert not background.runs()


def test_stop_where_nothing_runs(background):
    run = background.run("stop")
    assert (run.returncode, run.stderr) == (0, b"")
    assert run.stdout.decode() == f"no server of {background.data} runs\n"
    assert printed(background.run("stop", "--json"))["stopped"] is False


def test_json(background):
    started = printed(background.run("start", "-d", "--json"))
    assert started["started"] is True
    assert started["url"] == background.url
    assert printed(background.run("start", "-d", "--json")) == {**started, "started": False}
    stopped = printed(background.run("stop", "--json"))
    assert (stopped["stopped"], stopped["pid"]) == (True, started["pid"])


@needs_proc
def test_started_server_belongs_to_nobody(background):
    printed(background.run("start", "-d", "--json"))
    pid = background.pid
    log = str(background.data / "logs" / "launch.log")
    files = open_files(pid)
    assert files[0] == "/dev/null"
    assert (files[1], files[2]) == (log, log)
    assert stat.S_IMODE(Path(log).stat().st_mode) == 0o600
    assert not {target for number, target in files.items() if number <= 2 and "pipe" in target}
    assert Path(f"/proc/{pid}/cwd").readlink() == background.data
    assert os.getsid(pid) != os.getsid(0)
    environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    names = {entry.partition(b"=")[0] for entry in environment}
    assert b"CLOXY_MAX" in names
    assert b"SECRET_OF_THE_EDITOR" not in names
    assert b"PYTHONPATH" not in names


def test_options_reach_the_server(background):
    port = background.another_port()
    started = printed(background.run("start", "-d", "--json", "--port", str(port)))
    assert started["url"] == f"http://127.0.0.1:{port}"
    # Without the option it is found all the same, since it has the data directory.
    assert printed(background.run("start", "-d", "--json"))["url"] == started["url"]
    refused = background.run("start", "-d", "--port", str(background.another_port()))
    assert refused.returncode == 1
    assert f"listens at {started['url']}, not at" in refused.stderr.decode()
    assert printed(background.run("stop", "--json"))["url"] == started["url"]


@pytest.mark.parametrize("arguments", [("-d", "--port", "0"), ("--json",)])
def test_wrong_usage(background, arguments):
    assert background.run("start", *arguments).returncode == 2


def test_server_that_ends_at_once_is_quoted(background):
    run = background.run("start", "-d", CLOXY_WATCH_INTERVAL="-1")
    assert run.returncode == 1
    said = run.stderr.decode()
    assert "ended while it started: cloxy: CLOXY_WATCH_INTERVAL" in said
    assert "launch.log" in said


def test_foreign_program_on_the_port(background):
    with socket.create_server(("127.0.0.1", background.port)):
        run = background.run("stop")
        assert run.returncode == 1
        assert "did not say within" in run.stderr.decode()
    with StubServer().running() as stub:
        run = background.run("start", "-d", CLOXY_PORT=str(stub.port))
        assert run.returncode == 1
        said = run.stderr.decode()
        assert "is not a Cloxy server of this data directory" in said
        assert "CLOXY_PORT to a free port, such as" in said
        assert not (background.data / "logs").exists()


def test_older_cloxy_on_the_port(background):
    with StubServer().running() as stub:
        stub.answer("GET", "/health", {"status": "OK", "service": "cloxy", "version": "5.1.0"})
        for command in (("start", "-d"), ("stop",)):
            run = background.run(*command, CLOXY_PORT=str(stub.port))
            assert run.returncode == 1
            assert "an older Cloxy (5.1.0) runs at" in run.stderr.decode()
        assert {path for _, path, _, _ in stub.asked} >= {"/health"}
        assert all(method == "GET" for method, _, _, _ in stub.asked)


def test_server_of_another_data_directory_is_left_alone(background, tmp_path):
    printed(background.run("start", "-d", "--json"))
    other = {"CLOXY_DATA_DIR": str(tmp_path / "other")}
    for command in (("start", "-d"), ("stop",)):
        run = background.run(*command, **other)
        assert run.returncode == 1
        assert "nothing was sent" in run.stderr.decode()
    assert background.runs()


def test_killed_server_leaves_nothing_in_the_way(background):
    first = printed(background.run("start", "-d", "--json"))["pid"]
    os.kill(first, 9)
    wait_until(lambda: not background.runs())
    assert printed(background.run("start", "-d", "--json"))["pid"] != first


def test_directory_that_is_held_without_a_server_is_told(background):
    from cloxy_core.runtime.lock import DataDirectoryLock, LockHolder

    background.data.mkdir(mode=0o700)
    with DataDirectoryLock(background.lock) as lock:
        lock.acquire(LockHolder(4711, "6.0", "", 0))
        run = background.run("start", "-d")
        assert run.returncode == 1
        assert "process 4711 of Cloxy 6.0 uses the data directory" in run.stderr.decode()
        stopped = background.run("stop")
        assert stopped.returncode == 1
        assert "kill 4711" in stopped.stderr.decode()


def test_server_that_hangs_is_told_with_what_ends_it(background):
    pid = printed(background.run("start", "-d", "--json"))["pid"]
    os.kill(pid, signal.SIGSTOP)
    try:
        run = background.run("stop")
    finally:
        os.kill(pid, signal.SIGCONT)
    assert run.returncode == 1
    said = run.stderr.decode()
    assert "does not answer in time" in said
    assert f"`kill {pid}`" in said


def test_key_of_the_data_directory_is_used(background):
    background.data.mkdir(mode=0o700)
    key = background.data / "server.key"
    key.write_text("k" * 40, encoding="utf-8")
    key.chmod(0o600)
    printed(background.run("start", "-d", "--json"))
    found = background.client.request("POST", "/recall", {"query": "anything"})
    assert found["results"] == []
    assert printed(background.run("stop", "--json"))["stopped"] is True


def test_installed_service_is_asked_instead(background, tmp_path, monkeypatch):
    """A service manager of the test's own stands in for systemd; the server is a real one."""
    programs = tmp_path / "bin"
    programs.mkdir()
    asked = tmp_path / "asked.txt"
    systemctl = programs / "systemctl"
    systemctl.write_text(f'#!/bin/sh\necho "$@" >> {asked}\nexit 0\n', encoding="utf-8")
    systemctl.chmod(0o755)
    unit = tmp_path / "cloxy.service"
    unit.write_text("[Unit]\n", encoding="utf-8")
    background.data.mkdir(mode=0o700)
    record = {
        "platform": "systemd",
        "name": "cloxy.service",
        "definition": str(unit),
        "digest": "",
        "environment": {},
    }
    (background.data / "service.json").write_text(json.dumps(record), encoding="utf-8")
    path = f"{programs}:{os.environ['PATH']}"
    process = background.popen("start", "-d", PATH=path)
    wait_until(lambda: asked.exists() and "start cloxy" in asked.read_text(encoding="utf-8"))
    assert not background.lock.exists()  # nothing was started beside it
    server = background.popen("start")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, b"")
    assert b"runs at" in out
    server.terminate()
    server.communicate(timeout=60)
