"""`cloxy reembed` beside a running server: real processes, real signals, questions all the time."""

import json
import random
import signal
import subprocess
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest
from process.cli_runner import PROGRAM, child_environment, run_cloxy
from process.test_cli_reembed import (
    NOTES,
    PATIENCE,
    PREFIX,
    Memory,
    found_by_meaning,
    note,
    of_the_other_space,
)

KILLS = 5
ENDED = ("idle", "done", "cancelled")


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A filled memory, to be copied."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        return Memory(tmp_path_factory.mktemp("original")).filled()


@pytest.fixture
def memory(original, tmp_path):
    return Memory(tmp_path).copied(original)


def choose(memory, prefix="x"):
    """Another space, in the file that a running server reads again."""
    (memory.data / "config.toml").write_text(f'[embed]\npassage_prefix = "{prefix}"\n')


def reembed(memory, live, *arguments, **more):
    return memory.reembed(*arguments, CLOXY_URL=live.url, **more)


@contextmanager
def begun(memory, live, **more):
    """The command, running."""
    environment = {**memory.settings, "CLOXY_URL": live.url, **more}
    process = subprocess.Popen(
        [PROGRAM, "reembed"],
        env=child_environment(None, environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def until(condition):
    deadline = time.monotonic() + PATIENCE
    while not (held := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return held


def progress(live):
    return live.ask("GET", "/reembed")[1]


def slow(memory):
    """Until the file `go` is in it, a second space is filled slowly."""
    folder = memory.folder / "slow"
    folder.mkdir()
    return folder


def made(memory):
    """Vectors of the second space, be it active by now or not."""
    return sum(count for (prefix, _active), count in memory.spaces().items() if prefix == "x")


def is_found(live, number):
    text, similarity = found_by_meaning(live, note(number))
    return text == note(number) and similarity > 0.999


def test_the_server_makes_them_and_goes_over_while_questions_are_answered(memory):
    with memory.server() as live:
        until(lambda: is_found(live, 1))
        choose(memory)
        wrong, stop = [], threading.Event()

        def ask():
            number = 0
            while not stop.is_set():
                number = (number + 7) % NOTES
                body = {"query": note(number), "mode": "dense", "top_k": 1}
                status, answer = live.ask("POST", "/recall", body)
                best = answer["results"][0] if status == 200 else {}
                if best.get("similarity", 0) < 0.999:
                    wrong.append((status, answer))

        asking = [threading.Thread(target=ask) for _ in range(2)]
        for thread in asking:
            thread.start()
        try:
            run = reembed(memory, live)
        finally:
            stop.set()
            for thread in asking:
                thread.join()
        assert run.returncode == 0, run.stderr
        assert wrong == []
        said = run.stdout.decode()
        assert said.startswith(f"{NOTES} passages embedded in ")
        assert f"prefix of passages 'x', {NOTES} vectors: in use" in said
        assert "\r" not in run.stderr.decode()
        assert is_found(live, 3)
        assert found_by_meaning(live, of_the_other_space(3))[1] < 0.9
        until(lambda: memory.spaces() == {("x", True): NOTES})
        memory.assert_sound()
        again = json.loads(reembed(memory, live, "--json").stdout)
        assert (again["state"], again["run"]) == ("done", 1)
    # The same settings start it again.
    with memory.server() as live:
        assert is_found(live, 5)


def test_killed_at_random_moments_it_goes_on_where_it_was(memory, capsys):
    seed = random.SystemRandom().randrange(2**32)
    moments = random.Random(seed)
    folder, reached = slow(memory), [0]
    for turn in range(KILLS):
        live = memory.server(WORDS_SLOW=str(folder), WORDS_SLOWLY="0.02")
        with live:
            if turn == 0:
                until(lambda live=live: is_found(live, 1))
                choose(memory)
                status, _answer = live.ask("POST", "/reembed", {})
                assert status == 200
            until(lambda live=live: is_found(live, moments.randrange(NOTES)))
            if turn in (0, 2):
                until(lambda: made(memory) > reached[-1] or made(memory) == NOTES)
            time.sleep(moments.uniform(0.0, 0.5))
            live.kill()
        found = memory.spaces()
        assert sum(count for (_, active), count in found.items() if active) == NOTES, seed
        reached.append(made(memory))
        assert reached == sorted(reached), f"seed {seed}: {reached}"
        memory.assert_sound()
    assert reached[1] > 0
    with memory.server() as live:
        until(lambda: progress(live)["state"] in ENDED)
        until(lambda: memory.spaces() == {("x", True): NOTES})
        assert is_found(live, 0)
    memory.assert_sound()
    with capsys.disabled():
        print(f" [{KILLS} kills at {reached[1:]} of {NOTES} vectors, seed {seed}]", end="")


def test_ctrl_c_before_the_server_has_answered_says_the_same(stub):
    stub.behave("POST", "/reembed", lambda handler: handler.server.stub.released.wait(PATIENCE))
    environment = child_environment(stub.url, {"CLOXY_VERIFY_SERVER": "0"})
    process = subprocess.Popen([PROGRAM, "reembed"], env=environment, stderr=subprocess.PIPE)
    try:
        until(lambda: stub.asked)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=PATIENCE)[1].decode()
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 130
    assert "The server goes on with it" in said
    assert "Traceback" not in said


def test_ctrl_c_leaves_it_to_the_server_and_cancel_stops_it(memory):
    folder = slow(memory)
    # Long enough that it still goes on when two commands have been run on a busy machine.
    with memory.server(WORDS_SLOW=str(folder), WORDS_SLOWLY="0.6") as live:
        until(lambda: is_found(live, 1))
        choose(memory)
        with begun(memory, live) as process:
            until((folder / "reached").exists)
            process.send_signal(signal.SIGINT)
            _out, said = process.communicate(timeout=PATIENCE)
            assert process.returncode == 130
            assert "The server goes on with it" in said
            assert "cloxy reembed --cancel" in said
            assert "Traceback" not in said
        shown = reembed(memory, live, "--status").stdout.decode()
        assert f"of {NOTES} passages with words" in shown
        assert "being made" in shown
        run = reembed(memory, live, "--cancel")
        assert run.returncode == 0, run.stderr
        until(lambda: {active for _prefix, active in memory.spaces()} == {True})
        assert is_found(live, 2)
        assert "nothing is being embedded anew" in reembed(memory, live, "--status").stdout.decode()


def test_what_this_shell_has_and_the_server_has_not_is_named(memory):
    with memory.server() as live:
        run = reembed(memory, live, **{PREFIX: "x"})
        assert run.returncode != 0
        said = run.stderr.decode()
        assert f"{PREFIX} is 'x' here" in said
        assert "config.toml" in said
        assert memory.spaces() == {("", True): NOTES}
        same = reembed(memory, live)
        assert same.returncode == 0
        assert "nothing to do: the vectors are of words already" in same.stdout.decode()


def test_status_tells_of_both_spaces(memory):
    folder = slow(memory)
    with memory.server(WORDS_SLOW=str(folder)) as live:
        until(lambda: is_found(live, 1))
        choose(memory)
        assert live.ask("POST", "/reembed", {})[0] == 200
        until((folder / "reached").exists)
        spaces = live.ask("GET", "/health")[1]["embedding"]["spaces"]
        told = {space["state"]: (space["vectors"], space["backlog"]) for space in spaces}
        assert told["active"] == (NOTES, 0)
        assert sum(told["filling"]) == NOTES
        shown = run_cloxy("status", **memory.settings, CLOXY_URL=live.url).stdout.decode()
        assert "being made" in shown
        (folder / "go").touch()


def test_without_a_server_status_and_drop_old_work_on_the_file(memory):
    shown = memory.reembed("--status")
    assert shown.returncode == 0
    assert "no server runs" in shown.stdout.decode()
    assert f"{NOTES} vectors: in use" in shown.stdout.decode()
    assert b"there was nothing to cancel" in memory.reembed("--cancel").stdout
    memory.change("UPDATE embedding_spaces SET active = 0")
    assert f"{NOTES} vectors: kept, not used" in memory.reembed("--status").stdout.decode()
    run = memory.reembed("--drop-old", "--json")
    assert json.loads(run.stdout) == {"dropped": 1}
    assert memory.vectors() == []


def test_vectors_are_those_of_the_space_that_the_test_means():
    assert not np.allclose(*(Memory.embedded(prefix, note(3)) for prefix in ("", "x")))
