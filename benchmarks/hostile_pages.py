"""What `/health` and `/recall` take while hostile pages hold every process that reads pages.

    python benchmarks/hostile_pages.py [--passages 10000] [--seconds 20]

One process has the server's application, a store of generated conversations, and both sides: who
asks, and who has pages read that a parser is not done with in any time. Quiet and busy stretches
take turns, so that what else this machine does is in both.
"""

import argparse
import asyncio
import logging
import random
import statistics
import tempfile
import time
from collections import Counter
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
from latency import open_engine, write
from probing import KNOWN_WORDS, machine, percentile
from session_logs import WORDS

from cloxy_core.services.web.extraction import PROCESSES, Extraction
from cloxy_core.surfaces.http.app import create_app
from cloxy_hookspecs import CloxyError, PageSource
from cloxy_plugins.web.plugin import cloxy_extractors, cloxy_sanitizers

PAGES = {
    "nested blocks": ("<div>" * 100_000, "clean", None),
    "nested lists": ("<ul><li>" * 62_500, "markdown", None),
    "attributes": ("<p " + " ".join(f"a{n}=b" for n in range(62_500)) + ">x", "clean", None),
    "a selector": (("<div>" * 300 + "x" + "</div>" * 300) * 60, "extract", ":has(* * * * zz)"),
}
WAITING = 2
STRETCHES = 6
PAUSE = 0.02
MOST_MORE = 50.0
PATHS = ("/health", "/recall")


async def nothing():
    return {}


def application(engine):
    @asynccontextmanager
    async def lifespan(_app):
        yield

    return create_app(engine.operations, nothing, lifespan)


async def asked(client, path, until, seconds):
    """Ask one path again and again, and note how long each answer takes."""
    chooser = random.Random(7)
    while time.monotonic() < until:
        words = " ".join(chooser.choices(WORDS[:KNOWN_WORDS], k=4))
        began = time.perf_counter()
        if path == "/health":
            answer = await client.get(path)
        else:
            answer = await client.post(path, json={"query": words, "top_k": 5})
        seconds.append(time.perf_counter() - began)
        answer.raise_for_status()
        await asyncio.sleep(PAUSE)


async def read_pages(extraction, number, until, ends):
    """Have hostile pages read, one after the other."""
    pages = list(PAGES.values())
    while time.monotonic() < until:
        text, mode, selector = pages[number % len(pages)]
        number += 1
        began = time.perf_counter()
        try:
            await extraction.extract(
                PageSource("https://a.example/", "text/html", text), mode, selector
            )
            ends["read"] += 1
        except CloxyError as error:
            ends[type(error).__name__] += 1
        ends["longest"] = max(ends["longest"], time.perf_counter() - began)


async def stretch(client, seconds, found, extraction=None, ends=None):
    until = time.monotonic() + seconds
    async with asyncio.TaskGroup() as group:
        for path in PATHS:
            group.create_task(asked(client, path, until, found[path]))
        for number in range(PROCESSES + WAITING if extraction else 0):
            group.create_task(read_pages(extraction, number, until, ends))


async def run(passages, seconds):
    quiet, busy = ({path: [] for path in PATHS} for _ in range(2))
    ends = Counter()
    with tempfile.TemporaryDirectory(prefix="cloxy-hostile-") as scratch:
        engine = open_engine(Path(scratch), CLOXY_EMBED_PROVIDER="none")
        await engine.start()
        await write(engine, 0, passages)
        extraction = Extraction(
            list(cloxy_sanitizers()), list(cloxy_extractors()), logging.getLogger("bench")
        )
        transport = httpx2.ASGITransport(app=application(engine))
        async with httpx2.AsyncClient(transport=transport, base_url="http://bench") as client:
            await stretch(client, 1.0, {path: [] for path in PATHS})
            for _ in range(STRETCHES):
                await stretch(client, seconds / STRETCHES, quiet)
                await stretch(client, seconds / STRETCHES, busy, extraction, ends)
        await extraction.aclose()
        await engine.close()
    return quiet, busy, ends


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--passages", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=20.0)
    options = parser.parse_args()
    logging.getLogger("bench").setLevel(logging.CRITICAL)
    print(machine())
    quiet, busy, ends = asyncio.run(run(options.passages, options.seconds))
    failed = False
    for path in PATHS:
        alone, held = percentile(quiet[path], 95), percentile(busy[path], 95)
        ratio = statistics.median(busy[path]) / statistics.median(quiet[path])
        failed = failed or held - alone > MOST_MORE
        print(
            f"{path}: p95 {alone:.1f} ms quiet, {held:.1f} ms held, {held - alone:+.1f} ms "
            f"(at most {MOST_MORE:+.0f}); ratio of p95 {held / alone:.2f}, of medians {ratio:.2f}; "
            f"n {len(quiet[path])} and {len(busy[path])}"
        )
    longest = ends.pop("longest", 0.0)
    told = ", ".join(f"{name} {count}" for name, count in sorted(ends.items()))
    print(f"pages: {told}; the longest answer after {longest:.2f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
