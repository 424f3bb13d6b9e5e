"""`cloxy mcp` as a child process, whose every line must be one JSON-RPC message."""

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading

from process.cli_runner import PROGRAM

PATIENCE = 60
MODERN_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def initialize(message_id=1, version="2025-06-18"):
    info = {"name": "test", "version": "1"}
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": info}
    return {"jsonrpc": "2.0", "id": message_id, "method": "initialize", "params": params}


def call(message_id, name="echo", *, modern=False, **arguments):
    params = {"name": name, "arguments": arguments}
    if modern:
        params["_meta"] = MODERN_META
    return {"jsonrpc": "2.0", "id": message_id, "method": "tools/call", "params": params}


def cancelled(message_id):
    params = {"requestId": message_id}
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}


INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
# When its input ends, what is under way has a moment, which may be too short on a busy machine.
PATIENT = f"""
import sys
from cloxy_core.relay import relay, running, session
running.GRACE_SECONDS = relay.END_SECONDS = session.END_SECONDS = {PATIENCE}
from cloxy_core.cli.main import main
main(["mcp", *sys.argv[1:]])
"""


def patient(*arguments):
    """The command of a `cloxy mcp` that leaves nothing undone because the machine is slow."""
    return [sys.executable, "-P", "-c", PATIENT, *arguments]


class RelayChild:
    """Talks to a `cloxy mcp` of its own."""

    def __init__(self, *arguments, command=None, **environment):
        self.process = subprocess.Popen(
            command or [PROGRAM, "mcp", *arguments],
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.lines = []
        self.said = b""
        self._messages = queue.Queue()
        self._threads = [
            threading.Thread(target=self._read),
            threading.Thread(target=self._listen),
        ]
        for thread in self._threads:
            thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_exception):
        self.process.kill()
        self.process.wait()
        for thread in self._threads:
            thread.join(PATIENCE)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            with contextlib.suppress(OSError):
                stream.close()
        for line in self.lines:
            strict(line)

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(line)
            self._messages.put(line)
        self._messages.put(None)

    def _listen(self):
        for line in self.process.stderr:
            self.said += line

    def send(self, *messages):
        for message in messages:
            self.send_bytes(json.dumps(message, ensure_ascii=False).encode() + b"\n")
        return self

    def send_bytes(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def next(self):
        """The next message; None at the end of the stream."""
        line = self._messages.get(timeout=PATIENCE)
        return None if line is None else strict(line)

    def answer(self, message_id):
        """The answer to a request; what comes before it is passed over."""
        while (message := self.next()) is not None:
            if isinstance(message, dict) and "method" not in message:
                assert message["id"] == message_id and type(message["id"]) is type(message_id)
                return message
        raise AssertionError(f"it ended without an answer: {self.said.decode()}")

    def answer_of_any(self):
        """The id of the next answer."""
        while (message := self.next()) is not None:
            if "method" not in message:
                assert "result" in message
                return message["id"]
        raise AssertionError(f"it ended: {self.said.decode()}")

    def ask(self, message):
        return self.send(message).answer(message["id"])

    def close(self):
        """End its input; the exit code."""
        self.process.stdin.close()
        return self.ended()

    def ended(self):
        """Wait for its end, and for all that it said; the exit code."""
        code = self.process.wait(PATIENCE)
        for thread in self._threads:
            thread.join(PATIENCE)
        return code


def strict(line):
    """The message of a line, which must be whole and one."""
    assert line.endswith(b"\n")
    text = line[:-1].decode("utf-8")
    assert len(text.splitlines()) == 1
    message = json.loads(text)
    for one in message if isinstance(message, list) else [message]:
        assert one["jsonrpc"] == "2.0"
        assert "method" in one or ("result" in one) != ("error" in one)
    return message
