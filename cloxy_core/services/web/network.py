"""Names and addresses, as the operating system tells them."""

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from ipaddress import ip_interface

import psutil  # type: ignore[import-untyped]

from cloxy_hookspecs import FetchError

LOOKUP_SECONDS = 5.0
LOOKUPS = 32
"""Lookups at a time; the system's own call cannot be ended, only left alone, and hangs for half a
minute at worst: so many that those few pages which are read at a time cannot use them all up."""
OWN_SECONDS = 30.0
"""How long the machine's addresses are taken for granted; networks come and go."""
MOST_ADDRESSES = 64
"""Answers that are judged: more of them are an attempt to be expensive."""

Lookup = Callable[[str, int], Sequence[str]]


class SystemNetwork:
    """The machine's resolver, and connections that go where they are addressed to.

    Attributes:
        port: the port that the server listens on; None without a server.
    """

    def __init__(self, lookup: Lookup | None = None, port: int | None = None) -> None:
        """Use a resolver.

        Args:
            lookup: every address of a name, blocking; the operating system's when None.
            port: the port that the server listens on; None without a server.
        """
        self._lookup = lookup or _system_lookup
        self._free = asyncio.Semaphore(LOOKUPS)
        self.port = port
        self._own: Sequence[str] = ()
        self._own_until = 0.0

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """Every address of a name; one lookup, no more than its time.

        Raises:
            FetchError: the name has no address, or the lookup takes too long.
        """
        try:
            async with asyncio.timeout(LOOKUP_SECONDS):
                found = await self._looked_up(host, port)
        except TimeoutError as error:
            raise FetchError(
                f"the name {host} was not looked up in {LOOKUP_SECONDS:g} seconds",
                hint="check the machine's connection and its name server",
            ) from error
        except (OSError, UnicodeError) as error:
            raise FetchError(
                f"the name {host} has no address", hint="check how it is written"
            ) from error
        addresses = list(dict.fromkeys(found))
        if not addresses:
            raise FetchError(f"the name {host} has no address", hint="check how it is written")
        if len(addresses) > MOST_ADDRESSES:
            raise FetchError(f"the name {host} has more addresses than any honest one")
        return addresses

    def route(self, address: str, port: int) -> tuple[str, int]:
        """Where a connection to a vetted address is really made: to itself."""
        return address, port

    def own_networks(self) -> Sequence[str]:
        """Addresses of this machine's interfaces with their prefix: `192.168.1.20/24`.

        Raises:
            FetchError: the system does not tell them.
        """
        now = time.monotonic()
        if now >= self._own_until:
            try:
                self._own = _own_networks()
            except (OSError, ValueError) as error:
                # Without them the guard would not know the neighbours, so nothing is read.
                raise FetchError("the machine's own addresses cannot be read") from error
            self._own_until = now + OWN_SECONDS
        return self._own

    def own_port(self) -> int | None:
        """The port that the server itself listens on; None while it does not."""
        return self.port

    async def _looked_up(self, host: str, port: int) -> Sequence[str]:
        await self._free.acquire()
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Sequence[str]] = loop.create_future()

        def tell(found: Sequence[str] | Exception) -> None:
            self._free.release()
            if done.done():
                return  # nobody waits any more
            if isinstance(found, Exception):
                done.set_exception(found)
            else:
                done.set_result(found)

        def look() -> None:
            found: Sequence[str] | Exception
            try:
                found = self._lookup(host, port)
            except Exception as error:
                found = error
            with suppress(RuntimeError):  # the loop has ended meanwhile
                loop.call_soon_threadsafe(tell, found)

        # One that hangs must not hold up the end of the program either.
        threading.Thread(target=look, name="lookup", daemon=True).start()
        return await done


def _system_lookup(host: str, port: int) -> Sequence[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]


def _own_networks() -> Sequence[str]:
    found: list[str] = []
    for addresses in psutil.net_if_addrs().values():
        for entry in addresses:
            if entry.family not in (socket.AF_INET, socket.AF_INET6):
                continue
            address = entry.address.partition("%")[0]
            found.append(_with_prefix(address, entry.netmask, v6=entry.family == socket.AF_INET6))
    return found


def _with_prefix(address: str, netmask: str | None, *, v6: bool) -> str:
    """The address and the length of its prefix; the whole address where that is not known."""
    longest = 128 if v6 else 32
    if not netmask:
        return f"{address}/{longest}"
    if v6:
        # Some systems write the mask as an address, some as a number.
        ones = netmask if netmask.isdigit() else str(_ones(netmask))
        return f"{address}/{ones}"
    return f"{address}/{ip_interface(f'{address}/{netmask}').network.prefixlen}"


def _ones(netmask: str) -> int:
    return bin(int(ip_interface(netmask).ip)).count("1")
