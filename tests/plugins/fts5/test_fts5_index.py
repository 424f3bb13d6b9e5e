"""The index over a real file: what is found, and how it follows its rows."""

import pytest
from sqlalchemy import event
from sqlalchemy import text as sql_text

from cloxy_hookspecs import Filters, IndexChange, IndexRow, Probe
from cloxy_plugins.fts5.check import _compare_text
from cloxy_plugins.fts5.deadline import TimeLimitReachedError, time_limit

TEXTS = [
    "ticket PROJ-482 moved to lane two",
    "std::vector grows",
    "pinned ubuntu 20.04",
    "C++ and C# mixed",
    "edit src/app/a_b-c.py",
    "ERR_CONN_RESET seen",
    "class HttpRetryPolicy is new",
    "run git commit --no-verify",
    "upstream=10.0.0.7:9443 req=7f3ac1",
    "今天下午三点开项目评审会议讨论排期",
    "承認フローを直した",
    "用sqlite存密钥轮换日志",
    "배포 체크리스트를 먼저 확인한다",
    "Пароль ротация ежеквартально",
    "Le café est fermé",
    "अनीता ने कहा",
    "we migrated the migrations",
]


@pytest.mark.parametrize(
    ("question", "place"),
    [
        ("PROJ-482", 0),
        ("-482", 0),
        ("std::vector", 1),
        ("20.04", 2),
        ("C++", 3),
        ("C#", 3),
        ("a_b-c", 4),
        ("src/app", 4),
        ("CONN_RESET", 5),
        ("retry", 6),
        ("http_retry_policy", 6),
        ("no-verify", 7),
        ("10.0.0.7", 8),
        ("7f3ac1", 8),
        ("评审会议", 9),
        ("项目 评审", 9),
        ("项目评审", 9),
        ("会", 9),
        ("承認", 10),
        ("密钥轮换", 11),
        ("sqlite", 11),
        ("체크리스트", 12),
        ("ротация", 13),
        ("cafe", 14),
        ("café", 14),
        ("cafe\u0301", 14),
        ("अनीता", 15),
        ("migration", 16),
    ],
)
def test_each_term_finds_its_text_first(shelf, question, place):
    shelf.put(*TEXTS)
    assert shelf.found(question)[:1] == [TEXTS[place]]


def test_an_unknown_word_finds_nothing(shelf):
    shelf.put(*TEXTS)
    assert shelf.found("qwzxlrm-7741") == []


def test_missing_literals_are_said(shelf):
    shelf.put("the deploy script")
    answer = shelf.ask("deploy qwzx_lrm", "qwzx_lrm")
    assert len(answer.hits) == 1
    assert "qwzx_lrm" in answer.notes[0]


def test_the_exact_line_beats_many_fluent_ones(shelf):
    line = "ECONNRESET upstream=10.0.0.7:9443 req=7f3ac1"
    shelf.put(*(f"we spoke of connection errors again, {n}" for n in range(200)), line)
    assert shelf.found("7f3ac1")[0] == line
    assert shelf.found("ECONNRESET 9443")[0] == line


def test_an_enormous_token_hides_nothing_around_it(shelf):
    text = "before " + "a" * 91_548 + " after"
    shelf.put(text)
    assert shelf.found("before") == shelf.found("after") == [text]
    assert shelf.found("a" * 91_548) == [text]


def test_text_behind_a_nul_is_found(shelf):
    shelf.put("left\x00right")
    assert shelf.found("right") == ["left\x00right"]


def test_header_and_neighbours_are_searched(shelf):
    shelf.put("yes, do it", header="[2026-05-02 Saturday · ledger]", before="merge the lantern")
    assert shelf.found("ledger") == shelf.found("lantern") == ["yes, do it"]


def _agrees(shelf):
    with shelf.engine.begin() as connection:
        return _compare_text(connection) == []


def _put(identifier, text):
    return IndexChange(identifier, IndexRow(identifier, "", text))


def test_replacing_and_removing_leave_no_old_words(shelf):
    shelf.put("first words", "second words")
    shelf.apply(_put(1, "changed entirely"), IndexChange(2, None))
    shelf.texts[1] = "changed entirely"
    assert shelf.found("first") == shelf.found("second") == []
    assert shelf.found("entirely") == ["changed entirely"]
    assert _agrees(shelf)


def test_changes_are_repeatable_and_the_last_counts(shelf):
    changes = [_put(1, "one"), _put(1, "two"), _put(2, "gone"), IndexChange(2, None)]
    shelf.apply(*changes)
    shelf.apply(*changes)
    shelf.apply(IndexChange(77, None))
    assert shelf.sql("SELECT passage_id, body FROM fts_passages") == [(1, "two")]
    assert _agrees(shelf)


def test_the_check_sees_an_index_that_disagrees(shelf):
    shelf.put("right words")
    assert _agrees(shelf)
    shelf.sql("UPDATE fts_passages SET body = 'other words entirely'")
    assert not _agrees(shelf)


def test_clear_empties_and_forgets_frequencies(shelf):
    shelf.put("some words", "some more")
    assert shelf.found("some")
    with shelf.engine.begin() as connection:
        shelf.index.clear_in(connection)
        assert shelf.index.count(connection) == 0
    assert shelf.found("some") == []
    assert _agrees(shelf)


def test_scrub_removes_the_word_from_the_indexs_bytes(shelf):
    shelf.put("keep this", "zebralantern secret")
    shelf.apply(IndexChange(2, None))
    with shelf.engine.begin() as connection:
        shelf.index.scrub_in(connection)
    blocks = shelf.sql("SELECT block FROM passages_fts_data")
    assert not any(b"zebralantern" in block for (block,) in blocks)


def test_a_word_said_after_it_was_asked_for_is_found(shelf):
    shelf.put("nothing yet")
    assert shelf.found("lantern") == []
    shelf.put("a lantern now")
    assert shelf.found("lantern") == ["a lantern now"]


def test_the_time_limit_stops_a_statement_and_frees_the_connection(shelf):
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
    with shelf.engine.begin() as connection:
        with pytest.raises(TimeLimitReachedError), time_limit(connection, 0.01):
            connection.execute(sql_text(endless)).all()
        assert connection.execute(sql_text("SELECT 1")).scalar() == 1


def test_when_time_is_over_the_newest_part_is_searched(shelf, monkeypatch):
    from cloxy_plugins.fts5 import index as module

    shelf.put(*(f"common {number}" for number in range(100)))
    real, after_all = module._best, []

    def slow_unless_sliced(connection, match, conditions, limit, after):
        after_all.append(after)
        if not after:
            raise TimeLimitReachedError
        return real(connection, match, conditions, limit, after)

    monkeypatch.setattr(module, "_best", slow_unless_sliced)
    answer = shelf.ask("common", limit=50)
    assert after_all == [0, 90]
    assert {hit.passage_id for hit in answer.hits} == set(range(91, 101))
    assert "newest 10%" in answer.notes[0]


def test_every_transaction_sees_what_is_there(shelf):
    shelf.put("the ledger is closed")
    assert shelf.found("ledger") == ["the ledger is closed"]
    shelf.put("the ledger is open again")
    assert len(shelf.found("ledger")) == 2


def test_a_transaction_sees_its_own_changes(shelf):
    probe = Probe("ledger", (), Filters())
    with shelf.engine.begin() as connection:
        assert not shelf.index.search(connection, probe, 5).hits
        shelf.index.apply_in(connection, [IndexChange(1, IndexRow(1, "", "a ledger", "", ""))])
        shelf.index.apply_in(connection, [IndexChange(2, IndexRow(2, "", "no book", "", ""))])
        assert [hit.passage_id for hit in shelf.index.search(connection, probe, 5).hits] == [1]
        shelf.index.apply_in(connection, [IndexChange(2, IndexRow(2, "", "a ledger", "", ""))])
        assert len(shelf.index.search(connection, probe, 5).hits) == 2
        shelf.index.clear_in(connection)
        assert not shelf.index.search(connection, probe, 5).hits


def test_the_same_words_are_ranked_once_a_transaction(shelf):
    shelf.put(*(f"ledger number {number}" for number in range(9)))
    said = []
    probe = Probe("ledger", (), Filters())
    with shelf.engine.begin() as connection:
        event.listen(connection, "before_cursor_execute", lambda *call: said.append(call[2]))
        first = shelf.index.search(connection, probe, 5)
        assert shelf.index.search(connection, probe, 5) == first
    assert len([statement for statement in said if "bm25" in statement]) == 1
