"""Guards and fetchers that are wrong on purpose, each with the test that finds it out.

Not collected by itself: `test_kit_itself` runs it and looks at what fails.
"""

import itertools
import socket
from dataclasses import replace

from contract.cases import Cases

from cloxy_core.testing.conformance import FetcherConformance, GuardConformance
from cloxy_hookspecs import BlockedURLError, FetcherProvider, FetchError, GuardProvider, Network
from cloxy_plugins.web.fetcher import create_fetcher

CASES = Cases(__name__, "Fetching")
count = itertools.count()


def guard(check, policy="fixed"):
    """A guard that judges in some way."""

    class Made:
        def check(self, target):
            return check(target)

    Made.policy = policy if isinstance(policy, property) else property(lambda self: policy)
    return GuardProvider(name="g", summary="g", create=lambda context: Made())


def by_turns(_target):
    if next(count) % 3:
        raise BlockedURLError("no")


def tells(target):
    if target.addresses and not target.addresses[0].startswith("93."):
        raise BlockedURLError(f"{target.addresses[0]} is not public")


def tells_apart(target):
    if "127.0.0.1" in target.addresses:
        raise BlockedURLError("it is this machine")
    if "10.0.0.1" in target.addresses:
        raise BlockedURLError("it is a neighbour")


def looks_up(target):
    try:
        socket.getaddrinfo(target.host, target.port)
    except OSError:
        raise BlockedURLError("no") from None


def fails(target):
    return target.addresses[0]


for test, provider in (
    ("test_it_says_nothing_or_refuses", guard(lambda target: False)),
    ("test_it_says_nothing_or_refuses", guard(fails)),
    ("test_it_says_nothing_or_refuses", guard(looks_up)),
    ("test_it_says_the_same_again", guard(by_turns)),
    ("test_refusal_does_not_tell_what_is_there", guard(tells)),
    ("test_refusal_does_not_tell_what_is_there", guard(tells_apart)),
    ("test_policy_is_a_text_that_stays", guard(lambda target: None, 1)),
    (
        "test_policy_is_a_text_that_stays",
        guard(lambda target: None, property(lambda self: str(next(count)))),
    ),
):
    CASES.add(GuardConformance, test, provider)


def fetcher(fetch):
    """A fetcher that does something beside what ours does."""

    def create(context):
        inner, network = create_fetcher(context), context.service(Network)

        class Made:
            async def fetch(self, request):
                return await fetch(inner, request, network)

        return Made()

    return FetcherProvider(name="f", summary="f", scheme="http", create=create)


async def capital_headers(inner, request, _network):
    found = await inner.fetch(request)
    return replace(found, headers={name.title(): text for name, text in found.headers.items()})


async def dials_anything(inner, request, _network):
    target = replace(request.target, addresses=("1.2.3.4",))
    return await inner.fetch(replace(request, target=target))


async def looks_name_up(inner, request, network):
    await network.resolve(request.target.host, request.target.port)
    return await inner.fetch(request)


async def keeps_cookies(inner, request, network):
    jar = vars(network).setdefault("jar", {})
    found = await inner.fetch(replace(request, headers={**request.headers, **jar}))
    jar["cookie"] = found.headers.get("set-cookie", "")
    return found


async def drops_headers(inner, request, _network):
    return await inner.fetch(replace(request, headers={}))


async def follows(inner, request, _network):
    found = await inner.fetch(request)
    return await inner.fetch(request) if found.status == 302 else found


async def takes_all(inner, request, _network):
    return await inner.fetch(replace(request, max_bytes=10**9))


async def says_nothing_of_a_cut(inner, request, _network):
    return replace(await inner.fetch(request), truncated=False)


async def calls_it_something_else(inner, request, _network):
    try:
        return await inner.fetch(request)
    except FetchError as error:
        raise (TimeoutError if "long" in error.message else OSError) from error


async def wants_another_path(inner, request, _network):
    target = replace(request.target, url="http://harbour.example/a?c=d")
    return await inner.fetch(replace(request, target=target))


for test, fetch in (
    ("test_it_gives_the_answer", capital_headers),
    ("test_it_gives_the_answer", dials_anything),
    ("test_it_gives_the_answer", looks_name_up),
    ("test_it_gives_the_answer", wants_another_path),
    ("test_it_sends_the_headers_and_nothing_of_before", keeps_cookies),
    ("test_it_sends_the_headers_and_nothing_of_before", drops_headers),
    ("test_it_follows_nothing", follows),
    ("test_it_cuts_what_is_too_long", takes_all),
    ("test_it_cuts_what_is_too_long", says_nothing_of_a_cut),
    ("test_it_ends_in_time", calls_it_something_else),
    ("test_what_is_no_answer_is_its_error", calls_it_something_else),
):
    CASES.add(FetcherConformance, test, fetcher(fetch))
