"""A web of our own: names from a table, servers on this machine, everything between them real."""

import asyncio
from contextlib import asynccontextmanager

from cloxy_core.services.web.reader import Rules, WebReader
from cloxy_hookspecs import Extracted, FetchError, HopRequest, HopResponse, Target
from cloxy_plugins.web.fetcher import HttpFetcher, trusted
from cloxy_plugins.web.guard import PublicWeb

PUBLIC = "93.184.215.14"
PUBLIC6 = "2606:2800:21f:cb07:6820:80da:af6b:8b2c"
OWN = ("127.0.0.1/8", "::1/128", "192.168.7.20/24", "2a01:4f8:1:2::20/64", "85.10.200.7/32")
OWN_PORT = 9055


class Names:
    """A network whose names are a table, and whose addresses lead to servers on this machine.

    A name has its addresses; a list of such lists is answered one after the other.
    """

    def __init__(self, names=(), *, routes=(), own=OWN, port=OWN_PORT):
        self.names, self.routes = dict(names), dict(routes)
        self.own, self.port = own, port
        self.looked_up, self.dialled = [], []

    async def resolve(self, host, port):
        self.looked_up.append(host)
        found = self.names.get(host, ())
        if found and not isinstance(found[0], str):
            found = found[min(self.looked_up.count(host), len(found)) - 1]
        if not found:
            raise FetchError(f"the name {host} has no address")
        return found

    def route(self, address, port):
        self.dialled.append((address, port))
        to = self.routes.get((address, port), self.routes.get(port, self.routes.get("any")))
        return ("127.0.0.1", 9) if to is None else ("127.0.0.1", to)

    def own_networks(self):
        return self.own

    def own_port(self):
        return self.port


class Clock:
    """A second of which the tests know."""

    def now_ms(self):
        return 1_700_000_000_000


class Plain:
    """Gives the text of a page as it is."""

    binary_types = frozenset()

    async def extract(self, source, mode, selector):
        return Extracted(f"{mode}:{source.text}"), {}

    async def aclose(self):
        pass


class Canned:
    """Answers from a table of addresses; notes what it was asked."""

    def __init__(self, answers=(), otherwise=None):
        self.answers = dict(answers)
        self.otherwise = otherwise or page("ok")
        self.asked = []

    async def fetch(self, request):
        self.asked.append(request)
        return self.answers.get(request.target.url, self.otherwise)

    @property
    def urls(self):
        return [request.target.url for request in self.asked]


def page(text, status=200, **headers):
    """An answer of text."""
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    return HopResponse(status, {"content-type": "text/plain"} | given, text.encode())


def leads_to(location, status=302):
    """A redirect."""
    return HopResponse(status, {"location": location}, b"")


def reader(network, fetcher, *, guards=None, extraction=None, **rules):
    """A reader of pages; the guard is the real one."""
    return WebReader(
        network,
        [PublicWeb(network)] if guards is None else guards,
        {"http": fetcher, "https": fetcher},
        extraction or Plain(),
        Rules(**({"user_agent": "Testing/1"} | rules)),
        Clock(),
    )


def fetcher(network, seconds=5.0, context=trusted):
    """The real fetcher."""
    return HttpFetcher(network, seconds, context)


def hop(url="http://good.test/", addresses=(PUBLIC,), *, seconds=10.0, most=500_000, **headers):
    """A request for one hop."""
    scheme, _, rest = url.partition("://")
    host, _, port = rest.partition("/")[0].partition(":")
    port = int(port or {"http": 80, "https": 443}[scheme])
    target = Target(url, scheme, host, port, tuple(addresses))
    return HopRequest(target, headers, seconds, most)


@asynccontextmanager
async def origin(answer, ssl=None):
    """A server on this machine: `answer(head, reader, writer)` for each request; gives its port.

    What it does at the end of a connection is its own business: the other side may be gone.
    """
    tasks = set()

    async def serve(reader, writer):
        task = asyncio.current_task()
        tasks.add(task)
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            await answer(head.decode("latin-1"), reader, writer)
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            tasks.discard(task)
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=ssl)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def says(data):
    """An origin's answer: these bytes."""

    async def answer(_head, _reader, writer):
        writer.write(data)

    return answer


def ok(body, *headers, status="200 OK"):
    """The bytes of an answer with a body."""
    lines = [f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(body)}", "", ""]
    return "\r\n".join(lines).encode("latin-1") + body
