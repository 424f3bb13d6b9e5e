"""Killed twenty times while it reads the session logs, the server loses and doubles nothing."""

import random
import sqlite3
import time
from collections import Counter

import pytest
from server.live_server import LiveServer, line, write_session

KILLS = 20
SESSIONS = 150
MESSAGES = 40


def said(session: int, number: int) -> str:
    words = random.Random(session * 1000 + number)
    filler = " ".join(words.choices(["cache", "queue", "token", "port", "flag", "lock"], k=40))
    return f"message {number} of session {session}: {filler}"


@pytest.fixture
def backlog(tmp_path):
    server = LiveServer(tmp_path, CLOXY_WATCH="1", CLOXY_WATCH_INTERVAL="0.2")
    for session in range(SESSIONS):
        key = f"s-{session:04d}"
        lines = [
            line(
                f"{key}-{number}",
                said(session, number),
                role="assistant" if number % 2 else "user",
                session=key,
            )
            for number in range(MESSAGES)
        ]
        write_session(server.logs, key, *lines)
    yield server
    server.stop()


def stored(server) -> Counter:
    """How often each message is stored for its session, with its words as they lie in memory."""
    connection = sqlite3.connect(f"file:{server.data / 'memory.db'}?mode=ro", uri=True)
    try:
        rows = connection.execute(
            "SELECT s.key, p.message_uid, substr(m.content, p.char_start + 1, "
            "p.char_end - p.char_start) FROM passages p JOIN memories m ON m.id = p.memory_id "
            "JOIN sessions s ON s.id = p.session_id"
        ).fetchall()
    finally:
        connection.close()
    return Counter(rows)


@pytest.mark.timeout(900)  # twenty starts of a server, on a machine that may have others to do
def test_nothing_is_lost_and_nothing_doubled(backlog):
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")
    moments = random.Random(seed)
    for _ in range(KILLS):
        backlog.start()
        time.sleep(moments.uniform(0.0, 0.35))
        backlog.kill()
    backlog.start()
    status, report = backlog.ask("POST", "/ingest_convos", {})
    assert status == 200
    assert report["errors"] == []
    expected = Counter(
        (f"s-{session:04d}", f"s-{session:04d}-{number}", said(session, number))
        for session in range(SESSIONS)
        for number in range(MESSAGES)
    )
    assert stored(backlog) == expected
    stats = backlog.ask("GET", "/memory_stats")[1]
    assert stats["keyword_index_size"] == stats["passages"] == SESSIONS * MESSAGES
    assert backlog.ask("POST", "/ingest_convos", {"force": True})[1]["messages_added"] == 0
    assert stored(backlog) == expected
