"""The command of the image, run with the environment of the image, the folders apart."""

import contextlib
import json
import os
import signal
import stat
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from container.dockerfile import health_command, read
from held_ports import held_port
from server.live_server import line, write_session

KEY = "Xk3-9fQpLm27vTzR"
PATIENCE = 120
pytestmark = pytest.mark.process


class Container:
    """What `docker run` would start: entry point and environment come from the Dockerfile."""

    def __init__(self, folder, **run_time):
        self.image = read()[-1]
        self.data = folder / "data"
        self.sessions = folder / "sessions"
        self.sessions.mkdir()
        self.said = folder / "said.txt"
        self._ports = contextlib.ExitStack()
        self.port = self._ports.enter_context(held_port())
        declared = self.image.environment()
        self.environment = {
            **declared,
            # The program of this checkout stands for the one in /opt/cloxy.
            "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
            "CLOXY_DATA_DIR": declared["CLOXY_DATA_DIR"].replace("/data", str(self.data)),
            "CLOXY_WATCH_DIRS": declared["CLOXY_WATCH_DIRS"].replace(
                "/sessions", str(self.sessions)
            ),
            "CLOXY_PORT": str(self.port),
            "HOME": str(self.data),
            "PYTHONPATH": os.environ["PYTHONPATH"],
            "TEST_NETWORK_LOG": os.environ["TEST_NETWORK_LOG"],
            **run_time,
        }
        self.process = None

    def run(self):
        command = self.image.exec_form("ENTRYPOINT") + self.image.exec_form("CMD")
        with self.said.open("wb") as said:
            self.process = subprocess.Popen(
                command,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                executable=Path(sys.executable).with_name(command[0]),
            )
        return self

    def until_it_answers(self):
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            assert self.process.poll() is None, self.said.read_text()
            try:
                if self.ask("/health")[0] == 200:
                    return self
            except OSError:
                time.sleep(0.05)
        raise AssertionError(self.said.read_text())

    def ask(self, path, host=None, key=None, body=None):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}")
        if host is not None:
            request.add_header("Host", host)
        if key is not None:
            request.add_header("X-API-Key", key)
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

    def health(self):
        """The health check, in the shell that Docker gives it."""
        _options, command = health_command(self.image)
        return subprocess.run(
            ["/bin/sh", "-c", command], env=self.environment, capture_output=True, timeout=PATIENCE
        )

    def stop(self):
        self.process.send_signal(getattr(signal, self.image.one("STOPSIGNAL")))
        return self.process.wait(PATIENCE)

    def end(self):
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._ports.close()


@pytest.fixture
def container(tmp_path):
    made = []

    def create(**run_time):
        made.append(Container(tmp_path, **run_time))
        return made[-1]

    yield create
    for one in made:
        one.end()


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({}, "without a key"),
        ({"CLOXY_API_KEY": "short"}, "shorter than 16"),
        ({"CLOXY_API_KEY": "your-secret-key-here"}, "sample key"),
    ],
)
def test_no_good_key_no_server(container, given, why):
    refused = container(**given).run()
    assert refused.process.wait(PATIENCE) == 1
    said = refused.said.read_text()
    assert why in said
    assert "set CLOXY_API_KEY to at least 16 random characters" in said
    assert "short\n" not in said


def test_it_serves_is_healthy_and_ends_well(container):
    running = container(CLOXY_API_KEY=KEY).run().until_it_answers()
    assert running.ask("/memory_stats")[0] == 401
    status, stats = running.ask("/memory_stats", key=KEY)
    assert (status, stats["total_memories"]) == (200, 0)
    healthy = running.health()
    assert (healthy.returncode, healthy.stdout, healthy.stderr) == (0, b"", b"")
    assert running.stop() == 0
    gone = running.health()
    assert gone.returncode == 1  # not 2, which Docker reserves
    assert b"no server" in gone.stderr


def test_it_can_be_stopped_by_its_own_command(container):
    """It listens on all addresses, and none of its commands may take that for one to call."""
    running = container(CLOXY_API_KEY=KEY).run().until_it_answers()
    stop = [Path(sys.executable).with_name("cloxy"), "stop"]
    run = subprocess.run(stop, env=running.environment, capture_output=True, timeout=PATIENCE)
    assert (run.returncode, run.stderr) == (0, b"")
    assert running.process.wait(PATIENCE) == 0


def test_a_health_check_without_the_key_is_not_fooled_by_the_open_health(container):
    running = container(CLOXY_API_KEY=KEY).run().until_it_answers()
    assert running.ask("/health")[1]["status"] == "OK"
    del running.environment["CLOXY_API_KEY"]
    assert running.health().returncode == 1


def test_everything_it_writes_is_private(container):
    running = container(CLOXY_API_KEY=KEY).run().until_it_answers()
    assert running.ask("/ingest_text", key=KEY, body={"text": "kept in a volume"})[0] == 200
    assert running.stop() == 0
    for path in [running.data, *running.data.rglob("*")]:
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), f"{path} has mode {mode:o}"


def test_other_names_have_to_be_allowed_and_the_answer_says_how(container):
    running = container(CLOXY_API_KEY=KEY, CLOXY_ALLOWED_HOSTS="memory.lan:8080")
    running.run().until_it_answers()
    assert running.ask("/memory_stats", host="memory.lan:8080", key=KEY)[0] == 200
    status, refusal = running.ask("/memory_stats", host="other.lan:9055", key=KEY)
    assert status == 421
    assert "CLOXY_ALLOWED_HOSTS" in json.dumps(refusal)


def test_mounted_session_logs_are_read_on_request_and_nothing_else(container, tmp_path):
    running = container(CLOXY_API_KEY=KEY)
    write_session(running.sessions, "s-one", line("u1", "the deploy key rotates on Mondays"))
    running.run().until_it_answers()
    # No watcher in the image: nothing is read until somebody asks.
    assert running.ask("/memory_stats", key=KEY)[1]["total_memories"] == 0
    status, report = running.ask("/ingest_convos", key=KEY, body={})
    assert (status, report["chunks_stored"]) == (200, 1)
    status, found = running.ask("/recall", key=KEY, body={"query": "deploy key rotates"})
    assert status == 200
    assert "Mondays" in json.dumps(found)


def test_an_empty_name_list_as_compose_gives_it_is_none(container):
    running = container(CLOXY_API_KEY=KEY, CLOXY_ALLOWED_HOSTS="").run().until_it_answers()
    assert running.ask("/memory_stats", key=KEY)[0] == 200
