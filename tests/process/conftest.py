"""A stub of the server for tests of the command line."""

import pytest
from process.stub_server import StubServer


@pytest.fixture
def data_dir(isolated):
    """The data directory that commands of the test use."""
    folder = isolated / ".cloxy"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def stub(data_dir):
    with StubServer(data_dir).running() as server:
        yield server
