"""The data directory goes away, or turns read-only, under the real server that watches.

    python benchmarks/directory_lost.py [--seconds N]

moves the directory away (then, where `chattr` works, makes the database immutable) for N seconds
while lines are appended to a watched session. Prints the share of one CPU that the server took
(bar: 5%), and the seconds from the end of the fault until a line appended during it is recalled
(bar: 10 s).
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from server.live_server import LiveServer, line, write_session

PATIENCE = 120.0


def cpu_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def recalled(server, word: str) -> bool:
    status, body = server.ask("POST", "/recall", {"query": word, "top_k": 1})
    return status == 200 and bool(body["results"])


def until(condition) -> float:
    began = time.monotonic()
    while not condition():
        if time.monotonic() - began > PATIENCE:
            raise SystemExit(f"not within {PATIENCE} s")
        time.sleep(0.1)
    return time.monotonic() - began


def measure(server, name: str, begin, end, seconds: float) -> bool:
    word = f"zebra{name[:4]}lantern"
    begin()
    began, before = time.monotonic(), cpu_seconds(server.process.pid)
    while time.monotonic() - began < seconds:
        count = int(time.monotonic() * 1000)
        write_session(server.logs, "s-live", line(f"{name}-{count}", f"we chose {word} {count}"))
        time.sleep(2)
    used = (cpu_seconds(server.process.pid) - before) / (time.monotonic() - began)
    told = server.ask("GET", "/health")[1]
    end()
    back = until(lambda: recalled(server, word))
    said = [told["cause"], *(w for w in told["warnings"] if str(server.data) in w)]
    print(f"{name}: CPU {used:.1%}, recovered after {back:.1f} s; status said: {said}")
    return used < 0.05 and back < 10


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=30.0)
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as scratch,
        LiveServer(Path(scratch), CLOXY_WATCH="1") as server,
    ):
        write_session(server.logs, "s-live", line("u-0", "before it"))
        until(lambda: recalled(server, "before"))
        away = server.data.with_name("away")
        # Not the memory map beside them: a first write to that would be a signal, not an error.
        files = [server.data / "memory.db", server.data / "memory.db-wal"]
        good = measure(
            server,
            "moved away",
            lambda: server.data.rename(away),
            lambda: away.rename(server.data),
            options.seconds,
        )
        if subprocess.run(["chattr", "+i", *files], capture_output=True).returncode == 0:
            free = ["chattr", "-i", *files]
            good &= measure(
                server, "read-only", lambda: None, lambda: subprocess.run(free), options.seconds
            )
            subprocess.run(free)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
