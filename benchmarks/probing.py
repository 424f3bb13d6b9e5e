"""Measuring a running server from outside: latencies, memory, and what its database holds."""

import os
import random
import re
import sqlite3
import threading
import time
from collections import Counter
from pathlib import Path

from session_logs import WORDS

KNOWN_WORDS = 800
PAUSE = 0.05


class Prober:
    """Asks `/health` and `/recall` again and again, each from its own thread, while a block runs.

    Attributes:
        seconds: latencies by path.
        refused: answers other than 200, by path and status.
    """

    def __init__(self, server) -> None:
        self.server = server
        self.seconds: dict[str, list[float]] = {"/health": [], "/recall": []}
        self.refused: Counter[tuple[str, str]] = Counter()
        self._stopping = threading.Event()
        self._threads = [
            threading.Thread(target=self._ask, args=("GET", "/health")),
            threading.Thread(target=self._ask, args=("POST", "/recall")),
        ]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_exception):
        self._stopping.set()
        for thread in self._threads:
            thread.join()

    def _ask(self, method: str, path: str) -> None:
        chooser = random.Random(7)
        while not self._stopping.is_set():
            # Frequent words, which are the dearest to look for.
            words = " ".join(chooser.choices(WORDS[:KNOWN_WORDS], k=4))
            body = {"query": words, "top_k": 5} if method == "POST" else None
            began = time.perf_counter()
            try:
                status = self.server.ask(method, path, body)[0]
            except OSError as error:
                status = type(error).__name__
            took = time.perf_counter() - began
            if status == 200:
                self.seconds[path].append(took)
            else:
                self.refused[path, str(status)] += 1
            self._stopping.wait(PAUSE)

    def p95(self, path: str) -> float:
        """Of a path, in milliseconds."""
        return percentile(self.seconds[path], 95)

    def lines(self) -> list[str]:
        """What was measured, for people."""
        told = [
            f"{path}: p50 {percentile(values, 50):.0f} ms, p95 {percentile(values, 95):.0f} ms, "
            f"max {percentile(values, 100):.0f} ms, n {len(values)}"
            for path, values in self.seconds.items()
        ]
        return told + [f"refused: {dict(self.refused)}"] * bool(self.refused)


def percentile(seconds: list[float], part: int) -> float:
    """A percentile, in milliseconds; infinite when nothing was measured."""
    if not seconds:
        return float("inf")
    values = sorted(seconds)
    return 1000 * values[min(len(values) - 1, len(values) * part // 100)]


def peak_mebibytes(process) -> float:
    """Most memory that a process of Linux has had resident."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1024


def cpu_seconds(process) -> float:
    """What a process of Linux has used of the processors."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def machine() -> str:
    """Processors and load, without which no figure says anything."""
    loads = ", ".join(f"{load:.1f}" for load in os.getloadavg())
    return f"{os.cpu_count()} processors, load of 1, 5 and 15 minutes: {loads}"


def stored_texts(data: Path) -> dict[tuple[str, str], str]:
    """Text of every stored message, by session and id.

    Raises:
        AssertionError: a part of a message is stored twice.
    """
    connection = sqlite3.connect(f"file:{data / 'memory.db'}?mode=ro", uri=True)
    found: dict[tuple[str, str], str] = {}
    parts: set[tuple[str, str, int]] = set()
    try:
        for key, uid, part, text in connection.execute(
            "SELECT s.key, p.message_uid, p.part, substr(m.content, p.char_start + 1, "
            "p.char_end - p.char_start) FROM passages p JOIN memories m ON m.id = p.memory_id "
            "JOIN sessions s ON s.id = p.session_id ORDER BY p.id"
        ):
            assert (key, uid, part) not in parts, f"{uid} is stored twice"
            parts.add((key, uid, part))
            found[key, uid] = found.get((key, uid), "") + text
    finally:
        connection.close()
    return found
