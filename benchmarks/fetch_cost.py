"""What do the guard and the vetted connection cost, over a plain request by the same library?

Both ask the same server on this machine, in turns, in one process. The plain client is used as most
people use it: made once, without keeping connections, so that both connect for each request. `cold`
makes a client for every request. The reader's pacing, its cache and making text are left out.

    python benchmarks/fetch_cost.py [--requests 400]
"""

import argparse
import asyncio
import time

import httpx2

from cloxy_core.services.web.address import parse
from cloxy_core.services.web.hops import Hops, Limits
from cloxy_plugins.web.fetcher import HttpFetcher, trusted
from cloxy_plugins.web.guard import PublicWeb

PUBLIC = "93.184.215.14"
PAGE = b"<!doctype html><title>A page</title>" + b"<p>Some words of a page.</p>\n" * 2_000
ANSWER = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n"
    b"Content-Length: %d\r\n\r\n" % len(PAGE)
) + PAGE
OWN = ["127.0.0.1/8", "::1/128", "192.168.7.20/24", "2a01:4f8:1:2::20/64"]


class Local:
    """One name, whose address leads to the server of this benchmark."""

    def __init__(self, port):
        self.port = port

    async def resolve(self, host, port):
        return [PUBLIC]

    def route(self, address, port):
        return "127.0.0.1", self.port

    def own_networks(self):
        return OWN

    def own_port(self):
        return 9055


class Free:
    """A turn is always there."""

    def host(self, name, *, breath=True):
        return asyncio.timeout(None)


async def serve(reader, writer):
    await reader.readuntil(b"\r\n\r\n")
    writer.write(ANSWER)
    await writer.drain()
    writer.close()


async def timed(work):
    """Milliseconds by the clock, and of the processor, the server's part included."""
    start, used = time.perf_counter(), time.process_time()
    size = await work()
    assert size == len(PAGE)
    return (time.perf_counter() - start) * 1_000, (time.process_time() - used) * 1_000


def judged(count):
    """Milliseconds for reading an address and judging it twice, as each hop does."""
    guard = PublicWeb(Local(0))
    hops = Hops(Local(0), [guard], {}, Free(), "x")

    async def run():
        start = time.perf_counter()
        for number in range(count):
            await hops.vetted(parse(f"https://harbour.example/{number}"))
        return (time.perf_counter() - start) * 1_000 / count

    return asyncio.run(run())


async def compare(count):
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    network = Local(port)
    hops = Hops(
        network, [PublicWeb(network)], {"http": HttpFetcher(network, 30, trusted)}, Free(), "x"
    )
    limits = Limits(60.0, 500_000)
    url = f"http://127.0.0.1:{port}/"
    times = {"plain": [], "cold": [], "vetted": []}
    keep = httpx2.Limits(max_keepalive_connections=0)
    context = trusted()
    async with httpx2.AsyncClient(limits=keep, trust_env=False, verify=context) as client:

        async def plain():
            return len((await client.get(url)).content)

        async def cold():
            async with httpx2.AsyncClient(trust_env=False, verify=context) as one:
                return len((await one.get(url)).content)

        async def vetted():
            found = await hops.follow(parse("http://harbour.example/"), {}, limits)
            return len(found.response.body)

        for number in range(count + 10):
            for name, work in (("plain", plain), ("cold", cold), ("vetted", vetted)):
                taken = await timed(work)
                if number >= 10:
                    times[name].append(taken)
    server.close()
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--requests", type=int, default=400)
    count = parser.parse_args().requests
    times = asyncio.run(compare(count))
    for number, kind in enumerate(("clock", "processor")):
        one = {name: sorted(pair[number] for pair in taken) for name, taken in times.items()}
        quick, middle = (
            {name: each[len(each) // n] for name, each in one.items()} for n in (10, 2)
        )
        for name, each in one.items():
            late = each[int(len(each) * 0.95)]
            print(
                f"{kind:9} {name:6} p10 {quick[name]:6.2f} ms   median {middle[name]:6.2f} ms   "
                f"p95 {late:6.2f} ms"
            )
        more = {
            name: each["vetted"] - each["plain"]
            for name, each in (("p10", quick), ("median", middle))
        }
        times_plain = middle["vetted"] / middle["plain"]
        told = ", ".join(f"{name} {each:+.2f} ms" for name, each in more.items())
        print(f"{kind:9} vetted - plain: {told} ({times_plain:.2f} times)")
    print(f"reading and judging an address {judged(2_000):.3f} ms")


if __name__ == "__main__":
    main()
