"""Pages that were read a while ago: few, not for long, and each under all that made it."""

import asyncio
from dataclasses import replace

import pytest
from web.world import PUBLIC, Canned, Names, page, reader

from cloxy_core.services.web import cache as module
from cloxy_core.services.web.cache import PageCache
from cloxy_hookspecs import FetchError, ReadPage, ReadRequest

PAGE = ReadPage(
    url="http://good.test/", final_url="http://good.test/", status=200, mode="clean", content="x",
    title="", matches=(), media_type="text/html", charset="utf-8", fetched_at=0, from_cache=False,
    truncated=False, flags=frozenset(), removed={}, notes=(), sha256="",
)  # fmt: skip


class Seconds:
    """A clock that is set."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def test_page_is_kept_for_a_while():
    clock = Seconds()
    cache = PageCache(clock)
    cache.put("a", PAGE, ())
    clock.now = module.SECONDS
    assert cache.get("a").page is PAGE
    clock.now += 1
    assert cache.get("a") is None
    assert len(cache) == 0


def test_those_longest_unused_go_first(monkeypatch):
    monkeypatch.setattr(module, "ENTRIES", 3)
    cache = PageCache()
    for key in "abc":
        cache.put(key, PAGE, ())
    cache.get("a")
    cache.put("d", PAGE, ())
    assert [key for key in "abcd" if cache.get(key)] == ["a", "c", "d"]


@pytest.mark.parametrize("field", ["content", "title", "notes", "matches"])
def test_characters_are_counted_whatever_they_are(monkeypatch, field):
    monkeypatch.setattr(module, "CHARACTERS", 1_000)
    text = "x" * 400
    large = replace(PAGE, **{field: text if field in ("content", "title") else (text,)})
    cache = PageCache()
    for key in range(10):
        cache.put(key, large, ())
        cache.put(key, large, ())
    assert len(cache) == 2
    for key in range(10):
        cache.drop(key)
    cache.put("after", replace(PAGE, content="x" * 900), ())
    assert len(cache) == 1, "what went is no longer counted"


def test_page_larger_than_all_is_not_kept(monkeypatch):
    monkeypatch.setattr(module, "CHARACTERS", 10)
    cache = PageCache()
    cache.put("a", replace(PAGE, content="x" * 100), ())
    assert len(cache) == 0


def ask(servers, *requests, names=None):
    made = reader(names or Names({"good.test": [PUBLIC]}), servers)

    async def run():
        return [await made.read(request) for request in requests]

    return asyncio.run(run())


def request(mode="clean", url="http://good.test/", **more):
    return ReadRequest(url, mode=mode, **more)


SAME = {
    "all": (request(), request()),
    "spelling": (request(), request(url="HTTP://GOOD.test:80")),
    "part": (request(), request(url="http://good.test/#part")),
    "order of headers": (
        request(headers={"a": "1", "b": "2"}), request(headers={"B": "2", "A": "1"}),
    ),
}  # fmt: skip
OTHER = {
    "mode": (request(), request("markdown")),
    "raw": (request(), request("raw")),
    "selector": (request("extract", selector="p"), request("extract", selector="h1")),
    "header": (request(), request(headers={"accept": "text/plain"})),
    "credentials": (
        request(headers={"authorization": "a"}), request(headers={"authorization": "b"}),
    ),
    "headers that look alike": (
        request(headers={"a": "1", "b": "2"}), request(headers={"a": "1b", "b": "2"}),
    ),
    "query": (request(), request(url="http://good.test/?a")),
    "scheme": (request(), request(url="https://good.test/")),
}  # fmt: skip


@pytest.mark.parametrize(("first", "second"), SAME.values(), ids=SAME)
def test_same_question_comes_from_the_cache(first, second):
    servers = Canned()
    one, two = ask(servers, first, second)
    assert len(servers.asked) == 1
    assert (one.from_cache, two.from_cache) == (False, True)
    assert two == replace(one, from_cache=True, url=second.url)


@pytest.mark.parametrize(("first", "second"), OTHER.values(), ids=OTHER)
def test_other_question_does_not(first, second):
    servers = Canned()
    assert not any(found.from_cache for found in ask(servers, first, second))
    assert len(servers.asked) == 2


@pytest.mark.parametrize("status", [201, 204, 206, 304, 302])
def test_what_is_no_whole_page_is_not_kept(status):
    servers = Canned(otherwise=page("part", status))
    one, two = ask(servers, request(), request())
    assert (one.status, one.from_cache, two.from_cache) == (status, False, False)


def test_refusal_of_a_server_is_not_kept():
    servers = Canned(otherwise=page("no", 500))
    made = reader(Names({"good.test": [PUBLIC]}), servers)

    async def run():
        for _turn in range(2):
            with pytest.raises(FetchError, match="500"):
                await made.read(request())

    asyncio.run(run())
    assert len(servers.asked) == 2
    assert made.cached == 0


def test_long_address_of_other_characters_can_be_asked_again():
    url = "http://good.test/" + "ä" * 600
    servers = Canned()
    assert ask(servers, request(url=url), request(url=url))[1].from_cache


def test_name_that_has_no_address_any_more_is_no_page():
    names = Names({"good.test": [PUBLIC]})
    made = reader(names, Canned())

    async def run():
        await made.read(request())
        names.names = {}
        with pytest.raises(FetchError, match="no address"):
            await made.read(request())

    asyncio.run(run())


def test_other_policy_is_another_question():
    class Changing:
        policy = "one"

        def check(self, target):
            pass

    guard, servers = Changing(), Canned()
    made = reader(Names({"good.test": [PUBLIC]}), servers, guards=[guard])

    async def run():
        await made.read(request())
        guard.policy = "two"
        assert not (await made.read(request())).from_cache
        assert (await made.read(request())).from_cache

    asyncio.run(run())
    assert len(servers.asked) == 2
