"""The first start with a big backlog: memory, latencies, progress, and a kill in the middle.

    python benchmarks/backlog.py [--megabytes 300] [--files 1000] [--no-kill]
    python benchmarks/backlog.py --megabytes 3000 --files 10000

generates session logs, starts the real server on them, asks `/health` and `/recall` all the
while, ends the server by SIGKILL when a third is stored, starts it again, and compares what is
stored at the end with what was said. Exits with 1 when a bar is missed: 600 MiB resident, 200 ms
for `/health` and 300 ms for `/recall` (95 of 100), nothing lost and nothing doubled. Linux only.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from probing import Prober, cpu_seconds, machine, peak_mebibytes, stored_texts
from server.live_server import LiveServer
from session_logs import Corpus, session_key

MEBIBYTES, HEALTH_MS, RECALL_MS = 600, 200, 300
PATIENCE = 3 * 3600
QUIET_SECONDS = 8
SEED = 20_260_508


class Watch:
    """Follows a pass by `/ingest_status`.

    Attributes:
        steps: how often the progress that is told has moved.
        stalled: longest time without a move, in seconds.
    """

    def __init__(self, server) -> None:
        self.server = server
        self.steps = 0
        self.stalled = 0.0
        self._seen: tuple[object, ...] = ()
        self._moved = time.monotonic()

    def status(self):
        """The status now, and note whether it moved."""
        _code, said = self.server.ask("GET", "/ingest_status")
        seen = (said["files_this_scan"], said["chunks_this_scan"], said["current_file"])
        self.stalled = max(self.stalled, time.monotonic() - self._moved)
        if seen != self._seen:
            self._seen, self._moved = seen, time.monotonic()
            self.steps += 1
        return said

    def until(self, condition) -> None:
        """Wait for something in the status."""
        deadline = time.monotonic() + PATIENCE
        while not condition(self.status()):
            if time.monotonic() > deadline:
                raise SystemExit(f"not within {PATIENCE} s: {self.status()}")
            time.sleep(0.25)


def run(server, done, kind: str) -> tuple[Prober, float]:
    """Start, watch until it is done; the latencies and the peak of memory."""
    began = time.monotonic()
    server.start()
    ready = time.monotonic() - began
    watch = Watch(server)
    with Prober(server) as prober:
        watch.until(done)
    seconds = time.monotonic() - began
    peak = peak_mebibytes(server.process)
    print(
        f"{kind}: {seconds:.1f} s, answers after {ready:.2f} s, processor "
        f"{cpu_seconds(server.process):.1f} s, peak {peak:.0f} MiB; progress moved {watch.steps} "
        f"times, longest without {watch.stalled:.1f} s"
    )
    for line in prober.lines():
        print(f"  {line}")
    return prober, peak


def differences(corpus: Corpus, stored: dict[tuple[str, str], str]) -> tuple[int, int]:
    """How many messages are missing or other, and how many were never said."""
    lost = 0
    for number in range(corpus.files):
        for uid, _role, text in corpus.said(number):
            lost += stored.pop((session_key(number), uid), None) != text
    return lost, len(stored)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=300)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--no-kill", action="store_true")
    options = parser.parse_args()
    corpus = Corpus(SEED, options.files, options.megabytes * 1_000_000 // options.files)
    print(machine())
    with tempfile.TemporaryDirectory() as scratch:
        server = LiveServer(Path(scratch), CLOXY_WATCH="1")
        began = time.monotonic()
        size = corpus.write(server.logs)
        print(
            f"{size / 1e6:.0f} MB in {corpus.files} files, made in {time.monotonic() - began:.0f} s"
        )
        probers, peaks = [], []
        try:
            if not options.no_kill:
                third = corpus.files // 3
                part = run(server, lambda said: said["files_this_scan"] >= third, "until killed")
                server.kill()
                probers.append(part[0])
                peaks.append(part[1])
            last = run(server, lambda said: said["scans"] >= 1, "to the end")
            probers.append(last[0])
            peaks.append(last[1])
            with Prober(server) as quiet:
                time.sleep(QUIET_SECONDS)
            print("the same afterwards, with nothing to read:", *quiet.lines(), sep="\n  ")
            said = server.ask("GET", "/ingest_status")[1]
            print(f"last pass: {said['last_result']}, error {said['last_error']}")
        finally:
            server.stop(60)
        stored = stored_texts(server.data)
        size = (server.data / "memory.db").stat().st_size
        print(f"{len(stored)} messages, database {size / 1e6:.0f} MB")
        lost, invented = differences(corpus, stored)
    print(f"lost or other: {lost}; never said: {invented}; {machine()}")
    good = (
        max(peaks) < MEBIBYTES
        and all(p.p95("/health") < HEALTH_MS and p.p95("/recall") < RECALL_MS for p in probers)
        and not any(p.refused for p in probers)
        and lost == invented == 0
    )
    print("every bar is held" if good else "a bar is missed")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
