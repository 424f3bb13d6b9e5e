"""Expanders, fusers and signals: the pure stages of a recall."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from math import isfinite
from typing import get_args
from zoneinfo import ZoneInfo

from cloxy_core.testing.conformance.base import CreatedConformance
from cloxy_core.testing.conformance.samples import ODD_TEXTS, generator, random_text
from cloxy_core.testing.fakes import START
from cloxy_core.testing.harness import App
from cloxy_hookspecs import (
    Author,
    CandidateBatch,
    Expander,
    Filters,
    Fuser,
    Hit,
    Query,
    Role,
    Scored,
    Signal,
    SignalProvider,
    Window,
)
from cloxy_hookspecs.seats import EXPANDERS, FUSERS, SIGNALS

NOW = round(START.timestamp() * 1000)
SOFT = frozenset({"search_text", "window", "window_firm", "browse", "literals", "order"})
MODES = ("multiply", "tilt", "add")
QUESTIONS = (
    "what did we decide about the harbour yesterday",
    "latest change to src/app.py:80 with --no-verify since last week",
    "newest firmware between 2026-01-01 and 2026-02-01",
    "the most recent error in v5.1 on Monday, or two days ago",
    *ODD_TEXTS,
)


class ExpanderConformance(CreatedConformance, of_the_kit=True):
    """An expander; it is asked the kit's questions, and a few hundred random ones."""

    seat = EXPANDERS

    def use(self, made: Expander, app: App) -> None:
        """Read one question."""
        app.do(made.expand(questions()[0]))

    def test_hard_fields_are_untouched(self, made: Expander, app: App) -> None:
        """What the caller demanded stays as it was demanded."""
        for query in questions():
            expanded = app.do(made.expand(query))
            for field in fields(Query):
                if field.name not in SOFT:
                    assert getattr(expanded, field.name) == getattr(query, field.name), field.name

    def test_twice_equals_once(self, made: Expander, app: App) -> None:
        """What was understood is not understood again."""
        for query in questions():
            once = app.do(made.expand(query))
            assert app.do(made.expand(once)) == once, query.text[:80]

    def test_soft_fields_make_sense(self, made: Expander, app: App) -> None:
        """A window has a beginning before its end; literals stand in the text."""
        for query in questions():
            expanded = app.do(made.expand(query))
            assert isinstance(expanded.search_text, str)
            assert expanded.order in {"relevance", "newest"}
            if expanded.window and None not in (expanded.window.since, expanded.window.until):
                assert (expanded.window.since or 0) < (expanded.window.until or 0), query.text
            assert all(literal and literal in query.text for literal in expanded.literals)

    def test_a_window_already_found_is_not_lost(self, made: Expander, app: App) -> None:
        """An expander fills in; it does not take away what one before it found."""
        window = Window(NOW - 1000, NOW)
        query = replace(questions()[0], text="harbour", search_text="harbour", window=window)
        query = replace(query, literals=("harbour",), order="newest")
        expanded = app.do(made.expand(query))
        assert expanded.window is not None
        assert "harbour" in expanded.literals
        assert expanded.order == "newest"

    def test_same_question_same_answer(self, made: Expander, app: App) -> None:
        """Only the query counts, its own present included; no clock, no memory."""
        for query in questions():
            assert app.do(made.expand(query)) == app.do(made.expand(query))


def questions() -> Sequence[Query]:
    """Questions of every sort, in several time zones."""
    chance = generator()
    texts = [*QUESTIONS, *(random_text(chance, 80) for _ in range(200))]
    filters = Filters(project="/srv/port", window=Window(since=1), roles=("user",))
    zones = [ZoneInfo(name) for name in ("UTC", "Pacific/Kiritimati", "America/St_Johns")]
    return [
        Query(
            text=text,
            search_text=text if number % 2 else "",
            top_k=5,
            now=NOW,
            filters=filters,
            zone=zones[number % len(zones)],
            recency_weight=0.3,
        )
        for number, text in enumerate(texts)
    ]


class FuserConformance(CreatedConformance, of_the_kit=True):
    """A fuser; it is given lists that the kit makes."""

    seat = FUSERS

    def use(self, made: Fuser, app: App) -> None:
        """Fuse something."""
        del app
        made.fuse(*LISTS[0])

    def test_every_passage_comes_once_best_first(self, made: Fuser) -> None:
        """Nothing is lost or made up; scores are finite and fall."""
        for lists, weights in LISTS:
            fused = made.fuse(lists, weights)
            wanted = {hit.passage_id for hits in lists.values() for hit in hits}
            assert sorted(scored.passage_id for scored in fused) == sorted(wanted)
            scores = [scored.score for scored in fused]
            assert all(isfinite(score) for score in scores)
            assert scores == sorted(scores, reverse=True)

    def test_parts_are_of_the_channels_that_found_it(self, made: Fuser) -> None:
        """Who asks why is told the truth."""
        for lists, weights in LISTS:
            for scored in made.fuse(lists, weights):
                finders = {
                    channel
                    for channel, hits in lists.items()
                    if any(hit.passage_id == scored.passage_id for hit in hits)
                }
                assert set(scored.parts) <= finders
                assert all(isfinite(part) for part in scored.parts.values())

    def test_order_of_the_channels_does_not_count(self, made: Fuser) -> None:
        """A mapping has no order."""
        for lists, weights in LISTS:
            turned = dict(reversed(list(lists.items())))
            assert _ranking(made.fuse(turned, weights)) == _ranking(made.fuse(lists, weights))

    def test_one_list_keeps_its_order(self, made: Fuser) -> None:
        """A channel that alone has found something is not put in another order."""
        scores = (9.0, 8.5, 3.0, 0.5, -2.0)
        hits = [Hit(number, score) for number, score in zip((5, 1, 4, 2, 3), scores, strict=True)]
        for lists in ({"keyword": hits}, {"keyword": hits, "dense": []}):
            fused = made.fuse(lists, {"keyword": 0.7, "dense": 0.3})
            assert [scored.passage_id for scored in fused] == [5, 1, 4, 2, 3]

    def test_what_all_find_first_is_first(self, made: Fuser) -> None:
        """Agreement counts."""
        keyword = [Hit(1, 5.0), Hit(2, 4.0), Hit(3, 3.0)]
        dense = [Hit(1, 0.9), Hit(3, 0.8), Hit(2, 0.1)]
        fused = made.fuse({"keyword": keyword, "dense": dense}, {"keyword": 0.5, "dense": 0.5})
        assert fused[0].passage_id == 1

    def test_nothing_gives_nothing(self, made: Fuser) -> None:
        """No channel, and channels that found nothing."""
        assert list(made.fuse({}, {})) == []
        assert list(made.fuse({"keyword": [], "dense": []}, {"keyword": 1.0, "dense": 0.0})) == []

    def test_attributes_are_usable(self, made: Fuser) -> None:
        """The recall asks for them."""
        assert 0 <= made.default_recency_weight <= 1
        if made.adjustments is not None:
            assert not isinstance(made.adjustments, str), "a collection of names"
            assert all(isinstance(name, str) for name in made.adjustments)


def _lists() -> Sequence[tuple[Mapping[str, Sequence[Hit]], Mapping[str, float]]]:
    """Ranked lists with their weights: usual, equal, extreme and random ones."""
    weights = {"keyword": 0.7, "dense": 0.3}
    chance = generator()
    made: list[tuple[Mapping[str, Sequence[Hit]], Mapping[str, float]]] = [
        ({"keyword": [Hit(1, 3.0), Hit(2, 1.0)], "dense": [Hit(2, 0.9), Hit(3, 0.2)]}, weights),
        ({"keyword": [Hit(7, 0.0)], "dense": []}, weights),
        ({"keyword": [Hit(n, 1.0) for n in (3, 1, 2)], "dense": [Hit(2, 1.0)]}, weights),
        ({"keyword": [Hit(1, 1e30), Hit(2, -1e30)], "dense": [Hit(2, 1e-300)]}, weights),
        ({"keyword": [Hit(1, -1.0), Hit(2, -5.0)]}, weights),
        ({"keyword": [Hit(1, 2.0)], "dense": [Hit(2, 1.0)]}, {"keyword": 0.0, "dense": 0.0}),
    ]
    for _ in range(20):
        lists = {
            channel: [
                Hit(passage, score)
                for passage, score in zip(
                    chance.sample(range(1, 60), 40),
                    sorted((chance.gauss(0, 5) for _ in range(40)), reverse=True),
                    strict=True,
                )
            ]
            for channel in ("keyword", "dense", "toy")
        }
        made.append((lists, {"keyword": 0.6, "dense": 0.3, "toy": 0.1}))
    return made


LISTS = _lists()


def _ranking(fused: Sequence[Scored]) -> Sequence[tuple[int, float]]:
    # Sums of floats depend on their order in the last digits.
    return [(scored.passage_id, round(scored.score, 9)) for scored in fused]


class SignalConformance(CreatedConformance, of_the_kit=True):
    """A signal; it is given candidates that the kit makes."""

    seat = SIGNALS

    def use(self, made: Signal, app: App) -> None:
        """Judge something."""
        del app
        made.values(batch(range(5)), QUERIES[0])

    def test_record_can_act(self, provider: SignalProvider) -> None:
        """Mode and weight are what ranking can use."""
        assert provider.mode in MODES
        assert isfinite(provider.weight)

    def test_one_value_in_range_for_each_candidate(self, made: Signal) -> None:
        """From 0 to 1, and never not a number."""
        for query in QUERIES:
            values = list(made.values(batch(range(40)), query))
            assert len(values) == 40
            assert all(isfinite(value) and 0 <= value <= 1 for value in values)

    def test_order_of_the_candidates_does_not_count(self, made: Signal) -> None:
        """A candidate has the same value wherever it stands."""
        chance = generator()
        places = list(range(40))
        chance.shuffle(places)
        for query in QUERIES:
            straight = list(made.values(batch(range(40)), query))
            mixed = list(made.values(batch(places), query))
            assert mixed == [straight[place] for place in places]

    def test_nothing_gives_nothing(self, made: Signal) -> None:
        """No candidates, no values."""
        assert list(made.values(batch(()), QUERIES[0])) == []

    def test_same_candidates_same_values(self, made: Signal) -> None:
        """No clock and no chance in it: the query has its present."""
        for query in QUERIES:
            first = list(made.values(batch(range(40)), query))
            assert list(made.values(batch(range(40)), query)) == first


QUERIES: Sequence[Query] = (
    Query(text="harbour", top_k=5, now=NOW),
    Query(text="", top_k=1, now=0, order="newest"),
    Query(text="(a.b:80) --x", top_k=5, now=NOW, literals=("(a.b:80)", "--x", "[", "港")),
    Query(text="last week", top_k=5, now=NOW, window=Window(NOW - 9, NOW), recency_weight=1.0),
)


def batch(places: Sequence[int] | range) -> CandidateBatch:
    """Candidates by number: of every role and author, young, old and without a time."""
    roles, authors = get_args(Role), get_args(Author)
    ages = (0.0, 0.5, 30.0, None, 1e6)
    return CandidateBatch(
        ids=[place + 1 for place in places],
        base=[1.0 / (place + 1) for place in places],
        texts=["" if place == 7 else random_text(generator(str(place)), 200) for place in places],
        headers=["" if place % 3 else "[2026-01-01 · port]" for place in places],
        occurred_at=[None if place % 5 == 3 else NOW - place for place in places],
        age_days=[ages[place % 5] for place in places],
        roles=[roles[place % 4] for place in places],
        authors=[authors[place % 5] for place in places],
    )
