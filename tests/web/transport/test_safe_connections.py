"""TLS: the name is the name, whatever address was dialled; nobody else is believed."""

import asyncio
import ssl

import pytest
import trustme
from web.world import PUBLIC, Names, fetcher, hop, ok, origin, reader

from cloxy_hookspecs import FetchError, ReadRequest

URL = "https://good.test:8443/a"


@pytest.fixture(scope="module")
def authority():
    return trustme.CA()


@pytest.fixture(scope="module")
def trusting(authority):
    """How certificates are checked: those of our own authority are good."""

    def make():
        context = ssl.create_default_context()
        authority.configure_trust(context)
        return context

    return make


def serving(authority, *names):
    """A server's side, with a certificate for names; notes the names that it was asked for."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*names).configure_cert(context)
    context.asked = []
    context.sni_callback = lambda _socket, name, _context: context.asked.append(name)
    return context


def ask(server, trusting, url=URL):
    heads = []

    async def answer(head, _reader, writer):
        heads.append(head)
        writer.write(ok(b"safe", "Content-Type: text/plain"))

    async def run():
        async with origin(answer, ssl=server) as port:
            names = Names(routes={"any": port})
            return await fetcher(names, context=trusting).fetch(hop(url))

    return asyncio.run(run()), heads


def test_name_is_asked_for_and_checked(authority, trusting):
    server = serving(authority, "good.test")
    response, heads = ask(server, trusting)
    assert response.body == b"safe"
    assert server.asked == ["good.test"]
    assert "host: good.test:8443\r\n" in heads[0]


def test_certificate_for_an_address(authority, trusting):
    server = serving(authority, PUBLIC)
    response, _heads = ask(server, trusting, f"https://{PUBLIC}/")
    assert response.body == b"safe"


@pytest.mark.parametrize("name", ["other.test", PUBLIC, "127.0.0.1", "*.good.test"])
def test_certificate_of_another_name_is_refused(authority, trusting, name):
    with pytest.raises(FetchError, match="no safe connection"):
        ask(serving(authority, name), trusting)


def test_authority_that_nobody_knows_is_refused(trusting):
    with pytest.raises(FetchError, match="no safe connection"):
        ask(serving(trustme.CA(), "good.test"), trusting)


def test_authority_of_a_variable_is_not_believed(authority, tmp_path, monkeypatch):
    """Only the system says whom to trust: the product's own way to check is used here."""
    pem = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(pem)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(pem))
        server = serving(authority, "good.test")

        async def run():
            async with origin(lambda *_arguments: None, ssl=server) as port:
                await fetcher(Names(routes={"any": port})).fetch(hop(URL))

        with pytest.raises(FetchError, match="no safe connection"):
            asyncio.run(run())


def test_certificates_are_checked_anew_for_every_name(authority, trusting):
    """From one name to another at the same address: the certificate of the first is not enough."""

    async def answer(_head, _reader, writer):
        writer.write(b"HTTP/1.1 302 Found\r\nLocation: https://other.test/\r\n\r\n")

    async def run():
        async with origin(answer, ssl=serving(authority, "good.test")) as port:
            names = Names({"good.test": [PUBLIC], "other.test": [PUBLIC]}, routes={"any": port})
            made = reader(names, fetcher(names, context=trusting))
            await made.read(ReadRequest("https://good.test/", mode="raw"))

    with pytest.raises(FetchError, match="no safe connection"):
        asyncio.run(run())


def test_from_plain_to_safe(authority, trusting):
    async def answer(head, _reader, writer):
        is_safe = "host: good.test\r\n" in head and writer.get_extra_info("ssl_object")
        body = ok(b"safe", "Content-Type: text/plain")
        writer.write(body if is_safe else b"HTTP/1.1 301 X\r\nLocation: https://good.test/\r\n\r\n")

    async def run():
        server = serving(authority, "good.test")
        async with origin(answer) as plain, origin(answer, ssl=server) as safe:
            names = Names({"good.test": [PUBLIC]}, routes={80: plain, 443: safe})
            made = reader(names, fetcher(names, context=trusting))
            return await made.read(ReadRequest("http://good.test/", mode="raw"))

    found = asyncio.run(run())
    assert (found.content, found.final_url) == ("safe", "https://good.test/")


def test_plain_server_where_a_safe_one_is_expected(trusting):
    async def answer(_head, _reader, writer):
        writer.write(ok(b"x"))

    async def run():
        async with origin(answer) as port:
            await fetcher(Names(routes={"any": port}), context=trusting).fetch(
                hop(URL, seconds=1.0)
            )

    with pytest.raises(FetchError):
        asyncio.run(run())


def test_only_http_1_is_offered(authority, trusting):
    server = serving(authority, "good.test")
    server.set_alpn_protocols(["h2", "http/1.1"])
    assert ask(server, trusting)[0].body == b"safe"


def test_way_to_check_is_made_once(authority, trusting):
    made = []

    def counting():
        made.append(1)
        return trusting()

    async def run():
        async with origin(
            lambda *_arguments: _nothing(), ssl=serving(authority, "good.test")
        ) as port:
            one = fetcher(Names(routes={"any": port}), context=counting)
            assert made == [], "nothing is read from disk before it is needed"
            for _turn in range(2):
                with pytest.raises(FetchError):
                    await one.fetch(hop(URL))

    asyncio.run(run())
    assert made == [1]


async def _nothing():
    pass
