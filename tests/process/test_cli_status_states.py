"""`cloxy status` when no server of ours answers: each case has its words and exit code."""

import fcntl
import json
import os
import signal
import socket

import pytest
from held_ports import held_port
from process.cli_runner import run_cloxy
from process.stub_server import StubServer
from server.live_server import LiveServer

pytestmark = pytest.mark.process


@pytest.fixture
def free_port():
    with held_port() as port:
        yield port


@pytest.fixture
def lock(data_dir):
    """Takes the lock of the data directory, as a server does, and writes down who has it."""
    opened = []

    def take(url):
        file = (data_dir / "server.lock").open("w")
        opened.append(file)
        fcntl.flock(file, fcntl.LOCK_EX)
        holder = {"pid": 4711, "version": "6.1", "url": url, "started_at": 1_700_000_000_000}
        json.dump(holder, file)
        file.flush()

    yield take
    for file in opened:
        file.close()


def ask(url, **more):
    """Exit code, words, and the state for programs."""
    plain = run_cloxy("status", url=url, **more)
    told = run_cloxy("status", "--json", url=url, **more)
    assert plain.returncode == told.returncode
    assert plain.stdout == b""
    report = json.loads(told.stdout)
    assert report["healthy"] is False
    assert report["problems"]
    return plain.returncode, plain.stderr.decode(), report


def test_nothing_runs(data_dir, free_port):
    code, words, report = ask(f"http://127.0.0.1:{free_port}")
    assert (code, report["state"], report["pid"]) == (2, "not_running", None)
    assert "run `cloxy start`" in words
    assert report["service"]["installed"] is False


def test_a_number_in_a_lock_file_that_nobody_holds_proves_nothing(data_dir, free_port):
    url = f"http://127.0.0.1:{free_port}"
    stale = {"pid": os.getpid(), "version": "6.1", "url": url, "started_at": 1}
    (data_dir / "server.lock").write_text(json.dumps(stale))
    code, _words, report = ask(url)
    assert (code, report["state"], report["pid"]) == (2, "not_running", None)


def test_logs_are_told_even_when_nothing_runs(data_dir, free_port):
    (data_dir / "logs").mkdir()
    _code, words, report = ask(f"http://127.0.0.1:{free_port}")
    assert report["logs"] == str(data_dir / "logs")
    assert str(data_dir / "logs") in words


def test_it_is_starting(lock, free_port):
    url = f"http://127.0.0.1:{free_port}"
    lock(url)
    code, words, report = ask(url)
    assert (code, report["state"], report["pid"]) == (4, "starting", 4711)
    assert "process 4711" in words


def test_a_repair_has_the_data_directory(lock, free_port):
    lock("")
    code, words, report = ask(f"http://127.0.0.1:{free_port}")
    assert (code, report["state"]) == (4, "busy")
    assert "wait until it is done" in words


def test_ours_listens_at_another_address(lock, free_port):
    lock("http://127.0.0.1:19055")
    code, words, report = ask(f"http://127.0.0.1:{free_port}")
    assert (code, report["state"]) == (3, "elsewhere")
    assert "CLOXY_URL=http://127.0.0.1:19055" in words


def test_another_program_has_the_port(data_dir):
    with StubServer().running() as foreign:
        foreign.answer("GET", "/health", b"<html>hello</html>")
        code, words, report = ask(foreign.url)
        assert (code, report["state"]) == (3, "not_ours")
        assert "another program holds the port" in words
        # Neither a key nor a question reached it.
        assert {path.partition("?")[0] for _m, path, *_ in foreign.asked} <= {
            "/identity",
            "/health",
        }


def test_where_nothing_is_proven_an_unusable_answer_is_another_program(data_dir):
    with StubServer().running() as foreign:
        foreign.answer("GET", "/health", b"<html>hello</html>")
        code, words, report = ask(foreign.url, CLOXY_VERIFY_SERVER="0")
        assert (code, report["state"]) == (3, "not_ours")
        assert "another program" in words


def test_an_older_cloxy_has_the_port(data_dir):
    with StubServer().running() as older:
        older.answer("GET", "/health", {"service": "cloxy", "version": "5.1.0", "status": "OK"})
        code, words, report = ask(older.url)
        assert (code, report["state"]) == (3, "too_old")
        assert "older Cloxy (5.1.0)" in words
        assert "stop it" in words


def test_the_server_of_another_data_directory_has_the_port(data_dir, tmp_path):
    (tmp_path / "other").mkdir()
    with StubServer(tmp_path / "other").running() as other:
        code, _words, report = ask(other.url)
        assert (code, report["state"]) == (3, "not_ours")
        assert other.asked == []


def test_a_port_that_speaks_no_http(data_dir):
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        listening.settimeout(30)
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        import threading

        def be_rude():
            for _ in range(2 * 2):
                connection, _address = listening.accept()
                connection.sendall(b"SSH-2.0-OpenSSH_9.6\r\n")
                connection.close()

        thread = threading.Thread(target=lambda: _until_closed(be_rude), daemon=True)
        thread.start()
        code, _words, report = ask(url)
        assert (code, report["state"]) == (3, "not_ours")


def _until_closed(action):
    try:
        action()
    except OSError:
        return


@pytest.mark.slow
def test_a_stopped_process_is_unresponsive_and_well_again_when_it_goes_on(tmp_path):
    with LiveServer(tmp_path) as server:
        settings = {"CLOXY_DATA_DIR": str(server.data)}
        os.kill(server.process.pid, signal.SIGSTOP)
        try:
            run = run_cloxy("status", "--json", url=server.url, **settings)
        finally:
            os.kill(server.process.pid, signal.SIGCONT)
        report = json.loads(run.stdout)
        assert (run.returncode, report["state"]) == (4, "unresponsive")
        again = run_cloxy("status", "--json", url=server.url, **settings)
        report = json.loads(again.stdout)
        assert (again.returncode, report["state"]) == (0, "running"), again.stderr
        assert report["pid"] == server.process.pid
        assert report["health"]["port"] == int(server.url.rsplit(":", 1)[1])
        assert (server.data / "logs" / "cloxy.log").parent == type(server.data)(report["logs"])


@pytest.mark.slow
def test_with_a_key_the_details_are_for_those_who_have_it(tmp_path):
    key = "Xk3-9fQpLm27vTzR"
    with LiveServer(tmp_path, CLOXY_API_KEY=key) as server:
        settings = {"CLOXY_DATA_DIR": str(server.data)}
        _status, shown = server.ask("GET", "/health")
        assert set(shown) == {"status", "service", "version"}
        without = run_cloxy("status", url=server.url, **settings)
        assert without.returncode == 1
        assert b"CLOXY_API_KEY" in without.stderr
        with_it = run_cloxy("status", url=server.url, CLOXY_API_KEY=key, **settings)
        assert with_it.returncode == 0, with_it.stderr
        shown = " ".join(with_it.stdout.decode().split())
        assert f"logs {server.data / 'logs'}" in shown
        assert "key needed" in shown
