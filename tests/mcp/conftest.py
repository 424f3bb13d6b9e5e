"""A server with a few sessions in it, and ways to speak to it."""

import pytest
from server.live_server import LiveServer, line, write_session
from server.mcp_wire import Wire


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A server that the tests of a module share, with two sessions read."""
    folder = tmp_path_factory.mktemp("filled")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        with LiveServer(folder, TZ="Asia/Tokyo") as server:
            write_session(
                server.logs,
                "s-one",
                line("u1", "We decided to keep the harbour ledger in PostgreSQL."),
                line("a1", "Agreed: PostgreSQL, because of its ranges.", role="assistant"),
            )
            write_session(
                server.logs,
                "s-two",
                line("u2", "The lighthouse lamp needs new bulbs.", session="s-two"),
            )
            status, report = server.ask("POST", "/ingest_convos", {})
            assert (status, report["messages_added"]) == (200, 3)
            yield server


@pytest.fixture
def wire(filled):
    return Wire(filled)


@pytest.fixture
def live(tmp_path):
    with LiveServer(tmp_path) as server:
        yield server
