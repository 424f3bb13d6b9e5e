"""What is sent, to whom, and over which connection."""

import asyncio
import http.server
import threading

import pytest
from web.world import (
    PUBLIC,
    PUBLIC6,
    Canned,
    Names,
    fetcher,
    hop,
    leads_to,
    ok,
    origin,
    page,
    reader,
    says,
)

from cloxy_hookspecs import (
    FetchError,
    InputError,
    ReadRequest,
    TooManyRedirectsError,
)
from cloxy_plugins.web import backend

TABLE = {"good.test": [PUBLIC], "other.test": ["9.9.9.9"], "both.test": [PUBLIC, "9.9.9.9"]}


def asked(url="http://good.test/", **headers):
    """The head of the request that a server gets."""
    heads = []

    async def answer(head, _reader, writer):
        heads.append(head)
        writer.write(ok(b"x"))

    async def run():
        async with origin(answer) as port:
            await fetcher(Names(routes={"any": port})).fetch(hop(url, **headers))

    asyncio.run(run())
    (head,) = heads
    first, *lines = head.split("\r\n")
    return first, dict(line.split(": ", 1) for line in lines if line)


def test_request_is_plain():
    first, headers = asked("http://good.test:8080/a;b=1?c=d&e=%20", **{"user-agent": "Testing/1"})
    assert first == "GET /a;b=1?c=d&e=%20 HTTP/1.1"
    assert headers.pop("accept").startswith("text/html")
    assert headers == {
        "host": "good.test:8080",
        "accept-encoding": "gzip",
        "user-agent": "Testing/1",
        "connection": "close",
    }


@pytest.mark.parametrize(
    ("url", "first"),
    [
        ("http://good.test/?", "GET /? HTTP/1.1"),
        ("http://good.test/a;", "GET /a; HTTP/1.1"),
        ("http://good.test//a//", "GET //a// HTTP/1.1"),
        ("http://good.test/?q=a/b", "GET /?q=a/b HTTP/1.1"),
        ("http://good.test/../a/./b", "GET /../a/./b HTTP/1.1"),
    ],
)
def test_path_is_sent_as_it_was_judged(url, first):
    assert asked(url)[0] == first


def test_headers_of_the_asker_are_sent_and_may_say_what_is_wanted():
    headers = asked(accept="text/markdown", cookie="a=b")[1]
    assert (headers["accept"], headers["cookie"]) == ("text/markdown", "a=b")


def test_connection_is_made_to_the_vetted_addresses_in_order_and_to_few_of_them():
    addresses = [f"151.101.0.{number}" for number in range(1, 40)]
    names = Names(routes={("151.101.0.1", 80): 9, ("151.101.0.2", 80): 9})

    async def run():
        async with origin(says(ok(b"x"))) as port:
            names.routes[("151.101.0.3", 80)] = port
            await fetcher(names).fetch(hop(addresses=addresses))
            with pytest.raises(FetchError, match="cannot be reached"):
                await fetcher(names).fetch(hop(addresses=addresses[10:]))

    asyncio.run(run())
    tried = [address for address, _port in names.dialled]
    assert tried == [*addresses[:3], *addresses[10 : 10 + backend.MOST_TRIED]]


def test_other_end_must_be_who_was_dialled(monkeypatch):
    """A name that some layer looks up again, or a proxy in between, would show here."""

    async def run():
        async with origin(says(ok(b"x"))) as port:
            names = Names(routes={"any": port})
            inner = backend.httpcore2.AnyIOBackend.connect_tcp

            async def moved(self, host, port, **more):
                stream = await inner(self, host, port, **more)
                monkeypatch.setattr(
                    type(stream), "get_extra_info", lambda _self, _info: ("10.0.0.1", port)
                )
                return stream

            monkeypatch.setattr(backend.httpcore2.AnyIOBackend, "connect_tcp", moved)
            await fetcher(names).fetch(hop())

    with pytest.raises(FetchError, match="did not lead"):
        asyncio.run(run())


def test_no_file_is_a_server():
    async def run():
        await backend.VettedBackend(Names(), [PUBLIC]).connect_unix_socket("/run/x.sock")

    with pytest.raises(backend.httpcore2.ConnectError):
        asyncio.run(run())


@pytest.fixture
def proxy(monkeypatch):
    """A proxy that everything in the environment names; gives what it was asked."""
    seen = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append(self.path)
            self.send_error(500)

        do_CONNECT = do_GET

        def log_message(self, *_arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    with pytest.MonkeyPatch.context() as patch:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
            patch.setenv(name, f"http://127.0.0.1:{server.server_port}")
        yield seen
    server.shutdown()
    server.server_close()
    thread.join()


def test_no_proxy_is_used(proxy):
    assert asked()[1]["host"] == "good.test"
    assert proxy == []


def test_no_credentials_of_a_netrc_file(isolated):
    netrc = isolated / ".netrc"
    netrc.write_text("machine good.test login me password hunter2\n")
    netrc.chmod(0o600)
    assert "authorization" not in asked()[1]


def test_challenge_is_not_answered():
    heads = []

    async def answer(head, _reader, writer):
        heads.append(head)
        writer.write(ok(b"who?", 'WWW-Authenticate: Basic realm="x"', status="401 Who"))

    async def run():
        async with origin(answer) as port:
            names = Names(TABLE, routes={"any": port})
            await reader(names, fetcher(names)).read(ReadRequest("http://good.test/"))

    with pytest.raises(FetchError, match="401"):
        asyncio.run(run())
    assert len(heads) == 1


def test_cookies_are_never_sent_back():
    heads = []

    async def answer(head, _reader, writer):
        heads.append(head)
        writer.write(ok(b"x", "Set-Cookie: sid=evil; Path=/", "Refresh: 0; url=http://127.0.0.1/"))

    async def run():
        async with origin(answer) as port:
            names = Names(TABLE, routes={"any": port})
            made = reader(names, fetcher(names))
            for path in ("a", "b"):
                await made.read(ReadRequest(f"http://good.test/{path}", mode="raw"))

    asyncio.run(run())
    assert len(heads) == 2
    assert all("cookie" not in head.lower() for head in heads)


def test_body_of_a_redirect_is_never_read():
    """Its body has no end, is packed in no known way, and the page behind it comes at once."""

    async def answer(head, _reader, writer):
        if head.startswith("GET /end"):
            writer.write(ok(b"arrived", "Content-Type: text/plain"))
            return
        writer.write(
            b"HTTP/1.1 302 Found\r\nLocation: /end\r\nContent-Encoding: exotic\r\n"
            b"Content-Length: 100000000\r\n\r\nx"
        )
        await writer.drain()
        await asyncio.Event().wait()

    async def run():
        async with origin(answer) as port:
            names = Names(TABLE, routes={"any": port})
            return await reader(names, fetcher(names)).read(
                ReadRequest("http://good.test/", mode="raw")
            )

    assert asyncio.run(run()).content == "arrived"


def read(servers, url="http://good.test/", **more):
    names = Names(TABLE)
    return asyncio.run(reader(names, servers).read(ReadRequest(url, mode="raw", **more)))


def chain(length):
    return {f"http://good.test/{number}": leads_to(f"/{number + 1}") for number in range(length)}


def test_five_redirects_are_followed():
    servers = Canned(chain(5), page("end"))
    found = read(servers, "http://good.test/0")
    assert (found.content, found.final_url) == ("end", "http://good.test/5")
    assert found.url == "http://good.test/0"


def test_six_redirects_are_not():
    servers = Canned(chain(6), page("end"))
    with pytest.raises(TooManyRedirectsError):
        read(servers, "http://good.test/0")
    assert len(servers.asked) == 6


def test_redirect_to_itself_ends():
    with pytest.raises(TooManyRedirectsError):
        read(Canned({"http://good.test/": leads_to("/")}))


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_every_kind_of_redirect_is_followed(status):
    servers = Canned({"http://good.test/": leads_to("https://good.test/x", status)})
    assert read(servers).final_url == "https://good.test/x"


@pytest.mark.parametrize("status", [300, 304, 305, 306])
def test_other_kinds_are_not(status):
    servers = Canned({"http://good.test/": leads_to("https://good.test/x", status)})
    assert read(servers).final_url == "http://good.test/"


@pytest.mark.parametrize("location", [None, "", "   "])
def test_redirect_that_leads_nowhere_is_the_answer(location):
    headers = {} if location is None else {"location": location}
    servers = Canned({"http://good.test/": page("moved", 302, **headers)})
    found = read(servers)
    assert (found.status, found.content) == (302, "moved")


def test_from_safe_to_plain_and_back():
    way = {
        "https://good.test/": leads_to("http://good.test/b"),
        "http://good.test/b": leads_to("https://other.test/c"),
    }
    assert read(Canned(way), "https://good.test/").final_url == "https://other.test/c"


ELSEWHERE = {
    "host": "http://other.test/",
    "scheme": "https://good.test/x",
    "port": "http://good.test:8080/x",
}


@pytest.mark.parametrize("location", ELSEWHERE.values(), ids=ELSEWHERE)
def test_headers_of_the_asker_stay_with_their_origin(location):
    servers = Canned(
        {"http://good.test/": leads_to("/again"), "http://good.test/again": leads_to(location)}
        | {location: leads_to("http://good.test/back")}
    )
    read(servers, headers={"Authorization": "Bearer x", "X-API-Key": "y", "Cookie": "z"})
    sent = [set(request.headers) for request in servers.asked]
    everything = {"user-agent", "authorization", "x-api-key", "cookie"}
    assert sent == [everything, everything, {"user-agent"}, {"user-agent"}]


def test_user_agent_of_the_settings_unless_the_asker_says_another():
    servers = Canned()
    read(servers)
    read(servers, headers={"User-Agent": "Mine/2"})
    assert [request.headers["user-agent"] for request in servers.asked] == ["Testing/1", "Mine/2"]


@pytest.mark.parametrize(
    "name",
    ["Host", "host ", "Content-Length", "Transfer-Encoding", "Connection", "TE", "Upgrade",
     "Proxy-Authorization", "proxy-x", "Expect", "Accept-Encoding", "Range", "a b", "a:b", "", "ä",
     "a\r\nb"],
)  # fmt: skip
def test_header_that_decides_about_the_connection_is_refused(name):
    servers = Canned()
    with pytest.raises(InputError):
        read(servers, headers={name: "x"})
    assert servers.asked == []


@pytest.mark.parametrize("value", ["a\r\nHost: b", "a\nb", "a\x00b", "\u2603", "a\x7fb"])
def test_header_whose_value_cannot_be_sent_is_refused(value):
    with pytest.raises(InputError) as error:
        read(Canned(), headers={"x-a": value})
    assert value not in str(error.value)


def test_too_many_and_too_long_headers():
    for headers in ({f"x-{number}": "a" for number in range(33)}, {"x-a": "a" * 9_000}):
        with pytest.raises(InputError):
            read(Canned(), headers=headers)


def test_ipv6_address_in_brackets():
    first, headers = asked(f"http://good.test/{PUBLIC6}")
    assert first.endswith(" HTTP/1.1")
    heads = []

    async def answer(head, _reader, writer):
        heads.append(head)
        writer.write(ok(b"x"))

    async def run():
        async with origin(answer) as port:
            names = Names(routes={"any": port})
            await reader(names, fetcher(names)).read(
                ReadRequest(f"http://[{PUBLIC6}]:8080/x", mode="raw")
            )
            return names

    assert asyncio.run(run()).dialled == [(PUBLIC6, 8080)]
    assert f"host: [{PUBLIC6}]:8080" in heads[0]
    assert headers["host"] == "good.test"
