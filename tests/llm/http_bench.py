"""What the tests of llm-http build on: settings as texts, and names that lead where they say."""

import asyncio
import logging
from contextlib import aclosing

from cloxy_hookspecs import ChatMessage, ChatRequest, FetchError, ModelChoices, Network
from cloxy_plugins.llm_http import settings as declared
from cloxy_plugins.llm_http.model import create_model

BY_NAME = {setting.name.partition(".")[2]: setting for setting in declared.SETTINGS}


class Names:
    """A network whose names have the addresses that a test gives them; implements `Network`."""

    def __init__(self, **names):
        self.names = {"localhost": ["127.0.0.1"], **names}
        self.looked_up = []
        self.dialled = []
        self.lead_to = None
        self.port = None

    async def resolve(self, host, port):
        self.looked_up.append(host)
        if host not in self.names:
            raise FetchError(f"the name {host} has no address")
        return self.names[host]

    def route(self, address, port):
        self.dialled.append(address)
        return self.lead_to or (address, port)

    def own_networks(self):
        return ()

    def own_port(self):
        return self.port


class Chosen:
    """What `cloxy init` set up; implements `ModelChoices`."""

    def __init__(self, choice):
        self.choice = choice

    def current(self):
        if isinstance(self.choice, Exception):
            raise self.choice
        return self.choice


class Context:
    """The little of a host that the plugin asks for."""

    def __init__(self, values, ports):
        self._values = values
        self._ports = ports
        self.log = logging.getLogger("cloxy.test")
        self.clock = None

    @property
    def settings(self):
        return self

    def __getitem__(self, setting):
        return self._values.get(setting.name, setting.default)

    def service(self, port):
        return self._ports[port]

    def maybe(self, port):
        return self._ports.get(port)


def make(base_url="", *, names=None, choice=None, **values):
    """The back-end with settings as texts, as variables have them."""
    values["base_url"] = base_url
    parsed = {BY_NAME[name].name: BY_NAME[name].parse(str(text)) for name, text in values.items()}
    ports = {Network: names or Names()}
    if choice is not None:
        ports[ModelChoices] = Chosen(choice)
    return create_model(Context(parsed, ports))


def ask(text="hello there", **fields):
    """A request with one question."""
    return ChatRequest(messages=(ChatMessage("user", text),), **fields)


async def _collect(model, request):
    async with aclosing(model.stream(request)) as deltas:
        return [delta async for delta in deltas]


def deltas_of(model, request=None):
    """All deltas of an answer."""
    return asyncio.run(_collect(model, request or ask()))


def text_of(deltas):
    return "".join(delta.text for delta in deltas)
