"""`cloxy reembed` between real servers, on real files."""

import json
import shutil
import signal
import sqlite3
import subprocess
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from process import word_embedder
from process.cli_runner import PROGRAM, child_environment, run_cloxy
from server.live_server import PATIENCE, LiveServer

from cloxy_hookspecs import DataDirectoryInUseError, ModelMissingError, NotFoundError

NOTES = 150
PREFIX = "CLOXY_EMBED_PASSAGE_PREFIX"


def note(number):
    return f"xnote xnumber{number} xabout xthing{number * 7} xand xplace{number * 11}"


def of_the_other_space(number):
    """What, with the prefix x, has the vector that the note has without a prefix."""
    return note(number)[1:].replace(" x", " ")


class Memory:
    """A data directory, and the embedder that it is used with."""

    def __init__(self, folder):
        self.folder = folder
        self.data = folder / "data"
        self.plugins = folder / "plugins"
        self.plugins.mkdir()
        shutil.copy(word_embedder.__file__, self.plugins / "words.py")
        self.settings = {
            "CLOXY_DATA_DIR": str(self.data),
            "CLOXY_PLUGINS_DIR": str(self.plugins),
            "CLOXY_EMBED_PROVIDER": "words",
            "CLOXY_EMBED_ON_BATTERY": "1",
        }

    def server(self, **more):
        return LiveServer(self.folder, **{**self.settings, **more})

    def filled(self):
        """With notes and their vectors, made without a prefix."""
        with self.server() as live:
            for number in range(NOTES):
                live.ask("POST", "/ingest_text", {"text": note(number), "source": "note"})
            until_embedded(live)
        return self

    def copied(self, original):
        """With the data of another one."""
        shutil.copytree(original.data, self.data)
        assert self.spaces() == {("", True): NOTES}
        return self

    def change(self, statement):
        """Change the database while nobody uses it."""
        with closing(sqlite3.connect(self.data / "memory.db")) as connection:
            connection.execute(statement)
            connection.commit()

    @staticmethod
    def embedded(prefix, text):
        return word_embedder.vector(prefix, text)

    def reembed(self, *arguments, **more):
        return run_cloxy("reembed", *arguments, **{**self.settings, **more})

    def begin(self, gate, **more):
        """A run that stops at the gate, after some vectors were stored."""
        gate.mkdir()
        environment = {**self.settings, "WORDS_GATE": str(gate), **more}
        process = subprocess.Popen(
            [PROGRAM, "reembed"],
            env=child_environment(None, environment),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        deadline = time.monotonic() + PATIENCE
        while not (gate / "reached").exists():
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < deadline
            time.sleep(0.01)
        return process

    def vectors(self):
        """Prefix of the space, whether it is active, text and vector of every stored one."""
        with closing(sqlite3.connect(self.data / "memory.db")) as connection:
            return connection.execute(
                "SELECT s.passage_prefix, s.active,"
                " substr(m.content, p.char_start + 1, p.char_end - p.char_start), e.vector"
                " FROM embeddings e JOIN embedding_spaces s ON s.id = e.space_id"
                " JOIN passages p ON p.id = e.passage_id JOIN memories m ON m.id = p.memory_id"
            ).fetchall()

    def assert_sound(self):
        """Every vector is what its own space's embedder makes of the text."""
        for prefix, _active, text, stored in self.vectors():
            wanted = word_embedder.vector(prefix, text)
            assert np.allclose(np.frombuffer(stored, "<f4"), wanted, atol=1e-6)

    def spaces(self):
        """How many vectors there are, by prefix, and whether questions are asked there."""
        found = {}
        for prefix, active, _text, _vector in self.vectors():
            found[prefix, bool(active)] = found.get((prefix, bool(active)), 0) + 1
        return found


WAITING = """
    SELECT (SELECT count(*) FROM passages p WHERE NOT EXISTS (
        SELECT 1 FROM embeddings e JOIN embedding_spaces s ON s.id = e.space_id
        WHERE e.passage_id = p.id AND s.active))
    + (SELECT count(*) FROM embeddings e JOIN embedding_spaces s ON s.id = e.space_id
        WHERE NOT s.active AND s.state != 'dormant' AND (s.state = 'leaving' OR :all))
"""


def until_embedded(live, *, alone=True):
    """Wait until every passage has a vector of the active space; by default no other is left."""
    deadline = time.monotonic() + PATIENCE
    with closing(sqlite3.connect(live.data / "memory.db")) as connection:
        while left := connection.execute(WAITING, {"all": alone}).fetchone()[0]:
            assert time.monotonic() < deadline, f"{left} are left"
            time.sleep(0.02)


def found_by_meaning(live, query):
    """The most similar note, and how similar it is; a server that begins is waited for."""
    deadline = time.monotonic() + PATIENCE
    while True:
        body = {"query": query, "mode": "dense", "top_k": 1}
        status, answer = live.ask("POST", "/recall", body)
        if status == 200:
            best = answer["results"][0]
            return best["passages"][0]["text"], best["similarity"]
        assert time.monotonic() < deadline, answer
        time.sleep(0.02)


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A filled memory, to be copied."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        return Memory(tmp_path_factory.mktemp("original")).filled()


@pytest.fixture
def memory(original, tmp_path):
    return Memory(tmp_path).copied(original)


def refused(memory, **more):
    environment = {**memory.settings, "CLOXY_PORT": "0", "CLOXY_WATCH": "0", **more}
    run = run_cloxy("start", **environment)
    assert run.returncode == 1
    return run.stderr.decode()


def test_a_changed_prefix_is_refused_until_everything_is_embedded_anew(memory):
    changed = {PREFIX: "passage: "}
    said = refused(memory, **changed)
    assert "CLOXY_EMBED_PASSAGE_PREFIX" in said
    assert "run `cloxy reembed`" in said
    assert memory.spaces() == {("", True): NOTES}
    run = memory.reembed(**changed)
    assert run.returncode == 0, run.stderr
    assert f"{NOTES} passages embedded in " in run.stdout.decode()
    assert f"vectors of words: {NOTES}\n" in run.stdout.decode()
    assert memory.spaces() == {("passage: ", True): NOTES}
    memory.assert_sound()
    with memory.server(**changed) as live:
        text, similarity = found_by_meaning(live, note(17))
        assert text == note(17)
        assert similarity > 0.999


def test_a_second_run_has_nothing_to_do(memory):
    assert memory.reembed(**{PREFIX: "x"}).returncode == 0
    run = memory.reembed("--json", **{PREFIX: "x"})
    shown = json.loads(run.stdout)
    assert run.returncode == 0
    assert (shown["embedded"], shown["vectors"], shown["failed"]) == (0, NOTES, 0)
    assert (shown["provider"], shown["model"], shown["reason"]) == ("words", "words", None)


def test_progress_is_told_in_a_few_lines_where_nobody_watches(memory):
    run = memory.reembed(**{PREFIX: "x"})
    lines = run.stderr.decode().splitlines()
    assert lines[-1].startswith(f"[{'#' * 20}] {NOTES}/{NOTES} passages")
    assert len(lines) <= 10
    assert "\r" not in run.stderr.decode()


def test_a_running_server_is_named(memory):
    with memory.server() as live:
        run = memory.reembed(**{PREFIX: "x"})
        assert run.returncode == DataDirectoryInUseError.exit_code
        assert f"process {live.process.pid}" in run.stderr.decode()
        assert "set CLOXY_URL to its address" in run.stderr.decode()
        assert live.ask("GET", "/health")[0] == 200
    assert memory.spaces() == {("", True): NOTES}


def test_without_a_memory_there_is_nothing_to_do(tmp_path):
    fresh = Memory(tmp_path)
    run = fresh.reembed()
    assert run.returncode == NotFoundError.exit_code
    assert "there is no memory in" in run.stderr.decode()
    assert not fresh.data.exists()


def test_without_a_model_it_says_what_to_set(memory):
    run = memory.reembed(CLOXY_EMBED_PROVIDER="none")
    assert run.returncode == ModelMissingError.exit_code
    assert "there is no model to embed with" in run.stderr.decode()
    assert "CLOXY_EMBED_PROVIDER" in run.stderr.decode()
    assert memory.spaces() == {("", True): NOTES}


def test_a_passage_that_cannot_be_embedded_is_counted_and_the_others_go_on(memory):
    with memory.server() as live:
        live.ask("POST", "/ingest_text", {"text": "an UNREADABLE note", "source": "note"})
    run = memory.reembed(**{PREFIX: "x"})
    assert run.returncode == 1
    assert "a word cannot be read" in run.stderr.decode()
    assert memory.spaces() == {("x", True): NOTES}


def test_ctrl_c_says_how_far_it_came_and_the_next_run_goes_on(memory, tmp_path):
    process = memory.begin(tmp_path / "gate", **{PREFIX: "x"})
    process.send_signal(signal.SIGINT)
    (tmp_path / "gate" / "go").touch()
    _out, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert f"of {NOTES} passages have been embedded" in said
    assert "run `cloxy reembed` again, or start the server" in said
    assert "Traceback" not in said
    before = memory.spaces()
    assert before["", True] == NOTES
    assert 0 < before["x", False] < NOTES
    shown = json.loads(memory.reembed("--json", **{PREFIX: "x"}).stdout)
    assert shown["embedded"] == NOTES - before["x", False]
    assert memory.spaces() == {("x", True): NOTES}
    memory.assert_sound()


@pytest.fixture
def killed(memory, tmp_path):
    """A memory in the middle of a change, left by a process that was killed."""
    process = memory.begin(tmp_path / "gate", **{PREFIX: "x"})
    process.kill()
    process.communicate()
    found = memory.spaces()
    assert found["", True] == NOTES
    assert 0 < found["x", False] < NOTES
    memory.assert_sound()
    return memory


def test_after_a_kill_the_server_goes_on_with_the_new_settings(killed):
    with killed.server(**{PREFIX: "x"}) as live:
        until_embedded(live)
        for number in (0, 3, NOTES - 1):
            text, similarity = found_by_meaning(live, note(number))
            assert text == note(number)
            assert similarity > 0.999
    assert killed.spaces() == {("x", True): NOTES}
    killed.assert_sound()


def test_after_a_kill_the_old_settings_work_as_before(killed):
    half = killed.spaces()["x", False]
    with killed.server() as live:
        until_embedded(live, alone=False)
        for number in (0, 3, NOTES - 1):
            text, similarity = found_by_meaning(live, note(number))
            assert text == note(number)
            assert similarity > 0.999
        # What was begun is neither searched nor thrown away.
        for query in (of_the_other_space(0), of_the_other_space(NOTES - 1)):
            assert found_by_meaning(live, query)[1] < 0.9
    assert killed.spaces() == {("", True): NOTES, ("x", False): half}
    killed.assert_sound()
    assert killed.reembed("--cancel").returncode == 0
    assert killed.spaces() == {("", True): NOTES}


def test_after_a_kill_the_former_space_answers_until_the_new_one_is_full(killed):
    assert np.allclose(
        word_embedder.vector("", note(0)), word_embedder.vector("x", of_the_other_space(0))
    )
    slow = killed.folder / "slow"
    slow.mkdir()
    with killed.server(**{PREFIX: "x", "WORDS_SLOW": str(slow)}) as live:
        # The former space answers until the new one is full, to its own questions alone.
        for number in (0, NOTES - 1):
            text, similarity = found_by_meaning(live, note(number))
            assert text == note(number)
            assert similarity > 0.999
            assert found_by_meaning(live, of_the_other_space(number))[1] < 0.9
        assert killed.spaces()["", True] == NOTES
        (slow / "go").touch()
        until_embedded(live)
        text, similarity = found_by_meaning(live, note(3))
        assert text == note(3)
        assert similarity > 0.999


def test_the_built_in_model_with_another_prefix(tmp_path):
    with LiveServer(tmp_path, CLOXY_EMBED_ON_BATTERY="1") as live:
        live.ask("POST", "/ingest_text", {"text": "The dashboard runs on port 9100."})
        until_embedded(live)
    data = {"CLOXY_DATA_DIR": str(tmp_path / "data"), PREFIX: "passage: "}
    assert b"cloxy reembed" in run_cloxy("start", CLOXY_PORT="0", **data).stderr
    run = run_cloxy("reembed", **data)
    assert run.returncode == 0, run.stderr
    said = run.stdout.decode()
    assert said.startswith("1 passage embedded in ")
    assert said.endswith("vectors of sentence-transformers/all-MiniLM-L6-v2: 1\n")
    with LiveServer(tmp_path, **{PREFIX: "passage: "}) as live:
        until_embedded(live)


def test_help_tells_that_questions_are_answered_meanwhile(tmp_path: Path):
    run = run_cloxy("reembed", "--help", CLOXY_DATA_DIR=str(tmp_path / "none"))
    assert run.returncode == 0
    assert "answered from the vectors that are there" in " ".join(run.stdout.decode().split())
