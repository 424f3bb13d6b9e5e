"""What taking in costs: processor time against that of decoding the same lines.

    python benchmarks/ingest.py [--megabytes 60] [--files 200] [--embed-megabytes 2]

writes session logs, decodes every line with `json.loads` as the reference, and lets the real server
take the same files in without an embedder. Then a small part is taken in with the default embedder,
until every passage has its vector. Linux only.
"""

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from probing import cpu_seconds, machine, peak_mebibytes
from server.live_server import LiveServer
from session_logs import Corpus

SEED = 20_260_508
PATIENCE = 3600


def decoding_seconds(logs):
    """Processor seconds of `json.loads` over all lines."""
    began = time.process_time()
    for file in sorted(logs.rglob("*.jsonl")):
        with file.open("rb") as lines:
            for said in lines:
                json.loads(said)
    return time.process_time() - began


def is_filled(server):
    """Whether every passage has its vector, and is found by it."""
    said = server.ask("GET", "/memory_stats")[1]
    return said["total_memories"] and said["vector_index_size"] == said["keyword_index_size"]


def take_in(corpus, name, *, embed):
    """One run on a new data directory; processor seconds a message, and those of decoding."""
    settings = {} if embed else {"CLOXY_EMBED_PROVIDER": "none"}
    with (
        tempfile.TemporaryDirectory(prefix="cloxy-ingest-") as scratch,
        LiveServer(Path(scratch), **settings) as server,
    ):
        corpus.write(server.logs)
        decoding = decoding_seconds(server.logs)
        before = cpu_seconds(server.process)
        began = time.monotonic()
        status, said = server.ask("POST", "/ingest_convos", {})
        assert status == 200, said
        while embed and not is_filled(server):
            if time.monotonic() - began > PATIENCE:
                raise SystemExit(f"no vectors within {PATIENCE} s")
            time.sleep(0.5)
        used = cpu_seconds(server.process) - before
        messages = said["messages_added"]
        print(
            f"{name}: {messages} messages, {messages / used:.0f} a processor second, "
            f"{1000 * used / messages:.2f} ms each; peak {peak_mebibytes(server.process):.0f} MiB",
            flush=True,
        )
        return used / messages, decoding / messages


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=60)
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--embed-megabytes", type=int, default=2)
    options = parser.parse_args()
    print(machine())
    each = options.megabytes * 1_000_000 // options.files
    alone, decoding = take_in(Corpus(SEED, options.files, each), "by words alone", embed=False)
    few = max(1, options.embed_megabytes * 1_000_000 // each)
    with_vectors, _ = take_in(Corpus(SEED, few, each), "with vectors", embed=True)
    print(f"ratio of words alone to decoding the lines: {alone / decoding:.1f}")
    print(f"ratio of vectors to words alone: {(with_vectors - alone) / alone:.0f}")


if __name__ == "__main__":
    main()
