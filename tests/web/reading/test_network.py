"""Lookups by the system, one a name, none of which may hold up others."""

import asyncio
import socket
import subprocess
import sys
import threading

import pytest

from cloxy_core.services.web import network as module
from cloxy_core.services.web.network import SystemNetwork, _with_prefix
from cloxy_hookspecs import FetchError


def resolve(network, *hosts):
    async def run():
        return await asyncio.gather(
            *(network.resolve(h, 80) for h in hosts), return_exceptions=True
        )

    return asyncio.run(run())


def test_answers_are_given_once_each_and_in_order():
    network = SystemNetwork(lambda host, port: ["9.9.9.9", "1.1.1.1", "9.9.9.9"])
    assert resolve(network, "good.test") == [["9.9.9.9", "1.1.1.1"]]


def test_system_is_asked():
    assert "127.0.0.1" in resolve(SystemNetwork(), "localhost")[0]


def test_one_lookup_a_name():
    asked = []
    network = SystemNetwork(lambda host, port: asked.append((host, port)) or ["9.9.9.9"])
    resolve(network, "good.test")
    assert asked == [("good.test", 80)]


@pytest.mark.parametrize(
    "failure", [socket.gaierror(-2, "no"), OSError("no"), UnicodeError("no")], ids=repr
)
def test_name_without_an_address(failure):
    def fails(_host, _port):
        raise failure

    (error,) = resolve(SystemNetwork(fails), "good.test")
    assert isinstance(error, FetchError)
    assert "good.test" in error.message


def test_no_answers_and_too_many():
    assert isinstance(resolve(SystemNetwork(lambda *_: []), "a.test")[0], FetchError)
    many = [f"9.9.{number}.9" for number in range(module.MOST_ADDRESSES + 1)]
    assert isinstance(resolve(SystemNetwork(lambda *_: many), "a.test")[0], FetchError)
    assert len(resolve(SystemNetwork(lambda *_: many[1:]), "a.test")[0]) == module.MOST_ADDRESSES


def test_fault_of_a_resolver_is_not_hidden():
    def fails(_host, _port):
        raise ZeroDivisionError

    assert isinstance(resolve(SystemNetwork(fails), "a.test")[0], ZeroDivisionError)


@pytest.fixture
def hanging():
    """A resolver for which names that begin with `hang` take as long as the test."""
    end = threading.Event()

    def lookup(host, _port):
        if host.startswith("hang"):
            end.wait()
        return ["9.9.9.9"]

    yield lookup
    end.set()


def test_lookup_that_hangs_is_left_and_holds_up_nobody(hanging, monkeypatch):
    monkeypatch.setattr(module, "LOOKUP_SECONDS", 0.3)
    network = SystemNetwork(hanging)
    *hung, fine = resolve(network, *(f"hang{number}.test" for number in range(12)), "good.test")
    assert fine == ["9.9.9.9"]
    assert all(isinstance(error, FetchError) and "looked up" in error.message for error in hung)
    assert resolve(network, "again.test") == [["9.9.9.9"]], "while the others still hang"


def test_when_all_hang_one_waits_no_longer_than_for_a_lookup(hanging, monkeypatch):
    monkeypatch.setattr(module, "LOOKUP_SECONDS", 0.3)
    monkeypatch.setattr(module, "LOOKUPS", 2)
    found = resolve(SystemNetwork(hanging), "hang1.test", "hang2.test", "good.test")
    assert all(isinstance(error, FetchError) for error in found)


def test_places_are_given_back(monkeypatch):
    monkeypatch.setattr(module, "LOOKUPS", 2)
    network = SystemNetwork(lambda *_: ["9.9.9.9"])
    assert resolve(network, *(f"n{number}.test" for number in range(20))) == [["9.9.9.9"]] * 20


PROGRAM = """
import asyncio, threading
from cloxy_core.services.web import network as module
module.LOOKUP_SECONDS = 0.1
async def main():
    network = module.SystemNetwork(lambda *_: threading.Event().wait())
    try:
        await network.resolve("hang.test", 80)
    except Exception as error:
        print(type(error).__name__)
asyncio.run(main())
"""


@pytest.mark.process
def test_lookup_that_hangs_does_not_hold_up_the_end():
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False, timeout=60
    )
    assert (run.returncode, run.stdout) == (0, "FetchError\n")


def test_own_networks_are_those_of_the_interfaces():
    network = SystemNetwork(port=9055)
    assert "127.0.0.1/8" in network.own_networks()
    assert all(each.count("/") == 1 and "%" not in each for each in network.own_networks())
    assert network.own_port() == 9055
    assert SystemNetwork().own_port() is None


def test_own_networks_are_looked_at_again(monkeypatch):
    found = [["192.168.1.2/24"], ["192.168.1.3/24"]]
    monkeypatch.setattr(module, "_own_networks", lambda: found.pop(0))
    network = SystemNetwork()
    assert [network.own_networks(), network.own_networks()] == [["192.168.1.2/24"]] * 2
    network._own_until = 0.0
    assert network.own_networks() == ["192.168.1.3/24"]


def test_when_they_are_not_told_nothing_is_read(monkeypatch):
    def fails():
        raise PermissionError

    monkeypatch.setattr(module, "_own_networks", fails)
    with pytest.raises(FetchError):
        SystemNetwork().own_networks()


@pytest.mark.parametrize(
    ("address", "netmask", "v6", "found"),
    [
        ("192.168.1.2", "255.255.255.0", False, "192.168.1.2/24"),
        ("85.10.200.7", "255.255.255.255", False, "85.10.200.7/32"),
        ("85.10.200.7", None, False, "85.10.200.7/32"),
        ("2a01::1", "ffff:ffff:ffff:ffff::", True, "2a01::1/64"),
        ("2a01::1", "64", True, "2a01::1/64"),
        ("2a01::1", None, True, "2a01::1/128"),
    ],
)
def test_prefix(address, netmask, v6, found):
    assert _with_prefix(address, netmask, v6=v6) == found


def test_connections_go_where_they_are_addressed():
    assert SystemNetwork().route("9.9.9.9", 80) == ("9.9.9.9", 80)
