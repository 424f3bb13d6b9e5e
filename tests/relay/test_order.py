"""What clients do at bad moments: ids given twice, many cancels, answers that nobody reads."""

import json
import os
import subprocess
import threading

import pytest
from process.cli_runner import PROGRAM
from relay.relay_child import INITIALIZED, PATIENCE, call, cancelled, initialize

from cloxy_core.relay import relay as relaying
from cloxy_core.relay.messages import as_line
from cloxy_core.relay.relay import Relay
from cloxy_core.relay.session import HANDSHAKE_SECONDS


class SlowEndpoint:
    """An endpoint that takes no request before it is released, and then has none."""

    def __init__(self):
        self.url = "http://127.0.0.1:1"
        self.seconds = []
        self.asked = threading.Semaphore(0)
        self.released = threading.Event()

    def send(self, exchange, method, headers, body=None, *, may_start=True, seconds=600.0):
        self.seconds.append(seconds)
        self.asked.release()
        assert self.released.wait(PATIENCE)
        raise OSError


@pytest.fixture
def slow():
    endpoint = SlowEndpoint()
    yield endpoint
    endpoint.released.set()


def ends(work, *arguments):
    """Whether work on a thread of its own comes to its end."""
    thread = threading.Thread(target=work, args=arguments, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    return not thread.is_alive()


def test_an_id_that_is_given_again_is_answered_once(child, server):
    relay = child().send(*(call(number, "slow", modern=True) for number in range(32)))
    server.wait_for(lambda: len(server.calls) == 32)
    # All places are taken: the new one waits, and breaks off the one whose id it has.
    relay.send(call(5, "plain", modern=True))
    server.wait_for(lambda: server.left == [("closed", 5)])
    server.released.set()
    assert sorted(relay.next()["id"] for _ in range(32)) == list(range(32))
    assert relay.close() == 0
    assert relay.next() is None


def test_a_cancel_holds_up_nothing(slow, monkeypatch):
    monkeypatch.setattr(relaying, "CANCEL_SECONDS", 10 * PATIENCE)
    written = []
    relay = Relay(slow, written.append, print)
    relay.take(as_line(call(1)))
    assert slow.asked.acquire(timeout=PATIENCE)
    assert ends(relay.take, as_line(cancelled(1)))
    relay.take(b"{")
    assert [json.loads(line)["error"]["code"] for line in written] == [-32700]


def test_a_cancel_that_comes_again_and_again_is_one(slow, monkeypatch):
    relay = Relay(slow, print, print)
    told = []
    monkeypatch.setattr(relay, "_cancel_in_session", lambda *_given: told.append(1))
    relay.take(as_line(call(1)))
    assert slow.asked.acquire(timeout=PATIENCE)
    for _ in range(500):
        relay.take(as_line(cancelled(1)))
        relay.take(as_line(cancelled("never")))
    relay.close(grace=0)
    assert len(told) <= 1


def test_a_cancel_does_not_reach_another_request_of_the_same_id(slow, monkeypatch):
    relay = Relay(slow, print, print)
    told = []
    monkeypatch.setattr(relay, "_notify", told.append)
    relay.take(as_line(call(1)))
    assert slow.asked.acquire(timeout=PATIENCE)
    first = relay._flights["int", 1]
    relay.take(as_line(call(1)))
    assert slow.asked.acquire(timeout=PATIENCE)
    first.exchange.sent.set()
    relay._cancel_in_session(first, None)
    assert told == []


def test_a_handshake_is_not_waited_for_as_long_as_work(slow):
    relay = Relay(slow, print, print)
    relay.take(as_line(initialize()))
    assert slow.asked.acquire(timeout=PATIENCE)
    assert slow.seconds == [HANDSHAKE_SECONDS]


def test_end_of_input_ends_it_although_nobody_reads(server):
    relay = subprocess.Popen(
        [PROGRAM, "mcp"],
        env={**os.environ, "CLOXY_URL": server.url},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )

    def send(message):
        relay.stdin.write(as_line(message) + b"\n")
        relay.stdin.flush()

    with relay:
        send(initialize(version="2025-03-26"))
        assert json.loads(relay.stdout.readline())["result"]["protocolVersion"] == "2025-03-26"
        send(INITIALIZED)
        send(call(2, "plain", text="x" * 1_000_000))
        # It is in the pipe, as far as that has room; the rest waits, and the batch behind it.
        relay.stdout.peek(1)
        send([call(3, "plain"), call(4, "slow")])
        server.wait_for(lambda: {2, 3, 4} <= {message_id for _, message_id, _ in server.calls})
        relay.stdin.close()
        try:
            assert relay.wait(PATIENCE) == 0
        finally:
            relay.kill()
