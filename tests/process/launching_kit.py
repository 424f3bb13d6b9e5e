"""Servers that commands start in the background, each in a data directory of its own."""

import contextlib
import json
import os
import subprocess
import time
from pathlib import Path

from held_ports import held_port
from process.cli_runner import PROGRAM

from cloxy_core.client import Client
from cloxy_core.client_config import ClientConfig
from cloxy_core.runtime.lock_file import LOCK_FILE, is_held, read_holder

PATIENCE = 120.0


class Background:
    """The environment of commands, and the server that they start; `stop` ends whatever runs."""

    def __init__(self, folder, **settings):
        self.data = folder / "data"
        self._ports = contextlib.ExitStack()
        self.port = self.another_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.environ = {
            **os.environ,
            "CLOXY_DATA_DIR": str(self.data),
            "CLOXY_PORT": str(self.port),
            "CLOXY_WATCH": "0",
            "CLOXY_EMBED_PROVIDER": "none",
            **settings,
        }

    def another_port(self):
        """A port that nobody else has before `stop`."""
        return self._ports.enter_context(held_port())

    def run(self, *arguments, **more):
        return subprocess.run(
            [PROGRAM, *arguments],
            env={**self.environ, **more},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE,
        )

    def popen(self, *arguments, **more):
        return subprocess.Popen(
            [PROGRAM, *arguments],
            env={**self.environ, **more},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    @property
    def client(self):
        return Client(ClientConfig(self.url, data_dir=self.data))

    @property
    def lock(self):
        return self.data / LOCK_FILE

    @property
    def pid(self):
        return read_holder(self.lock).pid

    def runs(self):
        return is_held(self.lock)

    def log(self):
        return (self.data / "logs" / "launch.log").read_text(encoding="utf-8")

    def stop(self):
        if self.lock.exists() and self.runs():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, 15)
            wait_until(lambda: not self.runs())
        self._ports.close()


def wait_until(condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def printed(run):
    """What a command printed as JSON."""
    assert run.returncode == 0, run.stderr.decode()
    return json.loads(run.stdout)


def open_files(pid):
    """Where the descriptors of a process lead."""
    return {int(path.name): str(path.readlink()) for path in Path(f"/proc/{pid}/fd").iterdir()}
