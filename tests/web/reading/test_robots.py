"""What a site asks programs not to read, when the owner wants that to be kept."""

import asyncio
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from web.world import PUBLIC, Canned, Names, leads_to, page, reader

from cloxy_core.services.web import robots as robots_module
from cloxy_core.services.web.hops import Hops
from cloxy_core.services.web.robots import Robots, is_allowed, product, rules_for
from cloxy_hookspecs import BlockedURLError, CloxyError, FetchError, HopResponse, ReadRequest

TABLE = {"good.test": [PUBLIC], "other.test": ["9.9.9.9"], "inside.test": ["10.0.0.1"]}
PLACE = "http://good.test/robots.txt"


def allowed(text, path, name="cloxy"):
    return is_allowed(rules_for(text, name), path)


RULES = [
    ("", "/a", True),
    ("User-agent: *\nDisallow: /", "/a", False),
    ("User-agent: *\nDisallow:", "/a", True),
    ("User-agent: *\nDisallow: /private", "/a", True),
    ("User-agent: *\nDisallow: /private", "/private/a", False),
    ("User-agent: *\nDisallow: /private/", "/private", True),
    ("User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/b/c", True),
    ("User-agent: *\nAllow: /a\nDisallow: /a/b", "/a/b/c", False),
    ("User-agent: *\nDisallow: /a\nAllow: /a", "/a", True),
    ("User-agent: *\nDisallow: /*.php$", "/x/y.php", False),
    ("User-agent: *\nDisallow: /*.php$", "/x/y.php?z", True),
    ("User-agent: *\nDisallow: /*.php", "/x/y.php?z", False),
    ("User-agent: *\nDisallow: /*.php$", "/x.php/y.php", False),
    ("User-agent: *\nDisallow: /a*b*c", "/a1b2", True),
    ("User-agent: *\nDisallow: /a*b*c", "/a1b2c", False),
    ("User-agent: *\nDisallow: *", "/a", False),
    ("User-agent: *\nDisallow: /$", "/", False),
    ("User-agent: *\nDisallow: /$", "/a", True),
    ("User-agent: *\nDisallow: /a*a$", "/a", True),
    ("User-agent: other\nDisallow: /", "/a", True),
    ("User-agent: Cloxy\nDisallow: /\nUser-agent: *\nAllow: /", "/a", False),
    ("User-agent: *\nDisallow: /\nUser-agent: cloxy\nAllow: /", "/a", True),
    ("User-agent: a\nUser-agent: cloxy\nDisallow: /x", "/x", False),
    ("User-agent: cloxy\nDisallow: /x\nUser-agent: a\nDisallow: /y", "/y", True),
    ("User-agent: cloxy\nDisallow: /x\n\nUser-agent: cloxy\nDisallow: /y", "/y", False),
    ("User-agent: *\nCrawl-delay: 5\nDisallow: /x", "/x", False),
    ("user-AGENT:*#all\nDISALLOW:/x # no", "/x", False),
    ("Disallow: /\nUser-agent: *\nAllow: /", "/a", True),
    ("User-agent: *\r\nDisallow: /x\rDisallow: /y", "/y", False),
    ("User-agent: *\nDisallow: /caf%c3%a9", "/caf%C3%A9", False),
    ("User-agent: *\nDisallow: /café", "/caf%C3%A9", False),
    ("User-agent: *\nDisallow: /%7Ejoe", "/~joe", False),
    ("User-agent: *\nDisallow: /a%2Fb", "/a/b", True),
    ("User-agent: *\nDisallow: /?q=", "/?q=1", False),
    ("User-agent: *\nDisallow: /", "/robots.txt", True),
    ("<html>not found</html>", "/a", True),
]


@pytest.mark.parametrize(("text", "path", "is_read"), RULES)
def test_rules(text, path, is_read):
    assert allowed(text, path) == is_read


@pytest.mark.parametrize(
    ("agent", "name"), [("Cloxy/1.0 (x)", "cloxy"), ("Mine", "mine"), ("A b/c", "a"), ("", "")]
)
def test_name_that_rules_are_for(agent, name):
    assert product(agent) == name


@given(st.text(max_size=80), st.text(max_size=30))
def test_any_file_is_some_rules(text, path):
    assert allowed(f"User-agent: *\n{text}", f"/{path}") in (True, False)


def test_no_pattern_is_expensive():
    pattern = "/" + "*a" * 490
    text = "User-agent: *\n" + f"Disallow: {pattern}b\n" * 5_000
    rules = rules_for(text, "cloxy")
    start = time.thread_time()
    assert is_allowed(rules, "/" + "a" * 4_000)
    assert time.thread_time() - start < 10


def ask(servers, *urls, follows=True, names=None):
    """Read pages; gives the contents, or the errors."""
    made = reader(names or Names(TABLE), servers, follows_robots=follows)
    found = []

    async def run():
        for url in urls:
            try:
                found.append((await made.read(ReadRequest(url, mode="raw"))).content)
            except CloxyError as error:
                found.append(error)

    asyncio.run(run())
    return found


FORBIDS = page("User-agent: *\nDisallow: /private\n")


def test_it_is_not_asked_unless_the_owner_wants_it():
    servers = Canned({PLACE: FORBIDS})
    assert ask(servers, "http://good.test/private", follows=False) == ["ok"]
    assert servers.urls == ["http://good.test/private"]


def test_it_is_asked_once_and_kept():
    servers = Canned({PLACE: FORBIDS})
    one, two, refused = ask(
        servers, "http://good.test/a", "http://good.test/b", "http://good.test/private/c"
    )
    assert (one, two) == ("ok", "ok")
    assert isinstance(refused, BlockedURLError)
    assert "robots.txt" in refused.message
    assert servers.urls == [PLACE, "http://good.test/a", "http://good.test/b"]


def test_every_origin_has_its_own():
    servers = Canned({PLACE: FORBIDS})
    found = ask(servers, "https://good.test/private", "http://good.test:8080/private")
    assert found == ["ok", "ok"]
    assert "https://good.test/robots.txt" in servers.urls
    assert "http://good.test:8080/robots.txt" in servers.urls


def test_every_hop_is_asked_about():
    servers = Canned({"http://other.test/": leads_to("http://good.test/private"), PLACE: FORBIDS})
    (found,) = ask(servers, "http://other.test/")
    assert isinstance(found, BlockedURLError)
    assert "http://good.test/private" not in servers.urls


@pytest.mark.parametrize(
    ("answer", "is_read"),
    [
        (page("", 404), True),
        (page("User-agent: *\nDisallow: /", 403), True),
        (page("", 500), False),
        (page("", 503), False),
        (leads_to("http://other.test/robots"), False),
        (leads_to("ftp://other.test/robots"), True),
        (leads_to("http://inside.test/"), False),
        (leads_to(PLACE), False),
        (HopResponse(200, {}, b"\xff\xfe\x00binary"), True),
        (HopResponse(200, {}, b"\xef\xbb\xbfUser-agent: *\nDisallow: /"), False),
    ],
)
def test_what_a_site_may_answer(answer, is_read):
    there = page("User-agent: *\nDisallow: /")
    servers = Canned({PLACE: answer, "http://other.test/robots": there})
    (found,) = ask(servers, "http://good.test/a")
    assert (found == "ok") == is_read
    assert not any("inside" in url for url in servers.urls)


def test_site_that_cannot_be_asked_is_left_alone():
    class Broken(Canned):
        async def fetch(self, request):
            if request.target.url == PLACE:
                raise FetchError("cannot be reached")
            return await super().fetch(request)

    (found,) = ask(Broken(), "http://good.test/a")
    assert isinstance(found, BlockedURLError)


def test_it_is_behind_the_guard():
    servers = Canned()
    (found,) = ask(servers, "http://inside.test/a")
    assert "robots" not in found.message
    assert servers.asked == []


class Free:
    """A turn is always there."""

    def host(self, name, *, breath=True):
        return asyncio.timeout(None)


def sites(servers, clock=time.monotonic):
    network = Names({f"s{number}.test": [PUBLIC] for number in range(400)} | TABLE)

    class Anybody:
        policy = ""

        def check(self, target):
            pass

    hops = Hops(network, [Anybody()], {"http": servers}, Free(), "Cloxy/1")
    return Robots(hops, "Cloxy/1", clock)


def permit(robots, *urls):
    async def run():
        for url in urls:
            await robots.permit(robots_module.parse(url))

    asyncio.run(run())


def test_it_is_asked_again_after_an_hour():
    now, servers = [0.0], Canned()
    robots = sites(servers, lambda: now[0])
    permit(robots, "http://good.test/a")
    now[0] = 3_600.0
    permit(robots, "http://good.test/a")
    assert len(servers.asked) == 1
    now[0] = 3_601.0
    permit(robots, "http://good.test/a")
    assert len(servers.asked) == 2


def test_few_sites_are_kept():
    servers = Canned()
    robots = sites(servers)
    permit(robots, *(f"http://s{number}.test/" for number in range(300)))
    assert len(robots._sites) == robots_module.SITES
    assert robots._turns == {}
    permit(robots, "http://s0.test/", "http://s299.test/")
    assert len(servers.asked) == 301


def test_many_at_once_ask_once():
    servers = Canned()
    robots = sites(servers)

    async def run():
        address = robots_module.parse("http://good.test/a")
        await asyncio.gather(*(robots.permit(address) for _ in range(20)))

    asyncio.run(run())
    assert len(servers.asked) == 1
