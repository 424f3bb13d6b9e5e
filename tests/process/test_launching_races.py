"""However many start it at the same time, one server runs, and each of them is answered."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from process.launching_kit import PATIENCE, Background, wait_until
from relay.relay_child import RelayChild, call, initialize

CHILDREN = 20
# Starts the relay in a process group of its own, as an editor does, and waits to be killed.
EDITOR = """
import subprocess, sys
child = subprocess.Popen([sys.argv[1], "mcp"])
child.wait()
"""


@pytest.fixture
def background(tmp_path):
    server = Background(tmp_path)
    yield server
    server.stop()


def servers_of(background):
    """Process ids of all servers of the data directory."""
    wanted = f"CLOXY_DATA_DIR={background.data}".encode()
    found = set()
    for name in (p.name for p in Path("/proc").iterdir() if p.name.isdigit()):
        try:
            with Path(f"/proc/{name}/cmdline").open("rb") as file:
                if b"cloxy_core.cli.background" not in file.read():
                    continue
            with Path(f"/proc/{name}/environ").open("rb") as file:
                if wanted in file.read().split(b"\0"):
                    found.add(int(name))
        except OSError:
            continue
    return found


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc")
def test_twenty_children_share_one_server(background):
    environ = {name: value for name, value in background.environ.items() if name != "PATH"}
    children = [RelayChild(**environ) for _ in range(CHILDREN)]
    try:
        for child in children:
            child.send(initialize())
        for child in children:
            assert child.answer(1)["result"]["protocolVersion"] == "2025-06-18"
        assert servers_of(background) == {background.pid}
        assert sum(b"started the server" in child.said for child in children) == 1
        for child in children:
            assert child.close() == 0
    finally:
        for child in children:
            child.__exit__()
    assert background.client.request("GET", "/health")["pid"] == background.pid


@pytest.mark.slow
def test_started_twice_at_once(background):
    runs = [background.popen("start", "-d", "--json") for _ in range(2)]
    told = [run.communicate(timeout=PATIENCE) for run in runs]
    assert [run.returncode for run in runs] == [0, 0], told
    answers = [json.loads(out) for out, _ in told]
    assert {answer["pid"] for answer in answers} == {background.pid}
    assert sorted(answer["started"] for answer in answers) == [False, True]


def test_server_survives_the_editor_that_had_it_started(background):
    from process.cli_runner import PROGRAM

    editor = subprocess.Popen(
        [sys.executable, "-c", EDITOR, PROGRAM],
        env=background.environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    with editor:
        editor.stdin.write(json.dumps(call(1, "memory_status", modern=True)).encode() + b"\n")
        editor.stdin.flush()
        assert b'"result"' in editor.stdout.readline()
        os.killpg(editor.pid, 9)
    assert background.client.request("GET", "/health")["status"]


def test_server_that_cannot_start_fails_the_request_with_its_words(background):
    environ = {**background.environ, "CLOXY_WATCH_INTERVAL": "-1"}
    with RelayChild(**environ) as relay:
        error = relay.ask(initialize())["error"]
        assert "ended while it started: cloxy: CLOXY_WATCH_INTERVAL" in error["message"]
        assert relay.close() == 0


def test_restarted_server_is_used_without_a_word_from_the_client(background):
    with RelayChild(**background.environ) as relay:
        assert relay.ask(initialize())["result"]
        relay.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        first = background.pid
        os.kill(first, 9)
        wait_until(lambda: not background.runs())
        assert relay.ask({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})["result"]["tools"]
        assert background.pid != first
        assert relay.close() == 0


@pytest.mark.parametrize("is_there", [True, False])
def test_nothing_is_written_where_a_link_leads(background, tmp_path, is_there):
    elsewhere = tmp_path / "elsewhere"
    if is_there:
        elsewhere.mkdir()
    background.data.mkdir(mode=0o700)
    (background.data / "logs").symlink_to(elsewhere)
    with RelayChild(**background.environ) as relay:
        error = relay.ask(initialize())["error"]
        assert "it is a link, not a folder" in error["message"]
        assert relay.close() == 0
    assert elsewhere.exists() is is_there
    assert not is_there or list(elsewhere.iterdir()) == []
