"""What starting costs: processor time of the program's commands against that of an empty Python.

    python benchmarks/startup.py [--times 7]

asks for the version and the help, starts the server on an empty data directory until `/health`
answers, and asks it a question from the command line. Prints medians of processor seconds, of which
`python -c pass` is the reference of this machine at this moment. Linux only.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from probing import cpu_seconds, machine
from server.live_server import PROGRAM, LiveServer, line, write_session


def children_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def command_seconds(command, environment=None):
    began = children_seconds()
    subprocess.run(
        command, env={**os.environ, **(environment or {})}, check=True, capture_output=True
    )
    return children_seconds() - began


def health_seconds():
    with tempfile.TemporaryDirectory() as scratch, LiveServer(Path(scratch)) as server:
        return cpu_seconds(server.process)


def recall_seconds(times):
    with tempfile.TemporaryDirectory() as scratch, LiveServer(Path(scratch)) as server:
        write_session(server.logs, "s-one", line("m1", "the ledger is closed on Fridays"))
        status, said = server.ask("POST", "/ingest_convos", {})
        assert status == 200, said
        command = [PROGRAM, "recall", "when is the ledger closed"]
        client = {"CLOXY_URL": server.url, "CLOXY_DATA_DIR": str(server.data)}
        return [command_seconds(command, client) for _ in range(times)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=7)
    times = parser.parse_args().times
    print(machine())
    empty = [command_seconds([sys.executable, "-c", "pass"]) for _ in range(times)]
    figures = {
        "python -c pass": empty,
        "cloxy --version": [command_seconds([PROGRAM, "--version"]) for _ in range(times)],
        "cloxy --help": [command_seconds([PROGRAM, "--help"]) for _ in range(times)],
        "cloxy recall": recall_seconds(times),
        "cloxy start, to /health": [health_seconds() for _ in range(times)],
    }
    for name, seconds in figures.items():
        ratio = statistics.median(seconds) / statistics.median(empty)
        print(f"{name:24s} {statistics.median(seconds):.3f} s, ratio {ratio:.1f}")


if __name__ == "__main__":
    main()
