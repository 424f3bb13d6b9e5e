"""SIGKILL at any moment of forgetting: the database stays sound, and no word is left at the end."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from forgetting.canaries import holders

INGEST = Path(__file__).parent.parent / "ingest"
KILLS = 25
SESSIONS = 8

CHECK = """
import sys
from cloxy_core.store.library import driver
connection = driver.connect(sys.argv[1], isolation_level=None)
for statement in ("PRAGMA integrity_check", "PRAGMA foreign_key_check"):
    print(connection.execute(statement).fetchall())
connection.execute("INSERT INTO passages_fts(passages_fts, rank) VALUES('integrity-check', 1)")
print("words agree")
"""


@pytest.fixture
def server(tmp_path, monkeypatch):
    """Makes servers without HTTP, in this process or in children."""
    monkeypatch.syspath_prepend(str(INGEST))
    module = __import__("ingest_support")
    return lambda: module.Server(tmp_path)


def write_logs(server):
    """Sessions that say a word of their own now and then; these words."""
    lines = __import__("session_lines")
    words = []
    for number in range(SESSIONS):
        key = f"session{number}"
        words.append(f"grasmuecke{number}x")
        records = lines.turns(120, session=key, stem=f"{words[-1]} and longer words " * 4)
        server.write(lines.lines(*records), f"{key}.jsonl")
    return words


def check(data, aside):
    """What SQLite says of a dead process's files; of copies, so that nothing is mended by it."""
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir()
    for path in data.glob("memory.db*"):
        shutil.copy(path, aside)
    command = [sys.executable, "-c", CHECK, str(aside / "memory.db")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


@pytest.mark.process
@pytest.mark.timeout(600)
def test_kills_at_random_moments_leave_it_sound_and_nothing_behind(server, tmp_path, capsys):
    seed = random.randrange(10**9)
    chance = random.Random(seed)
    with server() as first:
        words = [*write_logs(first), "kuckuckslichtnelke"]
        first.ingest()
    paths = [str(INGEST), *filter(None, [os.environ.get("PYTHONPATH")])]
    farm = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("forget_child.py")), str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
    )
    with farm:
        for _ in range(KILLS):
            farm.stdin.write("go\n")
            farm.stdin.flush()
            child = int(farm.stdout.readline())
            time.sleep(chance.uniform(0, 0.4))
            os.kill(child, signal.SIGKILL)
            assert farm.stdout.readline() == "ended\n", f"seed {seed}"
            found = check(tmp_path / "data", tmp_path / "aside")
            assert found == "[('ok',)]\n[]\nwords agree\n", f"seed {seed}"
        farm.stdin.close()
    with server() as last:
        for (key,) in last.rows("SELECT key FROM sessions"):
            last.do(last.engine.memories.forget_session(key))
        last.forget_source("keepsake")
        assert last.do(last.engine.memories.settle()) is None
        last.ingest(force=True)
    assert holders(tmp_path / "data", words) == {}, f"seed {seed}"
    with capsys.disabled():
        print(f" [{KILLS} kills, seed {seed}]", end="")
