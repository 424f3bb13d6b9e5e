"""Turns: for pages, and for hosts."""

import asyncio

import pytest
from web.world import PUBLIC, Canned, Names, leads_to, page, reader

from cloxy_core.services.web import pacing as module
from cloxy_core.services.web.pacing import Pacing
from cloxy_hookspecs import FetchBusyError, FetchError, FetchTimeoutError, ReadRequest

PATIENCE = 120.0


class Slow(Canned):
    """Answers when it is told to; notes how many it answers at a time."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.go, self.running, self.most, self.began = asyncio.Event(), 0, 0, asyncio.Event()

    async def fetch(self, request):
        self.running += 1
        self.most = max(self.most, self.running)
        self.began.set()
        try:
            await self.go.wait()
            return await super().fetch(request)
        finally:
            self.running -= 1


def names(count):
    return Names({f"h{number}.test": [PUBLIC] for number in range(count)})


def request(number, path=""):
    return ReadRequest(f"http://h{number}.test/{path}", mode="raw")


async def until(true):
    async with asyncio.timeout(PATIENCE):
        while not true():
            await asyncio.sleep(0.005)


def test_few_pages_are_read_at_a_time_and_the_rest_are_told_to_come_back(monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", 0.1)

    async def run():
        servers = Slow()
        made = reader(names(40), servers)
        reading = [asyncio.create_task(made.read(request(n))) for n in range(module.PAGES)]
        await until(lambda: servers.running == module.PAGES)
        with pytest.raises(FetchBusyError) as busy:
            await made.read(request(30))
        assert busy.value.retryable
        assert busy.value.http_status == 503
        servers.go.set()
        await asyncio.gather(*reading)
        assert (await made.read(request(30))).content == "ok"
        return servers

    assert asyncio.run(run()).most == module.PAGES


def test_not_many_wait(monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", 60.0)
    monkeypatch.setattr(module, "WAITING", 2)

    async def run():
        servers = Slow()
        made = reader(names(40), servers)
        reading = [asyncio.create_task(made.read(request(n))) for n in range(module.PAGES + 2)]
        await until(lambda: made._pacing._waiting == 2)
        with pytest.raises(FetchBusyError):
            await made.read(request(30))
        servers.go.set()
        found = await asyncio.gather(*reading)
        assert len(found) == module.PAGES + 2
        assert made._pacing._waiting == 0

    asyncio.run(run())


def test_page_in_the_cache_needs_no_turn(monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", 0.1)

    async def run():
        servers = Slow()
        made = reader(names(40), servers)
        servers.go.set()
        await made.read(request(30))
        servers.go.clear()
        reading = [asyncio.create_task(made.read(request(n))) for n in range(module.PAGES)]
        await until(lambda: servers.running == module.PAGES)
        assert (await made.read(request(30))).from_cache
        servers.go.set()
        await asyncio.gather(*reading)

    asyncio.run(run())


def test_one_request_at_a_time_to_a_host(monkeypatch):
    monkeypatch.setattr(module, "INTERVAL", 0.0)

    async def run():
        servers = Slow()
        made = reader(names(2), servers)
        reading = [asyncio.create_task(made.read(request(0, str(n)))) for n in range(4)]
        await servers.began.wait()
        other = asyncio.create_task(made.read(request(1)))
        await until(lambda: servers.running == 2)
        servers.go.set()
        await asyncio.gather(other, *reading)
        return servers

    servers = asyncio.run(run())
    assert servers.most == 2, "one for each of two hosts"


class Seconds:
    """A clock that goes on by what is slept."""

    def __init__(self, monkeypatch):
        self.now, self.slept = 100.0, []
        self.real = asyncio.sleep
        monkeypatch.setattr(module.asyncio, "sleep", self.sleep)

    def __call__(self):
        return self.now

    async def sleep(self, seconds):
        self.slept.append(round(seconds, 6))
        self.now += seconds
        await self.real(0)


def test_breath_between_two_requests_to_a_host(monkeypatch):
    clock = Seconds(monkeypatch)
    pacing = Pacing(clock)

    async def run():
        for host, passes in (("a", 0.1), ("b", 0.0), ("a", 1.0), ("a", 0.0)):
            async with pacing.host(host):
                pass
            clock.now += passes
        async with pacing.host("a", breath=False):
            pass

    asyncio.run(run())
    assert clock.slept == [pytest.approx(module.INTERVAL - 0.1)]  # the third came late enough


def test_redirect_within_a_host_needs_no_breath(monkeypatch):
    clock = Seconds(monkeypatch)
    servers = Canned({"http://h0.test/": leads_to("https://h0.test/")})
    made = reader(names(1), servers)
    made._pacing._clock = clock
    assert asyncio.run(made.read(request(0))).final_url == "https://h0.test/"
    assert clock.slept == []


def test_failed_request_gives_its_turns_back(monkeypatch):
    monkeypatch.setattr(module, "INTERVAL", 0.0)

    async def run():
        made = reader(names(1), Canned(otherwise=page("no", 500)))
        for number in range(3 * module.PAGES):
            with pytest.raises(FetchError):
                await made.read(request(0, str(number)))

    asyncio.run(run())


def test_hosts_are_forgotten_but_not_those_in_use(monkeypatch):
    monkeypatch.setattr(module, "HOSTS", 8)

    async def run():
        pacing = Pacing()
        async with pacing.host("used"):
            for number in range(50):
                async with pacing.host(f"h{number}"):
                    pass
            assert "used" in pacing._hosts
            assert len(pacing._hosts) <= 8

    asyncio.run(run())


def test_whole_page_has_a_deadline_beside_that_of_each_hop(monkeypatch):
    monkeypatch.setattr(module, "INTERVAL", 0.0)

    async def run():
        servers = Slow()
        made = reader(names(1), servers, seconds=0.2)
        with pytest.raises(FetchTimeoutError, match=r"0\.2 seconds"):
            await made.read(request(0))
        servers.go.set()
        assert servers.running == 0
        assert (await made.read(request(0))).content == "ok"

    asyncio.run(run())


def test_deadline_holds_over_all_hops():
    class Each(Canned):
        async def fetch(self, request):
            await asyncio.sleep(0.15)
            seconds.append(request.seconds)
            return await super().fetch(request)

    seconds = []
    servers = Each({f"http://h0.test/{n}": leads_to(f"/{n + 1}") for n in range(5)})
    made = reader(names(1), servers, seconds=0.4)
    with pytest.raises(FetchTimeoutError):
        asyncio.run(made.read(request(0, "0")))
    assert len(servers.asked) < 4
    assert seconds == sorted(seconds, reverse=True), "each hop has what is left"
