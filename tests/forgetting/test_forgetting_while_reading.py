"""Forgetting while the logs grow and are being read: nothing comes back, is lost, or is doubled."""

import random
import re
import sqlite3
import threading
from contextlib import closing
from datetime import UTC, datetime

import pytest
from forgetting.canaries import holders
from server.live_server import LiveServer, line, write_session

ROUNDS = 9
SESSIONS = {
    "s-memories": "/srv/demo/one",
    "s-session": "/srv/demo/one",
    "s-project": "/srv/demo/two",
    "s-beside": "/srv/demo/one",
}


def now():
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Talk:
    """Sessions that grow; every message has a word of its own."""

    def __init__(self, server, chance):
        self.server = server
        self.chance = chance
        self.said: dict[str, list[str]] = {session: [] for session in SESSIONS}

    def grow(self, session, count):
        lines = []
        for _ in range(count):
            word = f"{session.replace('-', '')}w{len(self.said[session]):05d}x"
            self.said[session].append(word)
            text = f"{word} and harbours, ledgers and train tables " * self.chance.randint(1, 9)
            place = SESSIONS[session]
            lines.append(line(f"u-{word}", text, session=session, cwd=place, timestamp=now()))
        write_session(self.server.logs, session, *lines)

    def stored(self, more=""):
        """Words by memory, as another reader of the database sees them."""
        uri = f"file:{self.server.data}/memory.db?mode=ro"
        with closing(sqlite3.connect(uri, uri=True)) as connection:
            rows = connection.execute(
                "SELECT memories.id, sessions.key, content FROM memories"
                f" JOIN sessions ON sessions.id = session_id WHERE true {more}"
            ).fetchall()
        return [(i, key, set(re.findall(r"s[a-z]+w\d{5}x", content))) for i, key, content in rows]


@pytest.mark.parametrize("force", [False, True], ids=["grown", "read-again"])
def test_nothing_comes_back_is_lost_or_doubled(tmp_path, force):
    seed = random.SystemRandom().randrange(10**6)
    print("seed", seed)
    chance = random.Random(seed)
    with LiveServer(tmp_path) as server:
        talk = Talk(server, chance)
        for session in SESSIONS:
            talk.grow(session, 60)
        server.ask("POST", "/ingest_convos", {})
        ended, answers = threading.Event(), []

        def read_all_the_time():
            while not ended.is_set():
                answers.append(server.ask("POST", "/ingest_convos", {"force": force}))

        reader = threading.Thread(target=read_all_the_time)
        reader.start()
        gone, unsure = set(), set()
        try:
            for _round in range(ROUNDS):
                for session in SESSIONS:
                    talk.grow(session, chance.randint(1, 40))
                forget_one(talk, chance, gone, unsure)
        finally:
            ended.set()
            reader.join()
        assert {status for status, _report in answers} == {200}
        assert server.ask("POST", "/ingest_convos", {"force": force})[0] == 200
        check(talk, gone, unsure)
        server.stop()
        assert holders(server.data, sorted(gone)) == {}
        server.start()
        assert server.ask("POST", "/ingest_convos", {"force": True})[0] == 200
        check(talk, gone, unsure)


def forget_one(talk, chance, gone, unsure):
    """Forget a memory, a session or a project; what surely goes, and what came meanwhile."""
    kind = chance.choice(["memory", "memory", "session", "project"])
    if kind == "memory":
        whole = talk.stored("AND NOT open AND key = 's-memories'")
        if not whole:
            return
        identifier, _key, words = chance.choice(whole)
        status, reply = talk.server.ask("DELETE", f"/memory/{identifier}")
    else:
        session, body = {
            "session": ("s-session", {"session": "s-session"}),
            "project": ("s-project", {"project": "/srv/demo/two"}),
        }[kind]
        words = {
            word for _id, _key, found in talk.stored(f"AND key = '{session}'") for word in found
        }
        written = set(talk.said[session])
        status, reply = talk.server.ask("POST", "/forget", body)
        unsure |= written
    if status == 404:
        return
    assert status == 200, reply
    gone |= words


def check(talk, gone, unsure):
    rows = talk.stored()
    found = [word for _id, _key, words in rows for word in words]
    assert len(found) == len(set(found)), "a message is there twice"
    said = {word for words in talk.said.values() for word in words}
    assert not gone & set(found)
    assert said - gone - unsure <= set(found), "a message is lost"
    stats = talk.server.ask("GET", "/memory_stats")[1]
    assert stats["total_memories"] == len(rows)
    assert holders(talk.server.data, sorted(gone)) == {}
