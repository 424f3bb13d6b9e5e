"""Through the real engine: what is stored of rollouts that grow, move, fork and are resumed."""

import json
from datetime import timedelta

import pytest
from agents.stored import Stored, running, write_log
from codex_kit import START, THREAD, Log, uuid7

import cloxy_plugins.codex.plugin as codex

try:
    from compression import zstd
except ImportError:
    from backports import zstd

LATER = START + timedelta(hours=1)
CHILD = uuid7(LATER)
NAMES = {
    thread: f"sessions/2026/05/02/rollout-2026-05-02T1{n}-00-00-{thread}.jsonl"
    for n, thread in enumerate((THREAD, CHILD))
}


class StoredRollouts(Stored):
    """An application over a folder of Codex."""

    def __init__(self, app, home):
        super().__init__(app)
        self.home = home

    def write(self, thread, log, *, age=3_600):
        return write_log(self.home / NAMES[thread], log, age=age)

    def said(self):
        """Roles, ordered, by session."""
        return self.by_session("role")


@pytest.fixture
def stored(tmp_path, monkeypatch):
    home = tmp_path / "codex"
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CODEX_HOME", str(home))
    with running(tmp_path, codex) as app:
        yield StoredRollouts(app, home)


def conversation(words=("one", "two")):
    log = Log().meta()
    for number, word in enumerate(words):
        log.turn(uuid7(START + timedelta(minutes=number), number)).both(f"say {word}", word)
    return log


TWO = ["user", "assistant"] * 2


def test_a_rollout_is_stored_once_however_often_and_in_whatever_pieces_it_is_read(stored):
    data = conversation().data()
    cut = data.index(b"say two") + 3
    path = stored.write(THREAD, data[:cut])
    stored.ingest()
    assert stored.said()[THREAD] == ["user", "assistant"]
    with path.open("ab") as file:
        file.write(data[cut:])
    stored.ingest()
    assert stored.said() == {THREAD: TWO}
    stored.ingest(force=True)
    assert stored.said() == {THREAD: TWO}
    assert "say two" in stored.content()


def test_a_rollout_that_was_cut_back_keeps_what_was_said_and_goes_on(stored):
    log = conversation()
    path = stored.write(THREAD, log)
    stored.ingest()
    data = log.data()
    path.write_bytes(data[: data.index(b"say two")].rpartition(b"\n")[0] + b"\n")
    stored.ingest()
    assert stored.said() == {THREAD: TWO}
    with path.open("ab") as file:
        file.write(Log(LATER).turn(uuid7(LATER)).both("say other", "other").data())
    stored.ingest()
    assert stored.said() == {THREAD: ["user", "assistant"] * 3}
    assert all(word in stored.content() for word in ("say one", "say two", "say other"))


def test_a_long_rollout_is_read_in_runs(stored):
    log = Log().meta().turn(uuid7(START, 1))
    for number in range(300):
        log.both(f"question {number}", f"answer {number}")
    assert len(log.lines) > 1_000
    stored.write(THREAD, log)
    stored.ingest()
    assert stored.said() == {THREAD: ["user", "assistant"] * 300}


def test_an_archived_rollout_is_not_read_twice(stored):
    path = stored.write(THREAD, conversation())
    stored.ingest()
    archive = stored.home / "archived_sessions" / path.name
    archive.parent.mkdir()
    path.rename(archive)
    stored.ingest()
    assert stored.said() == {THREAD: TWO}
    # Moved to another disk it is another file.
    archive.write_bytes(archive.read_bytes())
    archive.rename(archive.with_suffix(".old"))
    archive.write_bytes(archive.with_suffix(".old").read_bytes())
    stored.ingest()
    assert stored.said() == {THREAD: TWO}


def test_a_rollout_that_goes_on_after_it_was_archived_goes_on(stored):
    path = stored.write(THREAD, conversation())
    stored.ingest()
    archive = stored.home / "archived_sessions" / path.name
    archive.parent.mkdir()
    path.rename(archive)
    stored.ingest()
    archive.rename(path)
    stored.write(THREAD, conversation(("one", "two", "three")))
    stored.ingest()
    assert stored.said() == {THREAD: ["user", "assistant"] * 3}


@pytest.mark.parametrize("ages", [(9_000, 3_600), (3_600, 9_000)])
def test_a_fork_adds_only_what_is_new_in_it(stored, ages):
    stored.write(THREAD, conversation(), age=ages[0])
    fork = Log(LATER, 0.002).meta(CHILD, forked_from_id=THREAD)
    fork.lines += [
        line | {"timestamp": fork.lines[0]["timestamp"]} for line in conversation().lines
    ]
    fork.step = 2.0
    fork.turn(uuid7(LATER + timedelta(seconds=9))).both("say three", "three")
    stored.write(CHILD, fork, age=ages[1])
    stored.ingest()
    assert stored.said() == {THREAD: TWO, CHILD: ["user", "assistant"]}
    assert stored.rows(f"SELECT parent_key FROM sessions WHERE key = '{CHILD}'") == [(THREAD,)]


@pytest.mark.parametrize("ages", [(9_000, 3_600), (3_600, 9_000)])
def test_a_resumed_copy_without_ids_adds_only_what_is_new_in_it(stored, ages):
    old = Log().meta(source=None).both("say one", "one").both("say one", "one")
    copy = Log(LATER).meta(CHILD, source=None)
    copy.lines += [line | {"timestamp": copy.lines[0]["timestamp"]} for line in old.lines]
    copy.both("say one", "one")
    old.both("say no more", "no more")
    stored.write(THREAD, old, age=ages[0])
    stored.write(CHILD, copy, age=ages[1])
    stored.ingest()
    assert stored.said() == {THREAD: ["user", "assistant"] * 3, CHILD: ["user", "assistant"]}


def test_a_copy_whose_original_is_gone_still_has_its_words(stored):
    old = Log().meta(source=None).both("say one", "one")
    copy = Log(LATER).meta(CHILD, source=None)
    copy.lines += [line | {"timestamp": copy.lines[0]["timestamp"]} for line in old.lines]
    stored.write(CHILD, copy.both("say two", "two"))
    stored.ingest()
    assert stored.said() == {THREAD: ["user", "assistant"], CHILD: ["user", "assistant"]}


def test_a_thread_without_a_word_is_no_session(stored):
    stored.write(THREAD, Log().meta().item("user", "<environment_context></environment_context>"))
    stored.ingest()
    assert stored.rows("SELECT count(*) FROM sessions") == [(0,)]
    assert stored.rows("SELECT state FROM sources") == [("watched",)]


def test_a_rollout_of_a_form_that_is_not_understood_is_drift(stored):
    stored.write(THREAD, Log().meta().event("user_said", message="hello"))
    stored.ingest()
    assert stored.rows("SELECT state FROM sources") == [("drift",)]


def test_a_name_given_later_is_the_title(stored):
    path = stored.write(THREAD, conversation())
    stored.ingest()
    assert stored.rows("SELECT title FROM sessions") == [("say one",)]
    row = {"id": THREAD, "thread_name": "Harbour crane", "updated_at": "2026-05-02T10:00:00Z"}
    (stored.home / "session_index.jsonl").write_text(json.dumps(row) + "\n")
    with path.open("ab") as file:
        file.write(Log(LATER).event("token_count", info=None).data())
    stored.ingest()
    assert stored.rows("SELECT title FROM sessions") == [("Harbour crane",)]


def test_a_compressed_rollout_is_the_same_conversation(stored):
    path = stored.write(THREAD, conversation())
    stored.ingest()
    packed = path.with_name(path.name + ".zst")
    packed.write_bytes(zstd.compress(path.read_bytes()))
    path.unlink()
    stored.ingest()
    assert stored.said() == {THREAD: TWO}
    path.write_bytes(conversation(("one", "two", "three")).data())
    stored.ingest()
    assert stored.said() == {THREAD: ["user", "assistant"] * 3}


def test_a_rollout_that_was_compressed_before_it_was_ever_read_is_read(stored):
    path = stored.write(THREAD, conversation())
    path.with_name(path.name + ".zst").write_bytes(zstd.compress(path.read_bytes()))
    path.unlink()
    stored.ingest()
    assert stored.said() == {THREAD: TWO}


def test_a_secret_typed_as_a_prompt_is_not_stored(stored):
    secret = "ghp_" + "FAKEfake0123456789FAKEfake0123456789"
    stored.write(THREAD, Log().meta().both(secret, "That is a token."))
    stored.ingest()
    assert secret not in stored.content()
    assert stored.said() == {THREAD: ["user", "assistant"]}
    assert secret not in str(stored.rows("SELECT title FROM sessions"))
