"""Does the guard refuse what a list of attacks says, and let through the rest?

The list is JSON: `meta` with `dns` (name -> addresses), `dns_sequence` (name -> answers in turn)
and `local_interfaces`; `cases` with `id`, `url` and `verdict` (`allow` or `refuse`), and where they
matter `chain` (Locations), `status` (of the answers), `repeat`, `verdict_of_repeat`, `stage`
(`parse`: no name may be looked up), `lookups` and `connect_must_be`. Everything is real but the
name system and the servers.

    python benchmarks/guard_list.py LIST.json
"""

import argparse
import asyncio
import json
import sys
from pathlib import Path

from cloxy_core.services.web.reader import Rules, WebReader
from cloxy_hookspecs import CloxyError, FetchError, HopResponse, ReadRequest
from cloxy_plugins.web.guard import PublicWeb


class Names:
    """Answers from the list's table; what is not in it does not exist."""

    def __init__(self, meta):
        self.meta, self.asked = meta, {}

    async def resolve(self, host, port):
        number = self.asked[host] = self.asked.get(host, 0) + 1
        turns = self.meta.get("dns_sequence", {}).get(host)
        found = turns[min(number, len(turns)) - 1] if turns else self.meta["dns"].get(host)
        if not found:
            raise FetchError("no address")
        return found

    def route(self, address, port):
        return address, port

    def own_networks(self):
        return self.meta["local_interfaces"]

    def own_port(self):
        return 9055


class Servers:
    """Notes where a request would go, and leads on as a case says."""

    def __init__(self, chain, status):
        self.chain, self.status, self.asked = chain, status, []

    async def fetch(self, request):
        number = len(self.asked)
        self.asked.append(request.target)
        if number >= len(self.chain):
            return HopResponse(200, {"content-type": "text/plain"}, b"ok")
        location = self.chain[number]
        headers = {} if location is None else {"location": location}
        return HopResponse(self.status[number] if self.status else 302, headers, b"")


class NoText:
    """No page is made text of."""

    binary_types = frozenset()


class Clock:
    """Some time."""

    def now_ms(self):
        return 0


async def verdict(case, names):
    """Allow or refuse, why, and the requests that were made."""
    servers = Servers(case.get("chain") or [], case.get("status"))
    fetchers = {"http": servers, "https": servers}
    reader = WebReader(names, [PublicWeb(names)], fetchers, NoText(), Rules("list"), Clock())
    try:
        await reader.read(ReadRequest(case["url"], mode="raw"))
    except CloxyError as error:
        return "refuse", f"{type(error).__name__}: {error.message}", servers.asked
    return "allow", "", servers.asked


async def run(path):
    """Print what is wrong, and return how much."""
    found = json.loads(path.read_text(encoding="utf-8"))
    wrong = 0
    for case in found["cases"]:
        names = Names(found["meta"])
        for turn in range(case.get("repeat", 1)):
            wanted = (case.get("verdict_of_repeat") or [case["verdict"]] * 99)[turn]
            got, why, asked = await verdict(case, names)
            if got != wanted:
                wrong += 1
                print(case["id"], repr(case["url"])[:80], "wanted", wanted, "got", got, why)
            if wanted == "refuse" and not case.get("chain") and asked:
                wrong += 1
                print(case["id"], repr(case["url"])[:80], "a request was made")
            dialled = {address for target in asked for address in target.addresses}
            if not dialled <= set(case.get("connect_must_be", dialled)):
                wrong += 1
                print(case["id"], repr(case["url"])[:80], "dialled", sorted(dialled))
        if "lookups" in case and sum(names.asked.values()) != case["lookups"]:
            wrong += 1
            print(case["id"], repr(case["url"])[:80], "lookups", names.asked)
        if case.get("stage") == "parse" and case["verdict"] == "refuse" and names.asked:
            wrong += 1
            print(case["id"], repr(case["url"])[:80], "a name was looked up")
    print(f"{wrong} wrong of {len(found['cases'])}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("list", type=Path, help="the list, JSON")
    sys.exit(1 if asyncio.run(run(parser.parse_args().list)) else 0)


if __name__ == "__main__":
    main()
