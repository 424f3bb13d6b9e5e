"""A progress line on standard error while the server reads session logs."""

import threading
import time
from collections.abc import Mapping
from types import TracebackType

from cloxy_core.cli import fields
from cloxy_core.cli.line import Line, bar
from cloxy_core.client import Client
from cloxy_core.client_config import ClientError

POLL_SECONDS = 0.5


class IngestProgress:
    """Asks the server how far it is, from a thread, as long as the `with` block runs."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="progress", daemon=True)
        self._line = Line()

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._thread.join(timeout=POLL_SECONDS)
        self._line.clear()

    def _watch(self) -> None:
        started = time.monotonic()
        while not self._stop.wait(POLL_SECONDS):
            try:
                answer = self._client.request("GET", "/ingest_status", seconds=POLL_SECONDS * 4)
            except ClientError:
                continue  # the request that matters reports what is wrong
            if not self._stop.is_set():
                self._line.draw(progress_line(answer, time.monotonic() - started))


def progress_line(answer: Mapping[str, object], elapsed: float) -> str:
    """One line: bar, files, memories, files a second, time left.

    Args:
        answer: what `GET /ingest_status` said.
        elapsed: seconds since the command began.
    """
    if answer.get("scanning") is not True:
        return "waiting for the server"
    done, total = fields.count(answer, "files_this_scan"), fields.count(answer, "files_total")
    memories = fields.count(answer, "chunks_this_scan")
    line = f"{done:,}/{total:,} files · {memories:,} memories"
    if total > 0:
        line = f"{bar(done, total)} {line}"
    if done and elapsed > 0:
        rate = done / elapsed
        line += f" · {rate:,.1f} files/s"
        if total > done:
            line += f" · about {fields.duration((total - done) / rate)} left"
    return line
