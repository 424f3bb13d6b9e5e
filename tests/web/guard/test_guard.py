"""What the guard lets a reader ask, with names from a table and every hop judged."""

import asyncio
import logging
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from web.guard.test_ranges import DISGUISES, PRIVATE_V4
from web.world import OWN_PORT, PUBLIC, PUBLIC6, Canned, Names, leads_to, reader

from cloxy_core.testing.harness import App
from cloxy_hookspecs import BlockedURLError, CloxyError, FetchError, InputError, ReadRequest
from cloxy_plugins.web.check import GuardCheck
from cloxy_plugins.web.guard import HINT, MESSAGE, OPEN, PublicWeb
from cloxy_plugins.web.settings import parse_pairs

TABLE = {
    "good.test": [PUBLIC],
    "both.test": [PUBLIC, PUBLIC6],
    "other.test": ["9.9.9.9"],
    "many.test": [f"151.101.0.{number}" for number in range(1, 41)],
    "nat64.test": ["64:ff9b::9.9.9.9"],
    "mixed.test": [PUBLIC, "127.0.0.1"],
    "mixed-late.test": [PUBLIC, "9.9.9.9", PUBLIC6, "10.0.0.1"],
    "inside.test": ["10.0.0.5"],
    "loop.test": ["127.0.0.1"],
    "wiki.lan": ["10.0.0.8"],
    "metadata.test": ["169.254.169.254"],
    "neighbour.test": ["2a01:4f8:1:2::99"],
    "neighbour64.test": ["64:ff9b::85.10.200.7"],
    "zone.test": ["fe80::1%eth0"],
    "rebind.test": [[PUBLIC], ["127.0.0.1"]],
    "printer.local": [PUBLIC],
    "intranet": [PUBLIC],
    "nolocal.test": [PUBLIC],
    "mylan.example": [PUBLIC],
}
ALLOWED = [
    "http://good.test/", "https://both.test/", "http://good.test:8080/", "https://good.test:8443/",
    "http://many.test/", "http://nat64.test/", f"http://{PUBLIC}/", f"http://[{PUBLIC6}]/",
    "http://nolocal.test/", "http://mylan.example/", "http://[64:ff9b::9.9.9.9]/",
]  # fmt: skip
REFUSED = [
    "http://mixed.test/", "http://mixed-late.test/", "http://inside.test/", "http://loop.test/",
    "http://metadata.test/", "http://neighbour.test/", "http://neighbour64.test/",
    "http://zone.test/",
]  # fmt: skip
REFUSED_UNSEEN = [
    "http://127.0.0.1/", "http://[::1]/", "http://[::ffff:127.0.0.1]/", "http://0.0.0.0/",
    "http://169.254.169.254/latest/meta-data/", "http://[fd00:ec2::254]/", "http://10.0.0.1/",
    "http://100.100.100.200/", "http://localhost/", "http://app.localhost/",
    "http://printer.local/", "http://nas.internal/", "http://router.home.arpa/",
    "http://a.b.corp/", "http://intranet/", "http://metadata/", "http://x.onion/",
    "http://good.test:22/", "http://good.test:9055/", "http://good.test:3306/",
    "https://good.test:25/", f"http://{PUBLIC}:6379/", "http://[2002:7f00:1::]/",
    "http://[64:ff9b::7f00:1]/", "http://[64:ff9b:1::a00:1]/", "http://localhost./",
    "http://[fec0::1]/", "http://[ff02::1]/", "http://224.0.0.1/", "http://255.255.255.255/",
]  # fmt: skip


def read(network, servers, url, **more):
    """Read a page, raw."""
    guards = more.pop("guards", None)
    made = reader(network, servers, guards=guards)
    return asyncio.run(made.read(ReadRequest(url, mode="raw", **more)))


@pytest.mark.parametrize("url", ALLOWED)
def test_public_web_is_read(url):
    names, servers = Names(TABLE), Canned()
    assert read(names, servers, url).content == "ok"
    assert len(names.looked_up) <= 1


@pytest.mark.parametrize("url", REFUSED)
def test_name_with_an_answer_that_is_not_public_is_never_asked(url):
    names, servers = Names(TABLE), Canned()
    with pytest.raises(BlockedURLError) as error:
        read(names, servers, url)
    assert (error.value.message, error.value.hint) == (MESSAGE, HINT)
    assert len(names.looked_up) == 1
    assert servers.asked == []


@pytest.mark.parametrize("url", REFUSED_UNSEEN)
def test_what_is_refused_for_its_name_or_port_is_not_even_looked_up(url):
    names, servers = Names(TABLE), Canned()
    with pytest.raises(BlockedURLError) as error:
        read(names, servers, url)
    assert (error.value.message, error.value.hint) == (MESSAGE, HINT)
    assert names.looked_up == []
    assert servers.asked == []


HOPS = {
    "loopback": ["http://127.0.0.1/"],
    "own port": [f"http://127.0.0.1:{OWN_PORT}/recall"],
    "name inside": ["http://inside.test/"],
    "port": ["http://good.test:22/"],
    "local name": ["http://localhost/"],
    "no scheme": ["//127.0.0.1/"],
    "metadata late": ["http://other.test/", "https://good.test/x", "http://metadata.test/"],
    "nat64": ["http://[64:ff9b::7f00:1]/"],
}


@pytest.mark.parametrize("chain", HOPS.values(), ids=HOPS)
def test_every_hop_is_judged(chain):
    urls = ["http://good.test/", *chain]
    servers = Canned({url: leads_to(to) for url, to in zip(urls, chain, strict=False)})
    with pytest.raises(BlockedURLError, match=MESSAGE):
        read(Names(TABLE), servers, urls[0])
    assert len(servers.asked) == len(chain)


@pytest.mark.parametrize(
    "location", ["file:///etc/hosts", "ftp://good.test/", "http://me@good.test/", "/\t/127.0.0.1"]
)
def test_hop_to_what_is_no_address(location):
    servers = Canned({"http://good.test/": leads_to(location)})
    with pytest.raises(InputError):
        read(Names(TABLE), servers, "http://good.test/")
    assert len(servers.asked) == 1


def test_name_that_moves_is_asked_at_the_address_that_was_judged():
    names, servers = Names(TABLE), Canned()
    made = reader(names, servers)
    asyncio.run(made.read(ReadRequest("http://rebind.test/", mode="raw")))
    assert [request.target.addresses for request in servers.asked] == [(PUBLIC,)]
    with pytest.raises(BlockedURLError):
        asyncio.run(made.read(ReadRequest("http://rebind.test/b", mode="raw")))
    assert len(servers.asked) == 1


def test_name_that_moves_between_hops():
    servers = Canned({"http://rebind.test/": leads_to("http://rebind.test/again")})
    with pytest.raises(BlockedURLError):
        read(Names(TABLE), servers, "http://rebind.test/")
    assert servers.urls == ["http://rebind.test/"]


def test_page_in_the_cache_is_judged_again():
    names, servers = (
        Names(TABLE | {"kept.test": [[PUBLIC], [PUBLIC], ["127.0.0.1"], [PUBLIC]]}),
        Canned(),
    )
    made = reader(names, servers)

    async def ask():
        return await made.read(ReadRequest("http://kept.test/", mode="raw"))

    async def run():
        assert not (await ask()).from_cache
        assert (await ask()).from_cache
        with pytest.raises(BlockedURLError):
            await ask()
        assert not (await ask()).from_cache, "what was refused is not kept"

    asyncio.run(run())
    assert len(servers.asked) == 2


def test_every_hop_to_a_page_in_the_cache_is_judged_again():
    names = Names(TABLE | {"way.test": [[PUBLIC], ["10.0.0.1"]]})
    servers = Canned({"http://way.test/": leads_to("http://good.test/")})
    made = reader(names, servers)

    async def run():
        await made.read(ReadRequest("http://way.test/", mode="raw"))
        with pytest.raises(BlockedURLError):
            await made.read(ReadRequest("http://way.test/", mode="raw"))

    asyncio.run(run())


def test_change_of_the_own_network_is_another_policy():
    names, servers = Names(TABLE), Canned()
    made = reader(names, servers)

    async def run():
        await made.read(ReadRequest("http://good.test/", mode="raw"))
        names.own = ("93.184.215.1/24",)
        with pytest.raises(BlockedURLError):
            await made.read(ReadRequest("http://good.test/", mode="raw"))

    asyncio.run(run())


ANY = {"allow_private": True}
SOME = {"allowed": parse_pairs(f"wiki.lan:80 loop.test:8080, 127.0.0.1:{OWN_PORT} [::1]:9000")}
OPENED = [
    (ANY, "http://127.0.0.1:3000/", True),
    (ANY, "http://inside.test:22/", True),
    (ANY, "http://wiki.lan/", True),
    (ANY, "http://good.test:1234/", True),
    (ANY, "http://intranet/", True),
    (ANY, "http://neighbour.test/", True),
    (ANY, "http://localhost:3000/", False),  # not in the table of names
    (ANY, "http://metadata.test/", False),
    (ANY, "http://169.254.169.254/", False),
    (ANY, "http://[::ffff:169.254.169.254]/", False),
    (ANY, "http://[64:ff9b::a9fe:a9fe]/", False),
    (ANY, "http://[fd00:ec2::254]/", False),
    (ANY, "http://192.0.0.192/", False),
    (ANY, f"http://127.0.0.1:{OWN_PORT}/", False),
    (ANY, f"http://loop.test:{OWN_PORT}/", False),
    (ANY, f"http://192.168.7.20:{OWN_PORT}/", False),
    (ANY, f"http://0.0.0.0:{OWN_PORT}/", False),
    (ANY, f"http://[::ffff:7f00:1]:{OWN_PORT}/", False),
    (ANY, f"http://mixed.test:{OWN_PORT}/", False),
    (ANY, f"http://85.10.200.7:{OWN_PORT}/", False),
    (ANY, f"http://10.0.0.1:{OWN_PORT}/", True),
    (ANY, "http://0.0.0.0/", False),
    (ANY, "http://224.0.0.1/", False),
    (ANY, "http://zone.test/", False),
    (ANY, "http://[2002:7f00:1::]/", False),
    (SOME, "http://wiki.lan/", True),
    (SOME, "http://loop.test:8080/", True),
    (SOME, "http://[::1]:9000/", True),
    (SOME, "http://good.test/", True),
    (SOME, "http://wiki.lan:8080/", False),
    (SOME, "http://loop.test/", False),
    (SOME, "http://10.0.0.8/", False),
    (SOME, f"http://127.0.0.1:{OWN_PORT}/", False),
    (SOME, "http://good.test:22/", False),
]


@pytest.mark.parametrize(
    ("opened", "url", "is_read"),
    [pytest.param(*row, id=f"{next(iter(row[0]))}-{row[1]}") for row in OPENED],
)
def test_what_its_owner_opened(opened, url, is_read):
    names, servers = Names(TABLE), Canned()
    guard = replace(PublicWeb(names), **opened)
    if is_read:
        assert read(names, servers, url, guards=[guard]).content == "ok"
    else:
        with pytest.raises(FetchError):
            read(names, servers, url, guards=[guard])
        assert servers.asked == []


@pytest.mark.parametrize("address", ["169.254.169.254", "100.100.100.200", "192.0.0.192"])
def test_allowed_host_that_moves_to_secrets_of_a_cloud(address):
    names = Names({"wiki.lan": [address]})
    guard = PublicWeb(names, parse_pairs("wiki.lan:80"))
    with pytest.raises(BlockedURLError):
        read(names, Canned(), "http://wiki.lan/", guards=[guard])


def test_redirect_into_what_is_opened_by_a_page_of_the_public_web():
    """Who opens a server opens it to whoever asks; ports beside it stay closed."""
    names = Names(TABLE)
    guard = replace(PublicWeb(names), **SOME)
    servers = Canned({"http://good.test/": leads_to("http://wiki.lan:81/")})
    with pytest.raises(BlockedURLError):
        read(names, servers, "http://good.test/", guards=[guard])


def test_no_request_opens_anything():
    headers = {"x-cloxy-allow-private-urls": "1", "cloxy_allow_private_urls": "1"}
    for url in ("http://127.0.0.1/?CLOXY_ALLOW_PRIVATE_URLS=1", "http://wiki.lan/"):
        with pytest.raises(BlockedURLError):
            read(Names(TABLE), Canned(), url, headers=headers)


@given(PRIVATE_V4, st.sampled_from(sorted(DISGUISES)), st.booleans())
def test_private_ipv4_in_ipv6_is_never_asked(address, disguise, is_literal):
    hidden = str(DISGUISES[disguise](int(address)))
    names, servers = Names({"x.test": [PUBLIC6, hidden]}), Canned()
    with pytest.raises(CloxyError):
        read(names, servers, f"http://[{hidden}]/" if is_literal else "http://x.test/")
    assert servers.asked == []


def test_guards_of_others_are_asked_too():
    class NoSundays:
        policy = "no-sundays"

        def check(self, target):
            if target.host.startswith("sunday."):
                raise BlockedURLError("closed on Sundays")

    names, servers = Names({"sunday.test": [PUBLIC]}), Canned()
    with pytest.raises(BlockedURLError, match="Sundays"):
        read(names, servers, "http://sunday.test/", guards=[PublicWeb(names), NoSundays()])
    assert names.looked_up == []


@pytest.mark.parametrize(
    ("guard", "severities"),
    [
        (PublicWeb(Names()), ["ok"]),
        (PublicWeb(Names(), parse_pairs("wiki.lan:80")), ["ok"]),
        (PublicWeb(Names(), (), allow_private=True), ["warning"]),
        (PublicWeb(Names(), parse_pairs("wiki.lan:80"), allow_private=True), ["warning", "ok"]),
    ],
)
def test_status_says_what_is_open(guard, severities):
    findings = asyncio.run(GuardCheck(guard).run())
    assert [finding.severity for finding in findings] == severities
    assert ("wiki.lan:80" in findings[-1].message) == bool(guard.allowed)
    assert (OPEN in [finding.message for finding in findings]) == guard.allow_private


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("", ()),
        ("Wiki.Lan:80", (("wiki.lan", 80),)),
        ("wiki.lan.:80,a:1", (("wiki.lan", 80), ("a", 1))),
        ("[FD00:0::1]:8080", (("fd00::1", 8080),)),
        ("10.0.0.8:3000", (("10.0.0.8", 3000),)),
    ],
)
def test_pairs(text, pairs):
    assert parse_pairs(text) == pairs


@pytest.mark.parametrize(
    "text", ["wiki.lan", "wiki.lan:0", "wiki.lan:65536", "http://wiki.lan:80", "*:80", "[::g]:80"]
)
def test_what_is_no_pair(text):
    with pytest.raises(ValueError, match="host:port"):
        parse_pairs(text)


def test_opening_is_told_at_the_start(app_with, caplog):
    caplog.set_level(logging.WARNING)
    app_with({"web.allow_private_urls": "1", "web.allowed_private_hosts": "wiki.lan:80"})
    assert OPEN in caplog.text
    assert "wiki.lan:80" in caplog.text


def test_nothing_is_told_of_a_closed_guard(app_with, caplog):
    caplog.set_level(logging.WARNING)
    app_with({})
    assert "private" not in caplog.text


@pytest.fixture
def app_with(tmp_path):
    """An engine with settings; closed at the end."""
    opened = []

    def make(settings):
        app = App(tmp_path / "cloxy", settings=settings)
        opened.append(app)
        return app.engine

    yield make
    for app in opened:
        app.__exit__(None, None, None)


def test_without_a_guard_nothing_is_read():
    servers = Canned()
    with pytest.raises(BlockedURLError, match="nothing judges"):
        read(Names(TABLE), servers, "http://good.test/", guards=[])
    assert servers.asked == []
