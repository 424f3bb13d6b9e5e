"""Servers over data directories of the original."""

import pytest
from ingest.ingest_support import Server
from legacy.legacy_kit import OldDatabase, build


@pytest.fixture
def server_over(tmp_path):
    """Starts a server over a database of a version; closed at the end."""
    running = []

    def start(version, fill=OldDatabase.fill, **environ):
        build(tmp_path / "data", version, fill)
        server = Server(tmp_path, environ=environ)
        server.__enter__()
        running.append(server)
        return server

    yield start
    for server in running:
        server.__exit__(None, None, None)
