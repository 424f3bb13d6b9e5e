"""How it ends: with its input, its client, its parent, or a signal."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from process.cli_runner import PROGRAM
from relay.relay_child import PATIENCE, call, patient

# Starts the relay with pipes that stay open in the hands of this test when the parent is killed.
PARENT = """
import os, subprocess, sys, time
child = subprocess.Popen(sys.argv[1:], stdin=0, stdout=1)
sys.stderr.write(f"{child.pid}\\n"); sys.stderr.flush()
time.sleep(600)
"""


def wait_until(condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def is_gone(pid):
    try:
        os.kill(pid, 0)
        return b") Z " in Path(f"/proc/{pid}/stat").read_bytes()
    except (ProcessLookupError, FileNotFoundError):
        return True


def test_end_of_input_waits_for_answers_under_way(child):
    relay = child().send(call(1, "plain", modern=True), call(2, modern=True))
    assert relay.close() == 0
    # Progress has no id, and may come before any answer.
    assert {message.get("id") for message in iter(relay.next, None)} >= {1, 2}


def test_end_of_input_cancels_what_does_not_end(child, server):
    relay = child(command=[PROGRAM, "mcp"]).send(call(1, "slow", modern=True))
    server.wait_for(lambda: server.calls)
    assert relay.close() == 0
    server.wait_for(lambda: server.left == [("closed", 1)])
    assert relay.next() is None


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_ends_it_quietly(legacy, server, number):
    legacy.process.send_signal(number)
    assert legacy.ended() == 0
    assert legacy.next() is None
    assert legacy.said == b""
    assert len(server.deleted) == 1


def test_client_that_reads_no_more_ends_it(server):
    relay = subprocess.Popen(
        [PROGRAM, "mcp"],
        env={**os.environ, "CLOXY_URL": server.url},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with relay:
        relay.stdout.close()
        relay.stdin.write(json.dumps(call(1, modern=True)).encode() + b"\n")
        relay.stdin.flush()
        assert relay.wait(PATIENCE) == 0
        assert relay.stderr.read() == b""


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc")
def test_killed_parent_ends_it_although_its_pipes_are_open(server):
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, *patient()],
        env={**os.environ, "CLOXY_URL": server.url},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with parent:
        pid = int(parent.stderr.readline())
        parent.stdin.write(b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": '
                           b'{"protocolVersion": "2025-06-18"}}\n')  # fmt: skip
        parent.stdin.flush()
        assert b'"result"' in parent.stdout.readline()
        assert not is_gone(pid)
        parent.kill()
        wait_until(lambda: is_gone(pid))
        assert len(server.deleted) == 1
