"""A running server for the tests of a module, and one for a single test."""

import pytest
from server.live_server import LiveServer


@pytest.fixture
def live(tmp_path):
    with LiveServer(tmp_path) as server:
        yield server


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A server that the tests of a module share; they must not depend on each other's rows."""
    folder = tmp_path_factory.mktemp("shared")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        with LiveServer(folder) as server:
            yield server
