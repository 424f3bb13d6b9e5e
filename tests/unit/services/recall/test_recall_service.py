"""A recall from question to answer, over a real store."""

from datetime import UTC, datetime

import pytest
from sqlalchemy import update

from cloxy_core.services.indexing import CommitChannel
from cloxy_core.services.recall import counting
from cloxy_core.services.recall.filtering import narrowed, resolved
from cloxy_hookspecs import (
    CommitIndexProvider,
    Filters,
    Found,
    Hit,
    InputError,
    ModelMissingError,
    Window,
)
from cloxy_hookspecs.tables import memories

NOW = 1_790_000_000_000
DAY = 86_400_000
LONG = "the ledger migration locks the table, so it runs at night after the backup has ended"


def at(*parts):
    return int(datetime(*parts, tzinfo=UTC).timestamp() * 1000)


@pytest.mark.parametrize("text", ["", "  ", "?!", '""', "🙂", "\x00", "_"])
def test_nothing_to_search_for_is_said(world, text):
    with pytest.raises(InputError, match="nothing to search for"):
        world.recall(text)


def test_an_unknown_word_has_no_answer(world):
    world.say(*(f"message number {number} about the ledger" for number in range(50)))
    assert world.recall("qwzxlrm-7741").hits == ()


def test_dense_without_a_model_is_refused_and_hybrid_names_who_answered(world):
    world.say("the ledger")
    with pytest.raises(ModelMissingError):
        world.recall("ledger", mode="dense")
    for mode in ("hybrid", "keyword"):
        answer = world.recall("ledger", mode=mode)
        assert (answer.channels, answer.notes) == (("keyword",), ())


def test_a_hit_names_its_memory_its_place_and_its_reasons(world):
    world.say("hello there", "see a_b.py for the ledger", session="abcdef0123", title="Ledger work")
    [hit] = world.recall("a_b.py").hits
    passage = hit.passages[0]
    assert hit.content[passage.char_start : passage.char_end] == passage.text
    assert hit.header == "[2026-09-21 14:13 · app · Ledger work]"
    assert (hit.project, hit.session, hit.sessions) == ("/src/app", "abcdef0123", ("abcdef0123",))
    assert hit.keyword_rank == 1
    assert passage.parts["literal"] == 1.0
    assert passage.parts["final"] == passage.score == hit.score
    assert {"keyword", "recency"} <= set(passage.parts)


def test_groups(world):
    world.say("one ledger", "a ledger is two words more than one")
    [memory] = world.recall("ledger", group="memory").hits
    assert [passage.text for passage in memory.passages] == [
        "one ledger",
        "a ledger is two words more than one",
    ]
    assert world.texts("ledger") == [passage.text for passage in memory.passages]
    assert len(world.recall("ledger", group="passage", top_k=1).hits) == 1


def test_a_neighbour_is_found_by_its_context_but_below(world):
    world.say("shall we use the red lantern", "yes, do it", "unrelated talk of the day")
    assert world.texts("red lantern")[:2] == ["shall we use the red lantern", "yes, do it"]


def test_subagents_are_left_out_unless_asked_for(world):
    world.say("ledger by a person", session="s1")
    world.say("ledger by a helper", session="s1/agent-1", author="subagent", role="assistant")
    assert world.texts("ledger") == ["ledger by a person"]
    assert len(world.texts("ledger", filters=Filters(subagents=True))) == 2
    only = Filters(authors=("subagent",))
    assert world.texts("ledger", filters=only) == ["ledger by a helper"]


def test_hard_filters_bound_everything(world):
    world.say("ledger early", session="s1", project="/src/app", at=NOW - 10 * DAY)
    world.say("ledger late", session="s2", project="/src/other", at=NOW - DAY)
    assert world.texts("ledger", filters=Filters(project="/src/other")) == ["ledger late"]
    early = Filters(window=Window(None, NOW - 5 * DAY))
    assert world.texts("ledger", filters=early) == ["ledger early"]
    assert world.recall("ledger", filters=early).searched == 1
    assert world.recall("ledger").searched == 2


def test_searched_follows_what_is_written(world, monkeypatch):
    monkeypatch.setattr(counting, "DEAR", float("inf"))  # on a slow machine any count may be
    world.say("ledger", session="s1")
    assert world.recall("ledger").searched == 1
    world.say("ledger", session="s2")
    assert world.recall("ledger").searched == 2


def test_a_date_in_the_question_goes_ahead_but_is_not_a_wall(world):
    world.say("a_b.py was split", session="s1", at=at(2026, 3, 10))
    world.say("a_b.py, a_b.py and again a_b.py", session="s2", at=at(2026, 6, 10))
    first, second = world.recall("a_b.py in March 2026", group="passage").hits
    assert first.passages[0].text == "a_b.py was split"
    assert first.passages[0].parts["window"] > 0
    assert "window" not in second.passages[0].parts
    assert len(world.texts("a_b.py in January 2025")) == 2


def test_a_date_outside_of_the_hard_window_adds_nothing(world):
    world.say("the ledger", at=at(2026, 6, 10))
    hard = Filters(window=Window(at(2026, 6, 1), at(2026, 7, 1)))
    assert world.texts("ledger in March 2026", filters=hard) == ["the ledger"]


def test_latest_is_the_newest_that_holds_the_literal(world):
    for number, day in enumerate((3, 1, 2)):
        world.say(f"changed a_b.py, round {number}", session=f"s{number}", at=NOW - day * DAY)
    world.say("nothing of the sort, but of late", session="s9", at=NOW)
    assert world.texts("latest change to a_b.py")[:3] == [
        "changed a_b.py, round 1",
        "changed a_b.py, round 2",
        "changed a_b.py, round 0",
    ]


def test_scores_fall_in_the_order_of_the_answer(world):
    for number in range(8):
        world.say(f"a_b.py and ledger {'x ' * number}", session=f"s{number}", at=NOW - number * DAY)
    for question in ("latest a_b.py", "a_b.py yesterday", "ledger"):
        scores = [hit.score for hit in world.recall(question, top_k=8).hits]
        assert scores == sorted(scores, reverse=True)


def test_a_history_copied_into_a_fork_is_one_hit_of_two_sessions(world):
    for session, parent in (("fork", "first"), ("first", None)):
        world.say(LONG, session=session, parent=parent, uids=["u1"])
    [hit] = world.recall("ledger migration", group="passage").hits
    assert (hit.session, hit.sessions) == ("first", ("first", "fork"))
    [hit] = world.recall("ledger migration", group="memory").hits
    assert (hit.session, hit.sessions) == ("first", ("first", "fork"))


def test_short_texts_of_different_messages_stay_apart(world):
    world.say("ledger: go on", session="s1")
    world.say("ledger: go on", session="s2")
    assert len(world.recall("ledger", group="passage").hits) == 2


def test_sessions_beyond_the_filter_are_not_listed(world):
    world.say(LONG, session="s1", project="/src/app")
    world.say(LONG, session="s2", project="/src/secret")
    [hit] = world.recall("ledger migration", filters=Filters(project="/src/app")).hits
    assert hit.sessions == ("s1",)


def test_a_summary_ranks_below_what_it_sums_up(world):
    world.say("the ledger moved to port 9443", session="s1", role="summary", author="summary")
    world.say("the ledger moved to port 9443 now", session="s2")
    assert world.texts("ledger port 9443")[0].endswith("now")


def test_inactive_memories_are_never_shown(world):
    world.say("the ledger")
    world.write(lambda connection: connection.execute(update(memories).values(state="archived")))
    assert world.recall("ledger").hits == ()


def test_rrf_gives_the_originals_scores(world):
    world.use("rrf")
    for place, age in enumerate((0, 30, 60)):
        world.say("the ledger runs", session=f"s{place}", at=NOW - age * DAY)
    hits = {hit.session: hit for hit in world.recall("ledger").hits}
    for place, factor in enumerate((1.0, 0.5, 0.25)):
        hit = hits[f"s{place}"]
        expected = 1 / (60 + hit.keyword_rank) * (0.7 + 0.3 * factor)
        assert hit.score == pytest.approx(expected, abs=1e-6)
        assert hit.recency == pytest.approx(factor, abs=1e-3)
        assert hit.score <= 2 / 61


def test_recency_weight_is_the_callers(world):
    world.say("the ledger runs", session="old", at=NOW - 300 * DAY)
    world.say("the ledger runs on and on", session="new", at=NOW)
    assert world.recall("ledger runs", recency_weight=0.0).hits[0].session == "old"
    assert world.recall("ledger runs", recency_weight=1.0).hits[0].session == "new"


def test_hundred_results_are_possible(world):
    for number in range(6):
        world.say(
            *(f"ledger line {number} {n} " + "x " * 700 for n in range(20)), session=f"s{number}"
        )
    assert len(world.recall("ledger", top_k=100).hits) == 100


class WeakVectors:
    """A dense channel that returns the same short passage for every question."""

    def __init__(self, passage):
        self.passage = passage

    def search(self, connection, probe, limit):
        return Found([Hit(self.passage, 0.11)], ("vectors are still being made",))

    def count(self, connection):
        return 1


def test_a_lone_keyword_match_beats_the_only_vector(world):
    world.say("ok", session="s1")
    world.say("the ledger is locked at night", session="s2")
    record = CommitIndexProvider(
        name="weak", summary="weak", channel="dense", weight=0.3, create=lambda _context: None
    )
    world.use("weighted", [*world.channels, CommitChannel(record, WeakVectors(1))])
    answer = world.recall("ledger", group="passage")
    assert answer.hits[0].passages[0].text == "the ledger is locked at night"
    assert set(answer.channels) == {"keyword", "dense"}
    assert answer.notes == ("vectors are still being made",)
    assert world.texts("ledger", mode="dense") == ["ok"]


def test_resolved_authors():
    assert "subagent" not in resolved(Filters()).authors
    assert "subagent" in resolved(Filters(subagents=True)).authors
    assert "own" not in {*resolved(Filters()).authors, *resolved(Filters(subagents=True)).authors}
    assert resolved(Filters(authors=("own",))).authors == ("own",)
    assert resolved(Filters(authors=("subagent",))).authors == ("subagent",)


def test_narrowed_windows():
    hard = Filters(window=Window(10, 20))
    assert narrowed(hard, None) is None
    assert narrowed(hard, Window(20, 30)) is None
    assert narrowed(hard, Window(15, 30)).window == Window(15, 20)
    assert narrowed(Filters(), Window(None, 5)).window == Window(None, 5)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE memories SET content = replace(content, 'lantern', 'lantera') WHERE id = 1",
        "UPDATE memories SET content = CAST(x'ff' || substr(content, 2) AS TEXT) WHERE id = 1",
        "UPDATE memories SET extra = '{' WHERE id = 1",
    ],
    ids=["another text", "no text", "no metadata"],
)
@pytest.mark.parametrize("group", ["memory", "passage"])
def test_a_damaged_memory_is_left_out_and_told(world, damage, group):
    for number in (1, 2, 3):
        world.say(f"the zebra lantern number {number}", session=f"s{number}")
    assert world.recall("zebra lantern", group=group).notes == ()
    assert world.store.facts().warnings == ()
    world.write(lambda connection: connection.exec_driver_sql(damage))
    answer = world.recall("zebra lantern", group=group, top_k=2)
    assert {hit.id for hit in answer.hits} == {2, 3}
    assert "damaged" in answer.notes[0]
    assert any("the text of memory 1;" in words for words in world.store.facts().warnings)
    assert world.recall("number 2", group=group).hits[0].id == 2
