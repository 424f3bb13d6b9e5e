"""What the library logs reaches our log without what it quotes, and nothing else."""

import logging

import pytest
from server.mcp_wire import Wire

from cloxy_core.surfaces.mcp.sdk.logs import LIBRARY, Bare, take_logs


@pytest.fixture
def library():
    logger = logging.getLogger(LIBRARY)
    before = list(logger.handlers), logger.level, logger.propagate
    take_logs()
    take_logs()
    yield logger
    logger.handlers, logger.level, logger.propagate = before


def test_records_lose_what_was_filled_in(library, caplog, capsys):
    assert sum(isinstance(handler, Bare) for handler in library.handlers) == 1
    with caplog.at_level(logging.INFO, logger="cloxy.mcp"):
        child = logging.getLogger(f"{LIBRARY}.server.x")
        try:
            raise ValueError("the secret")
        except ValueError:
            child.exception("handler for %r returned: %s", "secret tool", "secret text")
        child.warning(f"Invalid Host header: {'secret.example'}")
        child.info("secret chatter")
    ours = [record for record in caplog.records if record.name == "cloxy.mcp"]
    said = [record.getMessage() for record in ours]
    assert len(said) == 2
    assert "handler for %r returned (ValueError)" in said[0]
    assert "Invalid Host header" in said[1]
    assert "secret" not in "".join(said)
    assert all(record.exc_info is None for record in ours)
    assert not library.propagate
    assert capsys.readouterr() == ("", "")


def test_nothing_of_a_call_reaches_standard_error_or_the_log(live):
    wire = Wire(live)
    wire.initialize()
    wire.legacy("tools/call", name="remember", arguments={"text": "wombat burrow"})
    wire.legacy("tools/call", name="recall", arguments={"query": "wombat", "top_k": "wombat"})
    wire.legacy("no/wombat", text="wombat")
    wire.send("POST", {"jsonrpc": "2.0", "method": "notifications/wombat"}, wire.session)
    wire.send("DELETE", headers=wire.session)
    assert live.stop() == 0
    logs = "".join(file.read_text() for file in (live.data / "logs").iterdir() if file.is_file())
    assert "wombat" not in live.errors.read_text() + logs
