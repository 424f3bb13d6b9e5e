"""What `/health` and `/recall` take while faulty sites are fetched through the running server.

    python benchmarks/slow_sites.py [--passages 10000] [--seconds 60] [--deadline 3]

Three processes: the server, on a store of generated conversations; the sites, and who has them
fetched without pause; and who asks and looks at the clock. The server is the
product's but for names, which a table leads to the sites. Quiet and busy stretches take turns, so
that what else this machine does is in both.
"""

import argparse
import asyncio
import gzip
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path

import httpx2

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from latency import open_engine, write
from probing import Prober, machine, percentile
from server.live_server import LiveServer

SERVED = Path(__file__).parents[1] / "tests" / "web" / "doors" / "served.py"
SITES = "sites"
STRETCHES = 4
MOST_MORE = 50.0
PATHS = ("/health", "/recall")
START = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
CHUNKED = START + b"Transfer-Encoding: chunked\r\n\r\n"
HOP_SECONDS = 0.8
BOMB = gzip.compress(bytes(64 << 20))


def says(*pieces, again=b"", pause=0.0):
    """A site that sends pieces, and then one of them for ever if it is given."""

    async def answer(_path, writer):
        writer.writelines(pieces)
        await writer.drain()
        while again:
            writer.write(again)
            await writer.drain()
            await asyncio.sleep(pause)

    return answer


def stalls(*pieces):
    """A site that sends pieces, and then nothing, for ever."""

    async def answer(_path, writer):
        writer.writelines(pieces)
        await asyncio.Event().wait()

    return answer


async def leads_on(path, writer):
    """A chain of redirects, each of them slow."""
    await asyncio.sleep(HOP_SECONDS)
    writer.write(f"HTTP/1.1 302 Found\r\nLocation: {path}/on\r\nContent-Length: 0\r\n\r\n".encode())


SLOW = {
    "dripping body": says(START, b"Content-Length: 1000000\r\n\r\n", again=b"a", pause=0.05),
    "dripping headers": says(START, again=b"X-A: a\r\n", pause=0.05),
    "dripping hints": says(again=b"HTTP/1.1 103 Early Hints\r\n\r\n", pause=0.05),
    "silence": stalls(),
    "stalled handshake": stalls(),
    "stalled body": stalls(START, b"Content-Length: 1000000\r\n\r\n", b"a" * 400_000),
    "slow redirects": leads_on,
}
LOUD = {
    "endless body": says(START, b"\r\n", again=b"word " * 2_000),
    "chunks of one byte": says(CHUNKED, again=b"1\r\na\r\n" * 2_000),
    "endless chunk extension": says(CHUNKED, b"1;", again=b"a" * 10_000),
    "huge header": says(START, b"X-A: ", again=b"a" * 10_000),
    "headers without number": says(START, again=b"X-A: a\r\n" * 1_000),
    "body shorter than told": says(START, b"Content-Length: 1000\r\n\r\n0123456789"),
    "two lengths": says(START, b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n123456"),
    "bomb": says(START, b"Content-Encoding: gzip\r\n\r\n", BOMB),
}
FAULTS = SLOW | LOUD
ROUNDS = (SLOW, LOUD)
"""Taken in turns: the slow ones would hold all places, and keep the others out."""


async def opened(answer, *, reads=True):
    """A site; its port."""
    held = set()

    async def serve(reader, writer):
        held.add(asyncio.current_task())
        try:
            head = await reader.readuntil(b"\r\n\r\n") if reads else b"- /"
            await answer(head.split()[1].decode(), writer)
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            held.discard(asyncio.current_task())
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    return server.sockets[0].getsockname()[1]


async def fetch(client, number, numbers, ends, name, goes):
    """Have a site's pages fetched, one after the other, as long as it goes."""
    scheme = "https" if name == "stalled handshake" else "http"
    while goes.is_set():
        url = f"{scheme}://site{number}.test/{next(numbers)}"
        answer = await client.post("/fetch", json={"url": url})
        code = "read" if answer.status_code == 200 else answer.json()["error"]["code"]
        ends[name, code] += 1
        if code == "fetch_busy":
            await asyncio.sleep(0.2)


async def run_sites(only):
    """Open the sites and tell their ports; then begin and end fetching as the input says."""
    ports = [
        await opened(answer, reads=name != "stalled handshake") for name, answer in FAULTS.items()
    ]
    print(json.dumps(ports), flush=True)
    # They would be on other machines; this one should not be measured by what they take of it.
    os.nice(10)
    loop, goes, ends = asyncio.get_running_loop(), asyncio.Event(), Counter()
    numbers = itertools.count()
    loop.set_exception_handler(lambda *_: None)  # connections end as they please here
    url = await loop.run_in_executor(None, sys.stdin.readline)
    places = list(FAULTS)
    rounds = itertools.cycle([only.split(",")] if only else ROUNDS)
    async with httpx2.AsyncClient(base_url=url.strip(), timeout=60.0) as client:
        while (await loop.run_in_executor(None, sys.stdin.readline)).strip() == "begin":
            goes.set()
            async with asyncio.TaskGroup() as group:
                for name in next(rounds):
                    group.create_task(fetch(client, places.index(name), numbers, ends, name, goes))
                await loop.run_in_executor(None, sys.stdin.readline)
                goes.clear()
            print("ended", flush=True)
    print(json.dumps([[name, code, count] for (name, code), count in sorted(ends.items())]))


class Sites:
    """The process of the sites."""

    def __init__(self, only):
        self._process = subprocess.Popen(
            [sys.executable, __file__, SITES, only],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.ports = json.loads(self._process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *_exception):
        self._process.kill()
        self._process.wait()

    def tell(self, words):
        self._process.stdin.write(f"{words}\n")
        self._process.stdin.flush()

    def heard(self):
        return self._process.stdout.readline()


class Server(LiveServer):
    """The server, with names from a table."""

    def __init__(self, folder, ports, **settings):
        super().__init__(folder, CLOXY_EMBED_PROVIDER="none", **settings)
        addresses = [f"93.184.215.{20 + number}" for number in range(len(ports))]
        names = {f"site{number}.test": [address] for number, address in enumerate(addresses)}
        routes = dict(zip(addresses, ports, strict=True))
        self._table = folder / "names.json"
        self._table.write_text(
            json.dumps({"names": names, "routes": routes, "victim": 9, "own": ["127.0.0.1/8"]})
        )

    def start(self, *_arguments):
        with self.errors.open("wb") as errors:
            self.process = subprocess.Popen(
                [sys.executable, SERVED, self._table], env={**os.environ, **self.settings},
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors,
            )  # fmt: skip
        self.url = self._wait_for_url()
        return self


async def fill(folder, passages):
    engine = open_engine(folder, CLOXY_EMBED_PROVIDER="none")
    await engine.start()
    await write(engine, 0, passages)
    await engine.close()


def stretch(server, seconds, found):
    with Prober(server) as prober:
        threading.Event().wait(seconds)
    for path in PATHS:
        found[path] += prober.seconds[path]
    assert not prober.refused, prober.refused


def measured(options):
    quiet, busy = ({path: [] for path in PATHS} for _ in range(2))
    each = options.seconds / STRETCHES / 2
    with tempfile.TemporaryDirectory(prefix="cloxy-slow-") as scratch, Sites(options.only) as sites:
        folder = Path(scratch)
        asyncio.run(fill(folder / "data", options.passages))
        deadline = {"CLOXY_FETCH_DEADLINE": f"{options.deadline:g}"}
        with Server(folder, sites.ports, **deadline) as server:
            sites.tell(server.url)
            stretch(server, 1.0, {path: [] for path in PATHS})
            for _ in range(STRETCHES):
                stretch(server, each, quiet)
                sites.tell("begin")
                stretch(server, each, busy)
                sites.tell("end")
                sites.heard()
            sites.tell("done")
            return quiet, busy, json.loads(sites.heard())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--passages", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--deadline", type=float, default=3.0)
    parser.add_argument("--only", default="", help="names of faults, separated by commas")
    options = parser.parse_args()
    print(machine())
    quiet, busy, ends = measured(options)
    failed = False
    for path in PATHS:
        alone, held = percentile(quiet[path], 95), percentile(busy[path], 95)
        ratio = statistics.median(busy[path]) / statistics.median(quiet[path])
        failed = failed or held - alone > MOST_MORE
        print(
            f"{path}: p95 {alone:.1f} ms quiet, {held:.1f} ms while they are fetched, "
            f"{held - alone:+.1f} ms (at most {MOST_MORE:+.0f}); ratio of p95 {held / alone:.2f}, "
            f"of medians {ratio:.2f}; n {len(quiet[path])} and {len(busy[path])}"
        )
    for name in FAULTS:
        told = ", ".join(f"{code} {count}" for site, code, count in ends if site == name)
        print(f"{name}: {told}")
    return 1 if failed else 0


if __name__ == "__main__":
    if sys.argv[1:2] == [SITES]:
        asyncio.run(run_sites(sys.argv[2]))
    else:
        raise SystemExit(main())
