"""Guards and fetchers: who may be asked, and what comes of asking."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from cloxy_core.testing.conformance.base import CreatedConformance
from cloxy_core.testing.harness import App
from cloxy_hookspecs import (
    BlockedURLError,
    Fetcher,
    FetcherProvider,
    FetchError,
    FetchTimeoutError,
    Guard,
    HopRequest,
    HopResponse,
    Network,
    Target,
)
from cloxy_hookspecs.seats import FETCHERS, GUARDS

PUBLIC = "93.184.215.14"
NAME = "harbour.example"
TARGETS: Sequence[Target] = (
    Target(f"http://{NAME}/", "http", NAME, 80, ()),
    Target(f"http://{NAME}/", "http", NAME, 80, (PUBLIC,)),
    Target(f"https://{NAME}:8443/a?b", "https", NAME, 8443, (PUBLIC, "2606:2800::1")),
    Target("http://127.0.0.1/", "http", "127.0.0.1", 80, ("127.0.0.1",)),
    Target("http://[::1]:9000/", "http", "::1", 9000, ("::1",)),
    Target(f"http://{NAME}/", "http", NAME, 80, ("10.0.0.1", PUBLIC)),
    Target(f"http://{NAME}/", "http", NAME, 80, ("fe80::1%eth0",)),
    Target(f"http://{NAME}/", "http", NAME, 80, ("169.254.169.254",)),
    Target(f"http://{NAME}/", "http", NAME, 80, ("no address",)),
    Target("http://intranet/", "http", "intranet", 1, ()),
)
INSIDE: Sequence[tuple[str, ...]] = (("127.0.0.1",), ("10.0.0.1",), ("192.168.1.1", PUBLIC))
TEXT = b"the crane is old"
LARGE = 300_000
PATIENCE = 30.0


class _LookedUpError(AssertionError):
    """A name was looked up."""


class _Offline(CreatedConformance, of_the_kit=True):
    """What neither a guard nor a fetcher does."""

    @pytest.fixture
    def no_lookups(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Names of the web cannot be looked up."""
        real = socket.getaddrinfo

        def lookup(host: Any, *arguments: Any, **more: Any) -> Any:  # noqa: ANN401 - as it is
            if host is not None and NAME in str(host):
                raise _LookedUpError(f"{host!r} was looked up; the addresses are in the target")
            return real(host, *arguments, **more)

        monkeypatch.setattr(socket, "getaddrinfo", lookup)


class GuardConformance(_Offline, of_the_kit=True):
    """A guard; it is asked about targets of many kinds, with and without addresses."""

    seat = GUARDS

    def use(self, made: Guard, app: App) -> None:
        """Ask about one target."""
        del app
        _verdict(made, TARGETS[0])

    @pytest.mark.usefixtures("no_lookups")
    def test_it_says_nothing_or_refuses(self, made: Guard) -> None:
        """Whatever the target is; it neither fails nor looks anything up."""
        for target in TARGETS:
            _verdict(made, target)

    def test_it_says_the_same_again(self, made: Guard) -> None:
        """A page of the cache is judged like one of the network."""
        assert [_verdict(made, target) for target in TARGETS] == [
            _verdict(made, target) for target in TARGETS
        ]

    def test_refusal_does_not_tell_what_is_there(self, made: Guard) -> None:
        """Who asks must not learn what a name stands for inside."""
        told = set()
        for addresses in INSIDE:
            verdict = _verdict(made, Target(f"http://{NAME}/", "http", NAME, 80, addresses))
            if verdict:
                told.add(verdict)
                assert not any(address in verdict for address in addresses)
        assert len(told) <= 1, "use the same words whatever the addresses are"

    def test_policy_is_a_text_that_stays(self, made: Guard) -> None:
        """Pages are kept under it: one that changes by itself keeps none."""
        policy = made.policy
        assert isinstance(policy, str)
        for target in TARGETS:
            _verdict(made, target)
        assert made.policy == policy


def _verdict(guard: Guard, target: Target) -> str:
    """The words of a refusal; empty for none."""
    try:
        # As a plugin has it, which need not be type-checked.
        answer = cast("Callable[[Target], object]", guard.check)(target)
    except BlockedURLError as error:
        assert error.message.strip(), "say that it may not be read"
        return str(error)
    assert answer is None, "refuse by raising BlockedURLError; what is returned is not looked at"
    return ""


@dataclass
class LocalNetwork:
    """Every address leads to one server of this machine.

    Attributes:
        port: the server's; None while there is none.
        dialled: addresses and ports that a connection was asked for.
    """

    port: int | None = None
    dialled: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """Never: a fetcher is given addresses."""
        raise _LookedUpError(f"{host}:{port} was looked up; the addresses are in the target")

    def route(self, address: str, port: int) -> tuple[str, int]:
        """To the server."""
        self.dialled.append((address, port))
        assert self.port is not None, "no connection is made before there is a request"
        return "127.0.0.1", self.port

    def own_networks(self) -> Sequence[str]:
        """None."""
        return ()

    def own_port(self) -> int | None:
        """None."""
        return None


Answer = Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]


class FetcherConformance(_Offline, of_the_kit=True):
    """A fetcher; one for http asks servers of the kit that answer in many ways."""

    seat = FETCHERS

    @pytest.fixture
    def network(self) -> Network:
        """Every address leads to the kit's server."""
        return LocalNetwork()

    def use(self, made: Fetcher, app: App) -> None:
        """Ask nobody: there is no server."""
        del made, app

    @pytest.fixture
    def is_http(self, provider: FetcherProvider) -> None:
        """The kit has servers for http alone."""
        if provider.scheme != "http":
            pytest.skip("the kit has no server for this scheme")

    @pytest.mark.usefixtures("is_http", "no_lookups")
    def test_it_gives_the_answer(self, made: Fetcher, app: App, network: LocalNetwork) -> None:
        """Status, headers in lower case, body; asked for at an address that was vetted."""
        heads: list[bytes] = []
        response = _ask(made, app, network, _says(_plain(TEXT, "X-Port: 80", "X-Port: 81")), heads)
        assert (response.status, response.body, response.truncated) == (200, TEXT, False)
        assert response.headers["content-type"] == "text/plain"
        assert response.headers["x-port"] == "80", "the first of repeated headers"
        assert network.dialled == [(PUBLIC, 80)]
        assert f"host: {NAME}\r\n".encode() in heads[0].lower()
        assert heads[0].startswith(b"GET /a;b?c=d HTTP/1."), "the address as it was vetted"

    @pytest.mark.usefixtures("is_http")
    def test_it_sends_the_headers_and_nothing_of_before(
        self, made: Fetcher, app: App, network: LocalNetwork
    ) -> None:
        """Neither cookies nor credentials are kept from one request to the next."""
        heads: list[bytes] = []
        answer = _says(_plain(TEXT, "Set-Cookie: sid=1"))
        for _turn in range(2):
            _ask(made, app, network, answer, heads)
        assert len(heads) == 2
        for head in heads:
            assert b"x-harbour: yes" in head.lower()
            assert b"cookie" not in head.lower()

    @pytest.mark.usefixtures("is_http")
    def test_it_follows_nothing(self, made: Fetcher, app: App, network: LocalNetwork) -> None:
        """Where an answer leads is judged before anybody goes there."""
        heads: list[bytes] = []
        redirect = b"HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 4\r\n\r\nbody"
        response = _ask(made, app, network, _says(redirect), heads)
        assert (response.status, response.headers["location"]) == (302, "/b")
        assert response.body == b"", "the body of a redirect is nobody's page"
        assert len(heads) == 1

    @pytest.mark.usefixtures("is_http")
    def test_it_cuts_what_is_too_long(self, made: Fetcher, app: App, network: LocalNetwork) -> None:
        """A body has no more bytes than the request says, and the answer tells that it was cut."""
        response = _ask(made, app, network, _says(_plain(bytes(LARGE))), most=1_000)
        assert (len(response.body), response.truncated) == (1_000, True)
        whole = _ask(made, app, network, _says(_plain(bytes(1_000))), most=1_000)
        assert (len(whole.body), whole.truncated) == (1_000, False)

    @pytest.mark.usefixtures("is_http")
    def test_it_ends_in_time(self, made: Fetcher, app: App, network: LocalNetwork) -> None:
        """Also when a server says nothing, or a little now and then."""

        async def drips(_head: bytes, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
            while True:
                writer.write(b"a")
                await writer.drain()
                await asyncio.sleep(0.02)

        async def silence(_head: bytes, _writer: asyncio.StreamWriter) -> None:
            await asyncio.Event().wait()

        for answer in (silence, drips):
            with pytest.raises(FetchTimeoutError):
                _ask(made, app, network, answer, seconds=0.4)

    @pytest.mark.usefixtures("is_http")
    def test_what_is_no_answer_is_its_error(
        self, made: Fetcher, app: App, network: LocalNetwork
    ) -> None:
        """Nothing but FetchError, whatever a server sends."""
        for data in (b"", b"SSH-2.0-x\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\na"):
            with pytest.raises(FetchError):
                _ask(made, app, network, _says(data))


def _plain(body: bytes, *headers: str) -> bytes:
    lines = ["HTTP/1.1 200 OK", "Content-Type: text/plain", f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, *headers, "", ""]).encode() + body


def _says(data: bytes) -> Answer:
    async def answer(_head: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(data)

    return answer


def _ask(
    made: Fetcher,
    app: App,
    network: LocalNetwork,
    answer: Answer,
    heads: list[bytes] | None = None,
    *,
    most: int = 500_000,
    seconds: float = 10.0,
) -> HopResponse:
    """One request to a server that is there for as long as it takes."""
    target = Target(f"http://{NAME}/a;b?c=d", "http", NAME, 80, (PUBLIC,))
    headers: Mapping[str, str] = {"x-harbour": "yes"}
    request = HopRequest(target, headers, seconds, most)
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
                head = await reader.readuntil(b"\r\n\r\n")
                if heads is not None:
                    heads.append(head)
                await answer(head, writer)
                await writer.drain()
        finally:
            writer.close()

    async def exchange() -> HopResponse:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        network.port = server.sockets[0].getsockname()[1]
        try:
            # A fetcher that never ends fails, too.
            return await asyncio.wait_for(made.fetch(request), PATIENCE)
        finally:
            server.close()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    return app.do(exchange())
