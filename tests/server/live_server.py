"""The real server as a child process, with a data directory and session logs of its own."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from http.client import HTTPConnection
from pathlib import Path

PROGRAM = Path(sys.executable).with_name("cloxy")
PATIENCE = 120.0


class LiveServer:
    """Starts `cloxy start` on a free port; `settings` are environment variables."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.logs = folder / "sessions"
        self.logs.mkdir(parents=True, exist_ok=True)
        self.errors = folder / "stderr.txt"
        self.url = ""
        self.process: subprocess.Popen[bytes] | None = None
        self.settings = {
            "CLOXY_DATA_DIR": str(self.data),
            "CLOXY_WATCH_DIRS": str(self.logs),
            "CLOXY_WATCH": "0",
            "CLOXY_PORT": "0",
            **settings,
        }

    def __enter__(self):
        return self.start()

    def __exit__(self, *_exception):
        self.stop()

    def start(self, *arguments: str):
        with self.errors.open("wb") as errors:
            self.process = subprocess.Popen(
                [PROGRAM, "start", *arguments],
                env={**os.environ, **self.settings},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
            )
        try:
            self.url = self._wait_for_url()
        except BaseException:
            self.process.kill()  # it must not work on beside the tests that follow
            self.process.wait()
            raise
        return self

    def _wait_for_url(self) -> str:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            said = self.errors.read_text(errors="replace")
            found = re.search(r"at (http://\S+)\n", said)
            if found and self._answers(found[1]):
                return found[1]
            if self.process.poll() is not None:
                raise AssertionError(f"the server ended with {self.process.returncode}: {said}")
            time.sleep(0.02)
        raise AssertionError(f"no server within {PATIENCE} s: {self.errors.read_text()}")

    @staticmethod
    def _answers(url: str) -> bool:
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=5) as answer:
                return answer.status == 200
        except OSError:
            return False

    def wait_for_vectors(self) -> dict:
        """Wait until every passage can be found by meaning; the embedding as `/health` tells it."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            _status, health = self.ask("GET", "/health")
            embedding = health["embedding"]
            is_full = embedding["state"] == "ready" and not embedding["backlog"]
            if is_full and health["vector_index_size"] == embedding["embedded"]:
                return embedding
            time.sleep(0.05)
        raise AssertionError(f"no vectors within {PATIENCE} s: {embedding}")

    def stop(self, seconds: float = PATIENCE) -> int:
        """End it as a service manager does; its exit code."""
        if self.process is None:
            return 0
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(seconds)
        self.process = None
        return code

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.kill()
        self.process.wait()
        self.process = None

    def ask(self, method: str, path: str, body=None, headers=None):
        """Status and decoded body of an answer, whatever the status."""
        status, _headers, data = self.raw(method, path, body, headers)
        return status, json.loads(data)

    def raw(self, method: str, path: str, body=None, headers=None):
        """Status, headers and bytes of an answer."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, method=method)
        if data is not None:
            request.add_header("Content-Type", "application/json")
        for name, value in (headers or {}).items():
            request.add_header(name, value)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.headers, error.read()

    def connection(self) -> HTTPConnection:
        """A plain connection, for requests that no client library would send."""
        host, port = self.url.removeprefix("http://").rsplit(":", 1)
        return HTTPConnection(host, int(port), timeout=PATIENCE)


def line(uid: str, text: str, *, role: str = "user", session: str = "s-one", **more) -> str:
    """One line of a Claude Code session log, as bytes of JSON and its newline."""
    content = text if role == "user" else [{"type": "text", "text": text}]
    record = {
        "type": role,
        "uuid": uid,
        "parentUuid": None,
        "sessionId": session,
        "cwd": "/srv/demo/shop",
        "gitBranch": "main",
        "timestamp": "2026-05-08T13:56:00.000Z",
        "isSidechain": False,
        "message": {"role": role, "content": content},
        **more,
    }
    return json.dumps(record, ensure_ascii=False) + "\n"


def write_session(logs: Path, name: str, *lines: str) -> Path:
    """A session file with these lines."""
    file = logs / "-srv-demo-shop" / f"{name}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as target:
        target.writelines(lines)
    return file
