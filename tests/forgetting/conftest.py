"""A running server for a single test."""

import pytest
from server.live_server import LiveServer


@pytest.fixture
def live(tmp_path):
    with LiveServer(tmp_path) as server:
        yield server
