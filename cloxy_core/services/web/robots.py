"""What a site asks programs not to read: `robots.txt` (RFC 9309), fetched behind the guards."""

import asyncio
import re
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from string import ascii_letters, digits
from typing import Final, TypeAlias
from urllib.parse import quote, urlsplit

from cloxy_core.services.web.address import Address, parse
from cloxy_core.services.web.hops import Hops, Limits
from cloxy_hookspecs import BlockedURLError, CloxyError, InputError

LIMITS: Final = Limits(10.0, 512_000)
"""The standard asks for half a megabyte at least."""
MOST_LINES: Final = 5_000
MOST_PATTERN: Final = 1_000
SITES: Final = 256
SECONDS: Final = 3_600.0
MISSING: Final = 400
BROKEN: Final = 500
_ANYBODY: Final = "*"

_CODED: Final = re.compile("%([0-9A-Fa-f]{2})")
_UNRESERVED: Final = frozenset(f"{ascii_letters}{digits}-._~")
_KEPT: Final = "!#$%&'()*+,-./:;=?@[]_~|^{}`<>\""

Rule: TypeAlias = tuple[str, bool]
"""A pattern of paths, and whether they may be read."""


@dataclass(frozen=True, slots=True)
class _Site:
    rules: tuple[Rule, ...]
    at: float


ALL: Final[tuple[Rule, ...]] = ()
NOTHING: Final[tuple[Rule, ...]] = (("/", False),)


class Robots:
    """Asks a site once an hour what it wants to be left alone."""

    def __init__(
        self, hops: Hops, user_agent: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Ask nobody yet.

        Args:
            hops: the way to the sites, behind the guards.
            user_agent: who asks; its first word is the name that rules are for.
            clock: seconds.
        """
        self._hops = hops
        self._name = product(user_agent)
        self._clock = clock
        self._sites: OrderedDict[tuple[str, str, int], _Site] = OrderedDict()
        self._turns: dict[tuple[str, str, int], asyncio.Lock] = {}

    async def permit(self, address: Address) -> None:
        """Say nothing when the site lets a page be read.

        Raises:
            BlockedURLError: it does not, or cannot be asked.
        """
        path = address.url.partition("://")[2].partition("/")[2]
        if not is_allowed(await self._rules(address), f"/{path}"):
            raise BlockedURLError(
                "the site asks programs not to read this page (robots.txt)",
                hint="open it in a browser, or unset CLOXY_ROBOTS where the Cloxy server runs",
            )

    async def _rules(self, address: Address) -> tuple[Rule, ...]:
        key = address.origin
        turn = self._turns.setdefault(key, asyncio.Lock())
        try:
            async with turn:
                known = self._sites.get(key)
                if known is None or self._clock() - known.at > SECONDS:
                    known = _Site(await self._asked(address), self._clock())
                    self._sites[key] = known
                    while len(self._sites) > SITES:
                        self._sites.popitem(last=False)
                self._sites.move_to_end(key)
                return known.rules
        finally:
            if not turn.locked():
                self._turns.pop(key, None)

    async def _asked(self, address: Address) -> tuple[Rule, ...]:
        """The rules of a site: none where it has none, everything where it cannot be asked."""
        parts = urlsplit(address.url)
        place = parse(f"{parts.scheme}://{parts.netloc}/robots.txt")
        try:
            response = (await self._hops.follow(place, {}, LIMITS)).response
        except InputError:
            return ALL  # it leads to what is no address
        except CloxyError:
            return NOTHING
        if response.status >= BROKEN:
            return NOTHING
        if response.status >= MISSING:
            return ALL
        return rules_for(response.body.decode("utf-8-sig", "replace"), self._name)


def product(user_agent: str) -> str:
    """The name that rules are for: `cloxy` for `Cloxy/1.0 (…)`."""
    return (user_agent.split() or [""])[0].partition("/")[0].lower()


def rules_for(text: str, name: str) -> tuple[Rule, ...]:
    """The rules of a `robots.txt` for a program, or those for anybody.

    Args:
        text: the file.
        name: of the program, in lower case.
    """
    groups: dict[str, list[Rule]] = {}
    names: list[str] = []
    ended = True
    for line in text.splitlines()[:MOST_LINES]:
        key, colon, value = line.partition("#")[0].partition(":")
        key, value = key.strip().lower(), value.strip()
        if not colon or len(value) > MOST_PATTERN:
            continue
        if key == "user-agent":
            names = [value.lower()] if ended else [*names, value.lower()]
            groups.setdefault(names[-1], [])
            ended = False
        elif key in ("allow", "disallow"):
            ended = True
            if value:
                for each in names:
                    groups[each].append((_plain(value), key == "allow"))
    return tuple(groups.get(name, groups.get(_ANYBODY, [])))


def is_allowed(rules: tuple[Rule, ...], path: str) -> bool:
    """Whether a path may be read: the longest pattern decides, and of two as long, the kinder."""
    if path == "/robots.txt":
        return True
    plain = _plain(path)
    found = [(len(pattern), allowed) for pattern, allowed in rules if _fits(pattern, plain)]
    return max(found)[1] if found else True


def _plain(text: str) -> str:
    """The one way to write a path, so that two of them can be compared (RFC 9309, 2.2.2)."""
    return _CODED.sub(_decoded, quote(text, safe=_KEPT, errors="replace"))


def _decoded(match: re.Match[str]) -> str:
    character = chr(int(match[1], 16))
    return character if character in _UNRESERVED else match[0].upper()


def _fits(pattern: str, path: str) -> bool:
    """Whether a pattern with `*` and a `$` at its end fits the beginning of a path.

    Its parts are looked for from left to right, each as early as it can be, so that no pattern
    takes long.
    """
    is_whole = pattern.endswith("$")
    first, *parts = pattern.removesuffix("$").split("*")
    if not path.startswith(first):
        return False
    at = len(first)
    for number, part in enumerate(parts, 1):
        if is_whole and number == len(parts):
            return len(path) - len(part) >= at and path.endswith(part)
        at = path.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return not is_whole or at == len(path)
