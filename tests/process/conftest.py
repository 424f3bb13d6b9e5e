"""A stub of the server for tests of the command line."""

import pytest
from process.stub_server import StubServer


@pytest.fixture
def stub():
    with StubServer().running() as server:
        yield server
