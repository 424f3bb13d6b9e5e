"""How long a line takes from the log to an answer.

    python benchmarks/line_to_recall.py [--samples N] [--files N]

starts the real server on a new data directory with some sessions watched, appends one line after
the other (every third one to a new file, every ninth to a new folder), and asks `/recall` for the
word in it until it is found. Prints seconds, and the same for a bare question as the reference of
this machine at this moment.
"""

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from server.live_server import LiveServer, line

PATIENCE = 30.0


def until_found(server, word: str) -> float:
    began = time.perf_counter()
    while time.perf_counter() - began < PATIENCE:
        if server.ask("POST", "/recall", {"query": word, "top_k": 1})[1]["results"]:
            return time.perf_counter() - began
        time.sleep(0.005)
    raise SystemExit(f"{word} was not found within {PATIENCE} s")


def target(server, number: int) -> Path:
    folder = server.logs / ("-srv-demo-shop" if number % 9 else f"-srv-demo-new-{number}")
    folder.mkdir(exist_ok=True)
    return folder / ("s-live.jsonl" if number % 3 else f"s-{number}.jsonl")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=30)
    parser.add_argument("--files", type=int, default=200)
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as scratch,
        LiveServer(Path(scratch), CLOXY_WATCH="1") as server,
    ):
        folder = server.logs / "-srv-demo-shop"
        folder.mkdir()
        for number in range(options.files):
            key = f"s-old-{number}"
            (folder / f"{key}.jsonl").write_text(
                line(f"{key}-1", f"old words {number}", session=key)
            )
        until_found(server, f"words {options.files - 1}")
        times = []
        for number in range(1, options.samples + 1):
            word = f"zebra{number}lantern"
            with target(server, number).open("a") as file:
                file.write(line(f"live-{number}", f"we chose {word} today", session=file.name))
            times.append(until_found(server, word))
            time.sleep(0.3)
        bare = [until_found(server, "words") for _ in range(options.samples)]
    for name, values in (("line to recall", times), ("a question alone", bare)):
        print(
            f"{name}: median {statistics.median(values):.3f} s, worst {max(values):.3f} s, "
            f"n {len(values)}"
        )
    print(f"ratio of medians: {statistics.median(times) / statistics.median(bare):.1f}")
    return 0 if max(times) < 1.0 else 1


if __name__ == "__main__":
    sys.exit(main())
