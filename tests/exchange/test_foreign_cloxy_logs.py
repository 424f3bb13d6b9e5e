"""Old databases of this machine: what they share with its session logs is there once."""

import json
from contextlib import contextmanager

import pytest
from exchange.exchange_kit import QUIET, Here
from ingest.ingest_support import Server
from ingest.session_lines import instant, lines, said
from legacy.legacy_kit import PROJECT, SESSION, TURNS, OldDatabase

AGENT = f"{SESSION}/agent-a1"
SHORT = (("user", "yes"), ("assistant", "done"))
SAID = "SELECT message_uid FROM passages WHERE session_id IS NOT NULL ORDER BY id"


def database(folder, *fills, version="5.1"):
    old = OldDatabase(folder / "old" / "memory.db", version)
    for fill in fills or (OldDatabase.converse,):
        fill(old)
    return old.close()


def log(some=TURNS, **more):
    return lines(
        *(
            said(text, f"u-{n}", session=SESSION, role=role, at=instant(n), cwd=PROJECT, **more)
            for n, (role, text) in enumerate(some)
        )
    )


class Machine(Here):
    """A place whose logs are read, or not."""

    def __init__(self, folder):
        super().__init__(folder)
        folder.mkdir()

    @contextmanager
    def read(self):
        """The server, which has read the logs."""
        with Server(self.folder, environ=QUIET) as server:
            server.ingest()
            yield server

    def write(self, data, name=f"{SESSION}.jsonl"):
        with Server(self.folder, environ=QUIET) as server:
            server.write(data, name=name)
            server.ingest()

    @property
    def texts(self):
        """What was said, in order of the store."""
        return [line["text"] for line in self.export() if line["kind"] == "message"]

    @property
    def imported(self):
        return [uid for (uid,) in self.rows(SAID) if uid.startswith("cloxy-5:")]


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path / "place")


@pytest.mark.parametrize("version", ["4", "5.0", "5.1"])
def test_what_was_read_from_a_log_is_not_imported_again(machine, tmp_path, version):
    machine.write(log())
    before = machine.export()
    path = database(tmp_path, version=version)
    trial, _said = machine.take(path, "--dry-run")
    summary, _said = machine.take(path)
    number = 3 if version == "4" else len(TURNS)
    assert summary["messages"] == trial["messages"]
    assert summary["messages"]["known"] == number
    assert summary["messages"]["new"] == 0
    assert [m for m in machine.export() if m["kind"] == "message"] == [
        m for m in before if m["kind"] == "message"
    ]


@pytest.mark.parametrize("version", ["4", "5.1"])
def test_what_was_imported_gives_way_to_the_log(machine, tmp_path, version):
    path = database(tmp_path, version=version)
    machine.take(path)
    assert machine.imported
    machine.write(log())
    assert sorted(machine.texts) == sorted(text for _role, text in TURNS)
    assert machine.imported == []
    with machine.read() as server:
        server.check()
        (hit,) = [hit for hit in server.recall("lavender sweeper") if "lavender" in hit.content]
        assert hit.session_id == SESSION
    again, _said = machine.take(path)
    assert again["messages"]["new"] == 0
    assert sorted(machine.texts) == sorted(text for _role, text in TURNS)


@pytest.mark.parametrize("is_first", [True, False])
def test_what_the_log_does_not_tell_is_kept(machine, tmp_path, is_first):
    path = database(tmp_path)
    if is_first:
        machine.write(log(TURNS[:3]))
    summary, _said = machine.take(path)
    if not is_first:
        machine.write(log(TURNS[:3]))
    assert summary["messages"]["new"] == (3 if is_first else 6)
    assert sorted(machine.texts) == sorted(text for _role, text in TURNS)
    assert len(machine.imported) == 3
    # The rest of the log comes later.
    machine.write(log())
    assert sorted(machine.texts) == sorted(text for _role, text in TURNS)
    assert machine.imported == []


def test_an_edited_word_is_enough_to_be_kept(machine, tmp_path):
    machine.write(log([(role, text.replace("lavender", "purple")) for role, text in TURNS]))
    summary, _said = machine.take(database(tmp_path))
    assert (summary["messages"]["new"], summary["messages"]["known"]) == (1, 5)
    assert len(machine.imported) == 1


def test_other_sessions_with_the_same_words_are_another_matter(machine, tmp_path):
    machine.write(log())
    summary, _said = machine.take(database(tmp_path, lambda old: old.converse(session="other")))
    assert (summary["messages"]["new"], summary["messages"]["known"]) == (len(TURNS), 0)


def test_long_messages_that_were_cut_are_recognised(machine, tmp_path):
    long_text = "\n".join(f"{n}. the crimson ledger of line {n} is closed" for n in range(200))

    def fill(old):
        for number, start in enumerate(range(0, len(long_text), 1300)):
            old.add(
                f"[2026-03-04 08:00 · shop]\nASSISTANT: {long_text[start : start + 1500].strip()}",
                f"convo:{SESSION}:{number}",
                session_id=SESSION,
                project=PROJECT,
                ts_start="2026-03-04T08:00:00Z",
            )

    path = database(tmp_path, fill)
    machine.take(path)
    assert len(machine.imported) > 3
    machine.write(log((("user", "Print it."), ("assistant", long_text))))
    assert machine.imported == []
    assert machine.texts == ["Print it.", long_text]
    assert machine.take(path)[0]["messages"]["new"] == 0


@pytest.mark.parametrize("is_first", [True, False])
def test_what_sub_agents_said_stood_in_the_session_that_started_them(machine, tmp_path, is_first):
    inner = (("user", TURNS[4][1]), ("assistant", TURNS[5][1]))

    def read():
        machine.write(log(TURNS[:2]))
        machine.write(
            lines(
                *(
                    said(
                        text,
                        f"a-{n}",
                        session=SESSION,
                        role=role,
                        at=instant(n),
                        cwd=PROJECT,
                        isSidechain=True,
                        agentId="a1",
                    )
                    for n, (role, text) in enumerate(inner)
                )
            ),
            "agent-a1.jsonl",
        )

    path = database(tmp_path, lambda old: old.converse((*TURNS[:2], *inner)))
    if is_first:
        read()
    machine.take(path)
    if not is_first:
        read()
    assert machine.rows('SELECT "key" FROM sessions ORDER BY 1') == [(SESSION,), (AGENT,)]
    assert machine.imported == []
    assert sorted(machine.texts) == sorted(text for _role, text in (*TURNS[:2], *inner))


@pytest.mark.parametrize("is_first", [True, False])
def test_a_short_message_that_was_forgotten_does_not_come_back(machine, tmp_path, is_first):
    def fill(old):
        old.converse(SHORT)

    path = database(tmp_path, fill)
    if is_first:
        machine.write(log(SHORT))
    machine.take(path)
    machine.write(log(SHORT))
    assert machine.imported == []
    with machine.read() as server:
        server.forget(server.rows("SELECT id FROM memories")[0][0])
        assert server.rows("SELECT id FROM passages") == []
    summary, _said = machine.take(path)
    assert (summary["messages"]["new"], summary["messages"]["forgotten"]) == (0, 2)
    assert machine.texts == []


def test_a_memory_that_was_upgraded_here_knows_its_own_database(machine, tmp_path):
    path = database(tmp_path)
    machine.data.mkdir()
    (machine.data / "memory.db").write_bytes(path.read_bytes())
    with machine.read():
        pass
    summary, _said = machine.take(path)
    assert (summary["messages"]["new"], summary["messages"]["known"]) == (0, len(TURNS))


def test_a_session_of_two_halves_is_whole_and_in_step(machine, tmp_path):
    """Imported messages and those of the log may stand in one memory until they are parted."""
    path = database(tmp_path, lambda old: old.converse(TURNS[:4]))
    machine.take(path)
    machine.write(log(TURNS[2:]))
    assert sorted(machine.texts) == sorted(text for _role, text in TURNS)
    assert len(machine.imported) == 2
    with machine.read() as server:
        server.check()
    assert json.dumps(machine.texts)
