"""A storm of appends to watched files, and how long until all of it is stored.

    python benchmarks/storm.py [--files 500] [--lines 50000] [--seconds 10] [--how HOW]

starts the real server on that many session files, appends the lines to them in turn within the
seconds, and counts from the end of the storm until every line is stored. HOW is one of

    events      as it is by default;
    no-events   with CLOXY_WATCH_EVENTS=0;
    no-watches  no file may be watched: the limit of inotify instances is none (in a namespace);
    few-watches the limit of inotify watches is 16, fewer than there are folders;
    overflow    the server is stopped during the storm, so that the queue of events overflows;

by default one after the other. Exits with 1 when something is missing 30 s after the storm (60 s
without whole events), anything is doubled, memory reaches 600 MiB, or 95 of 100 answers of
`/health` take 200 ms. Linux only.
"""

import argparse
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from probing import Prober, cpu_seconds, machine, peak_mebibytes, stored_texts
from server import live_server
from server.live_server import LiveServer
from session_logs import WORDS, record, session_key, session_path

BARS = {"events": 30, "no-events": 60, "no-watches": 60, "few-watches": 60, "overflow": 60}
LIMITS = {"no-watches": ("max_inotify_instances", 0), "few-watches": ("max_inotify_watches", 16)}
MEBIBYTES, HEALTH_MS = 600, 200
PATIENCE = 180.0


def said(place: int, files: int) -> tuple[int, str, str]:
    """Session, id and words of one line of the storm."""
    number = place % files
    words = " ".join(WORDS[(place * 31 + step * 17) % len(WORDS)] for step in range(25))
    return number, f"{session_key(number)}-{place}", f"line {place}: {words}"


def append(logs: Path, place: int, files: int) -> None:
    number, uid, text = said(place, files)
    path = session_path(logs, number)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(record("user", uid, number, message={"role": "user", "content": text}))


def storm(logs: Path, options) -> float:
    """Append all lines, evenly over the seconds; how long it took."""
    began = time.monotonic()
    for place in range(options.files, options.files + options.lines):
        append(logs, place, options.files)
        ahead = (place - options.files) / options.lines * options.seconds
        if ahead > time.monotonic() - began + 0.005:
            time.sleep(0.005)
    return time.monotonic() - began


def limited_program(folder: Path, how: str) -> Path:
    """A program that starts the server in a user namespace with a limit of its own."""
    name, value = LIMITS[how]
    program = folder / "limited-cloxy"
    program.write_text(
        "#!/bin/sh\nexec unshare --user --map-root-user sh -c "
        f'\'echo {value} > /proc/sys/user/{name} && exec "$0" "$@"\' {live_server.PROGRAM} "$@"\n'
    )
    program.chmod(0o700)
    return program


def until_stored(server, wanted: int, began: float) -> float:
    """Wait until so many messages are stored; seconds since the beginning, or infinity."""
    while time.monotonic() - began < PATIENCE:
        if server.ask("GET", "/memory_stats")[1]["passages"] >= wanted:
            return time.monotonic() - began
        time.sleep(0.2)
    return float("inf")


def measure(how: str, options) -> bool:
    """One storm; whether every bar was held."""
    total = options.files + options.lines
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        server = LiveServer(
            folder, CLOXY_WATCH="1", CLOXY_WATCH_EVENTS="0" if how == "no-events" else "1"
        )
        usual = live_server.PROGRAM
        if how in LIMITS:
            live_server.PROGRAM = limited_program(folder, how)
        for place in range(options.files):
            append(server.logs, place, options.files)
        try:
            server.start()
            until_stored(server, options.files, time.monotonic())
            time.sleep(1.0)
            good = under_storm(server, how, options, total)
        finally:
            live_server.PROGRAM = usual
            server.stop(60)
        stored = stored_texts(server.data)
    lost = 0
    for place in range(total):
        number, uid, text = said(place, options.files)
        lost += stored.pop((session_key(number), uid), None) != text
    print(f"  lost or other: {lost}; never said: {len(stored)}; {machine()}", flush=True)
    return good and not lost and not stored


def under_storm(server, how: str, options, total: int) -> bool:
    used = cpu_seconds(server.process)
    before = server.ask("GET", "/ingest_status")[1]
    if how == "overflow":
        os.kill(server.process.pid, signal.SIGSTOP)
        took = storm(server.logs, options)
        os.kill(server.process.pid, signal.SIGCONT)
        prober = Prober(server)
        with prober:
            after = until_stored(server, total, time.monotonic())
    else:
        with Prober(server) as prober:
            took = storm(server.logs, options)
            after = until_stored(server, total, time.monotonic())
    status = server.ask("GET", "/ingest_status")[1]
    peak = peak_mebibytes(server.process)
    print(
        f"{how}: {options.lines} lines in {took:.1f} s; all stored {after:.1f} s after; events "
        f"{before['events']}; {status['scans'] - before['scans']} passes; processor "
        f"{cpu_seconds(server.process) - used:.1f} s, peak {peak:.0f} MiB"
    )
    for line in prober.lines():
        print(f"  {line}")
    return (
        after <= BARS[how]
        and peak < MEBIBYTES
        and prober.p95("/health") < HEALTH_MS
        and not prober.refused
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=500)
    parser.add_argument("--lines", type=int, default=50_000)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--how", choices=BARS, help="by default all, one after the other")
    options = parser.parse_args()
    print(machine())
    results = {how: measure(how, options) for how in ([options.how] if options.how else BARS)}
    missed = [how for how, good in results.items() if not good]
    print(f"a bar is missed: {', '.join(missed)}" if missed else "every bar is held")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
