"""A program with a person at its terminal."""

import os
import pty
import select
import signal
import subprocess
import time

from process.cli_runner import PROGRAM, child_environment


class Terminal:
    """Runs `cloxy` in a terminal of its own; `shown` is all that it wrote."""

    def __init__(self, *arguments, url=None, **environment):
        self.shown = ""
        self._seen = 0
        self._leader, follower = pty.openpty()
        self._process = subprocess.Popen(
            [PROGRAM, *arguments],
            env=child_environment(url, {"TERM": "dumb", **environment}),
            stdin=follower,
            stdout=follower,
            stderr=follower,
            start_new_session=True,
        )
        os.close(follower)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        os.close(self._leader)

    def until(self, text, seconds=120):
        """Read until a text is there, behind what was read before."""
        end = time.monotonic() + seconds
        begin = self._seen
        while text not in self.shown[begin:]:
            left = end - time.monotonic()
            ready, _, _ = select.select([self._leader], [], [], max(0, left))
            piece = self._read() if ready else b""
            assert piece, f"no {text!r} in {self.shown!r}"
            self.shown += piece.decode("utf-8", "replace").replace("\r\n", "\n")
        self._seen = self.shown.index(text, begin) + len(text)
        return self.shown[begin : self._seen]

    def type(self, line):
        os.write(self._leader, f"{line}\n".encode())

    def press_end(self):
        os.write(self._leader, b"\x04")

    def interrupt(self):
        self._process.send_signal(signal.SIGINT)

    def interrupt_prompt(self, text):
        """Press Ctrl-C at a prompt until a text is there.

        A signal between the writing of a prompt and the wait for a key is noticed with the next
        key only: that is how CPython waits with a line editor, and why people press it again.
        """
        for _ in range(5):
            self.interrupt()
            if select.select([self._leader], [], [], 10)[0]:
                break
        self.until(text)

    def finish(self, seconds=120):
        """Read to the end; the exit code."""
        while piece := self._read():
            self.shown += piece.decode("utf-8", "replace").replace("\r\n", "\n")
        return self._process.wait(seconds)

    def _read(self):
        try:
            return os.read(self._leader, 65536)
        except OSError:  # how Linux tells that the other end has closed
            return b""
