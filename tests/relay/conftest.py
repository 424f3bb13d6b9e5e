"""The stand-in for the server, and children that relay to it."""

import contextlib

import pytest
from relay.mcp_stub import McpStub
from relay.relay_child import INITIALIZED, RelayChild, initialize, patient


@pytest.fixture
def data_dir(isolated):
    folder = isolated / ".cloxy"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def server(data_dir):
    with McpStub(data_dir).running() as stub:
        yield stub
        assert stub.faults == []


@pytest.fixture
def child(server):
    """Starts a child that relays to the stand-in, and leaves it no earlier than it must."""
    with contextlib.ExitStack() as children:

        def start(*arguments, command=None, **environment):
            environment = {"CLOXY_URL": server.url, **environment}
            command = command or patient(*arguments)
            return children.enter_context(RelayChild(command=command, **environment))

        yield start


@pytest.fixture
def legacy(child):
    """A child with an open session."""
    relay = child()
    assert relay.ask(initialize())["result"]["protocolVersion"] == "2025-06-18"
    relay.send(INITIALIZED)
    return relay
