"""Conversations that were in the old database and are read from their log again."""

import json

import pytest
from ingest.ingest_support import Server
from ingest.session_lines import instant, lines, now, said
from legacy.legacy_kit import PROJECT, SESSION, TURNS, OldDatabase, build

from cloxy_core.services.upgrade.covering import Said
from cloxy_core.services.upgrade.turns import squashed, turns

SWEEPER = "who moves jobs, the lavender sweeper?"
PIECES = len(TURNS) // 2
STATES = (
    "SELECT state, count(*) FROM memories WHERE source_id IS NULL AND origin = 'transcript'"
    " GROUP BY 1 ORDER BY 1"
)
IN_STEP = (
    "SELECT (SELECT count(*) FROM fts_passages), (SELECT count(*) FROM passages p"
    " JOIN memories m ON m.id = p.memory_id WHERE m.state = 'active')"
)


def log_lines(some=TURNS):
    """The session's log, as the agent wrote it."""
    return lines(
        *(
            said(
                text,
                f"uid-{number}",
                session=SESSION,
                role=role,
                at=instant(number),
                cwd=PROJECT,
            )
            for number, (role, text) in enumerate(some)
        )
    )


def write_log(server, some=TURNS):
    return server.write(log_lines(some), name=f"{SESSION}.jsonl")


@pytest.mark.parametrize("version", ["2.0", "3", "4", "5.0", "5.1"])
def test_old_pieces_are_passed_over_once_the_log_has_been_read(server_over, version):
    server = server_over(version)
    assert server.recall(SWEEPER)[0].id == 1
    write_log(server)
    server.ingest()
    assert server.rows(STATES) == [("superseded", PIECES)]
    hits = server.recall(SWEEPER)
    assert [hit.id for hit in hits if hit.id <= PIECES] == []
    assert "lavender sweeper" in hits[0].content
    assert server.value('SELECT count(*) FROM sessions WHERE "key" = ?', SESSION) == 1
    indexed, active = server.rows(IN_STEP)[0]
    assert indexed == active
    events = server.rows("SELECT op, actor, count(*) FROM memory_events WHERE op = 'supersede'")
    assert events == [("supersede", "upgrade", PIECES)]
    # Their vectors stay, for whoever goes back to the old model.
    assert server.value("SELECT count(*) FROM embeddings") == PIECES + 2


def test_a_second_pass_and_a_second_start_change_nothing(server_over):
    server = server_over("5.1")
    write_log(server)
    server.ingest()
    before = server.rows("SELECT id, state, version FROM memories ORDER BY id")
    server.ingest(force=True)
    server.restart()
    server.ingest()
    assert server.rows("SELECT id, state, version FROM memories ORDER BY id") == before


def test_what_the_log_does_not_hold_stays(server_over):
    server = server_over("5.1")
    write_log(server, TURNS[:3])
    server.ingest()
    # The second piece holds a fourth turn, the third one none of them.
    assert server.rows(STATES) == [("active", 2), ("superseded", 1)]
    assert server.recall("marmalade table")[0].id == 2
    with server.file(f"{SESSION}.jsonl").open("ab") as log:
        log.write(log_lines()[len(log_lines(TURNS[:3])) :])
    server.ingest()
    assert server.rows(STATES) == [("superseded", PIECES)]


def test_an_edited_word_is_enough_to_stay(server_over):
    server = server_over("4")
    changed = [(role, text.replace("lavender", "purple")) for role, text in TURNS]
    write_log(server, changed)
    server.ingest()
    states = dict(server.rows(STATES))
    assert states["active"] >= 1
    assert server.recall("lavender sweeper")[0].id == 1


def test_notes_under_the_name_of_a_session_stay(server_over):
    def fill(old):
        old.converse()
        old.note(f"convo:{SESSION}", TURNS[0][1])

    server = server_over("5.1", fill)
    write_log(server)
    server.ingest()
    assert server.rows(STATES) == [("superseded", PIECES)]
    note = server.rows("SELECT state FROM memories WHERE origin = 'note'")
    assert note == [("active",)]


def test_a_start_after_a_kill_between_reading_and_passing_over(server_over, monkeypatch):
    server = server_over("5.1")
    write_log(server)
    settle, server.engine.ingest.read_in = server.engine.ingest.read_in, None
    server.ingest()
    assert settle is not None
    assert server.rows(STATES) == [("active", PIECES)]
    server.restart()
    server.ingest()
    assert server.rows(STATES) == [("superseded", PIECES)]


def test_long_messages_that_both_split_are_recognised(server_over):
    long_text = "\n".join(f"{n}. the crimson ledger of line {n} is closed" for n in range(200))
    talk = (
        ("user", "Print the crimson ledger, please, the whole of it."),
        ("assistant", long_text),
    )

    def fill(old):
        # The original cut such a message by length, each piece with 200 characters of the last.
        for number, start in enumerate(range(0, len(long_text), 1300)):
            piece = long_text[start : start + 1500]
            head = "[2026-03-04 08:00 · shop · A ledger]\n"
            label = "ASSISTANT: " if not number else ""
            old.add(
                head + label + piece.strip(),
                f"convo:{SESSION}:{number}",
                session_id=SESSION,
                project=PROJECT,
                ts_start="2026-03-04T08:00:00Z",
            )

    server = server_over("5.1", fill)
    write_log(server, talk)
    server.ingest()
    assert [state for state, _ in server.rows(STATES)] == ["superseded"]


def test_forgetting_a_message_takes_the_hidden_piece_with_it(server_over):
    server = server_over("5.1")
    write_log(server)
    server.ingest()
    before = server.value("SELECT count(*) FROM memories")
    server.forget(server.recall(SWEEPER)[0].id)
    assert server.value("SELECT count(*) FROM memories WHERE content LIKE '%lavender%'") == 0
    assert server.value("SELECT count(*) FROM memories") < before


def test_forgetting_the_source_finds_the_hidden_pieces(server_over):
    server = server_over("3")
    write_log(server)
    server.ingest()
    server.forget_source(f"convo:{SESSION}")
    assert server.value("SELECT count(*) FROM memories WHERE origin = 'transcript'") == 0


def test_what_was_forgotten_before_the_log_was_read_does_not_come_back(server_over):
    server = server_over("5.1")
    server.forget(server.recall(SWEEPER)[0].id)
    write_log(server)
    server.ingest()
    assert server.value("SELECT count(*) FROM memories WHERE content LIKE '%lavender%'") == 0
    # The rest of the session is read as ever.
    assert server.value("SELECT count(*) FROM memories WHERE content LIKE '%marmalade%'") > 0


def test_a_session_whose_log_never_comes_keeps_its_pieces(server_over):
    server = server_over("3")
    server.write(lines(said("something else", "other", session="other")), name="other.jsonl")
    server.ingest()
    assert server.rows(STATES) == [("active", PIECES)]


def test_nothing_is_looked_for_where_nothing_was_upgraded(tmp_path):
    with Server(tmp_path) as server:
        server.write(lines(said("hello there", "u1", session="s1")))
        server.ingest()
        covering = server.engine.ingest.read_in.__self__
        assert covering._waiting == set()


@pytest.mark.parametrize(
    ("piece", "expected"),
    [
        ("[USER]: one\n\n[ASSISTANT]: two\n  lines", ["one", "two lines"]),
        ("nd of a turn\n\n[USER]: next", ["nd of a turn", "next"]),
        ("SISTANT]: rest\n\n[USER]: next\n\n[ASSI", ["rest", "next"]),
        ("]: rest", ["rest"]),
        ("[2026-03-04 · shop · t]\nUSER: one\n\nASSISTANT: two", ["one", "two"]),
        ("[2026-03-04 08:00 · 0f5a7c9e]\nrest of a long one", ["rest of a long one"]),
        ("[2026-03-04 08:00]\nUSER: no title at all", ["no title at all"]),
        ("[USER]: ", []),
        ("", []),
    ],
)
def test_turns_of_pieces(piece, expected):
    assert list(turns(piece)) == expected


@pytest.mark.parametrize(
    ("piece", "covered"),
    [
        ("[USER]: yes", True),
        ("[USER]: ye", False),
        ("[USER]: the   words that\nwere really said in this session", True),
        ("[USER]: words that were really said in this sessi", True),
        ("[USER]: yes\n\n[ASSISTANT]: and one that was not", False),
        ("es\n\n[ASSISTANT]: the words that were really said in this session", True),
        ("[USER]: \n\n", False),
    ],
)
def test_what_covers_a_piece(piece, covered):
    messages = ["yes", "the words that were really said in this session"]
    said_there = Said(" ".join(map(squashed, messages)), frozenset(messages))
    assert said_there.covers(piece) is covered


def test_the_demo_of_a_real_export_has_no_header_twice(server_over):
    """What leaves as JSON Lines is the text as it was stored."""
    server = server_over("5.1")
    stored = server.rows("SELECT content FROM memories WHERE id = 1")[0][0]
    assert json.dumps(stored)
    assert stored.count("[2026-03-04") == 1


def test_old_pieces_and_new_messages_side_by_side_are_shown_in_order(tmp_path):
    build(tmp_path / "data", "4", OldDatabase.converse)
    with Server(tmp_path) as server:
        write_log(server)
        server.ingest()
        ordinals = server.rows("SELECT ordinal FROM memories ORDER BY id")
        assert [row[0] for row in ordinals] == list(range(len(ordinals)))


@pytest.mark.parametrize("whole", ["session", "source", "project"])
def test_what_is_forgotten_whole_stays_away_whatever_the_log_has(server_over, whole):
    """The old pieces had no ids, and cut a long message where the log does not."""
    long_text = " ".join(f"the lavender ledger of day {n} is balanced." for n in range(90))
    talk = [("user", "lavender"), ("assistant", long_text)]

    def fill(old):
        for number, start in enumerate(range(0, len(long_text), 1300)):
            said_before = "USER: lavender\n\nASSISTANT: " if not number else ""
            piece = long_text[start : start + 1500].strip()
            old.add(
                f"[2026-03-04 08:00 · shop · A ledger]\n{said_before}{piece}",
                f"convo:{SESSION}:{number}",
                session_id=SESSION,
                project=PROJECT,
                ts_start="2026-03-04T08:00:00Z",
            )

    server = server_over("5.1", fill)
    forget = {
        "session": server.engine.memories.forget_session(SESSION),
        "source": server.engine.memories.forget_source(f"convo:{SESSION}"),
        "project": server.engine.memories.forget_project(PROJECT),
    }
    for name, work in forget.items():
        if name == whole:
            server.do(work)
        else:
            work.close()
    write_log(server, talk)
    server.ingest()
    assert server.rows("SELECT content FROM memories WHERE origin = 'transcript'") == []
    later = said("a word of a later day", "uid-later", session=SESSION, at=now(1), cwd=PROJECT)
    server.write(log_lines(talk) + lines(later), name=f"{SESSION}.jsonl")
    server.ingest()
    found = server.rows("SELECT content FROM memories WHERE origin = 'transcript'")
    assert len(found) == 1
    assert "later day" in found[0][0]
    assert "lavender" not in found[0][0]
