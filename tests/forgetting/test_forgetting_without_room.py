"""Forgetting when no file can grow: told as it is, and done when there is room again."""

import sqlite3
import sys
from contextlib import closing

import pytest
from forgetting.canaries import holders
from server.live_server import line, write_session

CANARY = "wolkenkuckuck"
resource = pytest.importorskip("resource")
pytestmark = pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="not on this system")


def limit(server, size):
    """Let no file of the running server grow over a size; it is told so as of a full disk."""
    assert sys.platform == "linux"
    limits = (size, resource.RLIM_INFINITY)
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, limits)


def test_a_copy_that_was_removed_before_it_failed_is_named(live):
    talk = [line(f"u{n}", f"{CANARY}{n} of the third drawer " * 9) for n in range(200)]
    write_session(live.logs, "one", *talk)
    assert live.ask("POST", "/ingest_convos", {})[0] == 200
    copy = live.data / "backups" / "memory-20260101T000000000Z-before-core-4.db"
    copy.parent.mkdir(exist_ok=True)
    with closing(sqlite3.connect(f"file:{live.data}/memory.db?mode=ro", uri=True)) as connection:
        connection.execute("VACUUM INTO ?", (str(copy),))
    total = live.ask("GET", "/memory_stats")[1]["total_memories"]
    limit(live, 4096)
    status, reply = live.ask("POST", "/forget", {"session": "s-one"})
    assert (status, reply["error"]["code"]) == (507, "store_full")
    assert live.ask("GET", "/memory_stats")[1]["total_memories"] == total
    assert not copy.exists()
    assert str(copy) in reply["error"]["hint"]
    limit(live, resource.RLIM_INFINITY)
    status, reply = live.ask("POST", "/forget", {"session": "s-one"})
    assert (status, reply["messages"], reply["pending"]) == (200, 200, False)
    assert holders(live.data, [CANARY]) == {}
