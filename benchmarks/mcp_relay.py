"""What a `cloxy mcp` costs: resident memory, and the time until `initialize` is answered.

    python benchmarks/mcp_relay.py [--times 10] [--children 20]

measures, against an empty Python in the same run: an idle child (resident and own memory), the time
from spawning a child to its answer with a warm server, the same with no server at all (the child
starts one), and many children at once with no server. Linux only.
"""

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from probing import machine
from server.live_server import PROGRAM, LiveServer

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "benchmark", "version": "1"},
    },
}


@contextmanager
def child(environment):
    process = subprocess.Popen(
        [PROGRAM, "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **environment},
    )
    try:
        yield process
    finally:
        process.stdin.close()
        process.wait(20)


def greet(process):
    process.stdin.write(json.dumps(HELLO).encode() + b"\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())["result"]["serverInfo"]["name"]


def answer_seconds(environment):
    began = time.perf_counter()
    with child(environment) as process:
        assert greet(process) == "cloxy"
        return time.perf_counter() - began


def empty_seconds():
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    return time.perf_counter() - began


def memory(process):
    """Resident memory, and the part that no other process shares, in MB."""
    lines = Path(f"/proc/{process.pid}/smaps_rollup").read_text().splitlines()
    sizes = {line.split(":")[0]: int(line.split()[1]) for line in lines[1:]}
    return sizes["Rss"] / 1024, sizes["Pss"] / 1024


def free_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


@contextmanager
def nobody_there():
    """The environment of a fresh data directory without a server; what was started is stopped."""
    with tempfile.TemporaryDirectory() as scratch:
        environment = {
            "HOME": scratch,
            "CLOXY_DATA_DIR": f"{scratch}/data",
            "CLOXY_PORT": str(free_port()),
            "CLOXY_WATCH": "0",
        }
        try:
            yield environment
        finally:
            subprocess.run(
                [PROGRAM, "stop"], env={**os.environ, **environment}, capture_output=True
            )


def many_seconds(count):
    """Seconds until all of many children have answers, with no server before, and their memory."""
    with nobody_there() as environment, ExitStack() as children:
        began = time.perf_counter()
        opened = [children.enter_context(child(environment)) for _ in range(count)]
        for process in opened:
            process.stdin.write(json.dumps(HELLO).encode() + b"\n")
            process.stdin.flush()
        for process in opened:
            assert json.loads(process.stdout.readline())["result"]
        seconds = time.perf_counter() - began
        return seconds, sum(memory(process)[0] for process in opened)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--children", type=int, default=20)
    given = parser.parse_args()
    print(machine())
    empty = statistics.median(empty_seconds() for _ in range(given.times))
    print(f"python -c pass: {empty:.3f} s")
    with tempfile.TemporaryDirectory() as scratch, LiveServer(Path(scratch)) as server:
        environment = {"CLOXY_URL": server.url, "CLOXY_DATA_DIR": str(server.data)}
        answer_seconds(environment)
        warm = [answer_seconds(environment) for _ in range(given.times)]
        with child(environment) as process:
            greet(process)
            resident, own = memory(process)
    print(f"idle child: {resident:.1f} MB resident, {own:.1f} MB of its own share")
    median = statistics.median(warm)
    print(
        f"initialize, warm server: median {median:.3f} s, slowest {max(warm):.3f} s, "
        f"{median / empty:.1f} times an empty Python"
    )
    with nobody_there() as environment:
        print(f"initialize, no server: {answer_seconds(environment):.2f} s (the server is started)")
    slowest, together = many_seconds(given.children)
    print(
        f"{given.children} children at once, no server: the last answer after {slowest:.2f} s, "
        f"{together:.0f} MB resident together"
    )


if __name__ == "__main__":
    main()
