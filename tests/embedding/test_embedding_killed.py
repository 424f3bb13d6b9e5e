"""Killed at any moment while it embeds, the real server loses and doubles no vector."""

import random
import sqlite3
import struct
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "server"))

from live_server import LiveServer, line, write_session

KILLS = 8
SESSIONS = 40
MESSAGES = 60
SUBJECTS = ("cache", "queue", "token", "port", "flag", "lock", "index", "parser")
NEEDLE = "The ferry to the island leaves the harbour at dawn."

COUNTS = """
    SELECT (SELECT count(*) FROM passages),
        (SELECT count(*) FROM embeddings e JOIN passages p ON p.id = e.passage_id
            WHERE e.text_hash = p.text_hash),
        (SELECT count(*) FROM embeddings),
        (SELECT count(DISTINCT passage_id) FROM embeddings)
"""


def said(chance, number):
    return f"message {number}: " + " ".join(chance.choices(SUBJECTS, k=30))


@pytest.fixture
def server(tmp_path):
    made = LiveServer(tmp_path, CLOXY_WATCH="1", CLOXY_WATCH_INTERVAL="0.2")
    chance = random.Random(7)
    for session in range(SESSIONS):
        key = f"s-{session}"
        texts = [said(chance, number) for number in range(MESSAGES)]
        texts[20] = NEEDLE if session == 3 else texts[20]
        write_session(
            made.logs,
            key,
            *(line(f"{key}-{n}", text, session=key) for n, text in enumerate(texts)),
        )
    yield made
    made.stop()


def look(server, statement):
    uri = f"file:{server.data / 'memory.db'}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True)) as connection:
        return connection.execute(statement).fetchall()


def sound(server):
    """What holds at every moment; passages, and those of them that have a vector."""
    ((passages, fresh, rows, distinct),) = look(server, COUNTS)
    assert fresh == rows == distinct <= passages
    return passages, rows


@pytest.mark.process
@pytest.mark.timeout(600)
def test_no_vector_is_lost_or_doubled(server, capsys):
    seed = random.SystemRandom().randrange(2**32)
    moments = random.Random(seed)
    passages, reached = SESSIONS * MESSAGES, [0]
    for _ in range(KILLS):
        server.start()
        wait(server, lambda count: count > reached[-1] or count == passages)
        time.sleep(moments.uniform(0.0, 0.4))
        server.kill()
        reached.append(sound(server)[1])
        assert reached == sorted(reached), f"seed {seed}"
    assert 0 < reached[1] < passages, f"seed {seed}"
    server.start()
    wait(server, lambda count: count == passages)
    assert sound(server) == (passages, passages), f"seed {seed}"
    for (vector,) in look(server, "SELECT vector FROM embeddings"):
        values = struct.unpack(f"<{len(vector) // 4}f", vector)
        assert sum(value * value for value in values) == pytest.approx(1, abs=1e-4)
    found = answered(server, "when does the boat sail from the port town in the morning")
    assert NEEDLE in found["content"]
    with capsys.disabled():
        print(f" [{KILLS} kills at {reached[1:]} of {passages} vectors, seed {seed}]", end="")


def wait(server, enough):
    """Wait until enough vectors are there."""
    deadline = time.monotonic() + 300
    while not enough(count := sound(server)[1]):
        assert time.monotonic() < deadline, f"{count} vectors"
        time.sleep(0.02)


def answered(server, question):
    """The first answer by meaning alone, once the index stands."""
    deadline = time.monotonic() + 120
    while True:
        status, body = server.ask(
            "POST", "/recall", {"query": question, "mode": "dense", "top_k": 1}
        )
        if status == 200 and body["results"]:
            return body["results"][0]
        assert time.monotonic() < deadline, (status, body)
        time.sleep(0.1)
