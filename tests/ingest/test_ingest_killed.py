"""SIGKILL at any moment of an ingest loses nothing and doubles nothing."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from ingest_support import Server
from session_lines import lines, pairs, title, turns

KILLS = 20


def write_logs(server):
    """Twelve sessions; what is expected of each."""
    wanted = {}
    for number in range(12):
        key = f"s{number}"
        records = turns(150 + 60 * number, session=key, stem="some longer words " * 4)
        server.write(lines(*records[:50], title(f"Title of {key}", session=key)), f"{key}.jsonl")
        with server.file(f"{key}.jsonl").open("ab") as file:
            file.write(lines(*records[50:]))
        wanted[key] = pairs(*records)
    return wanted


@pytest.mark.process
@pytest.mark.timeout(300)
def test_kills_at_random_moments_lose_and_double_nothing(tmp_path, capsys):
    seed = random.randrange(10**9)
    chance = random.Random(seed)
    with Server(tmp_path) as server:
        wanted = write_logs(server)
    farm = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("kill_child.py")), str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ,
    )
    with farm:
        for _ in range(KILLS):
            farm.stdin.write("go\n")
            farm.stdin.flush()
            child = int(farm.stdout.readline())
            time.sleep(chance.uniform(0, 0.15))
            os.kill(child, signal.SIGKILL)
            assert farm.stdout.readline() == "ended\n", f"seed {seed}"
        farm.stdin.close()
    with Server(tmp_path) as server:
        server.ingest()
        assert server.sessions() == wanted, f"seed {seed}"
        server.check()
        for key in wanted:
            path = server.file(f"{key}.jsonl")
            assert server.cursor(path) == (path.stat().st_size, "watched"), f"seed {seed}"
        assert server.ingest().files_skipped == len(wanted)
    with capsys.disabled():
        print(f" [{KILLS} kills, seed {seed}]", end="")
