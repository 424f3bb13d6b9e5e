"""Index channels of text, those inside the rows' transaction and those fed after it.

What all kinds owe is in `IndexConformance`; a kind says only how changes reach it.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from math import isfinite
from typing import Any, ClassVar, Protocol

import pytest
from sqlalchemy import Connection

from cloxy_core.testing.conformance.base import CreatedConformance, close
from cloxy_core.testing.conformance.index_answers import (
    assert_same,
    count,
    holders,
    puts,
    search,
    snapshot,
)
from cloxy_core.testing.conformance.samples import ODD_TEXTS
from cloxy_core.testing.corpus import CORPUS, FILTERS, SHARED_WORD, core_dump, fill
from cloxy_core.testing.harness import App
from cloxy_hookspecs import (
    AfterIndex,
    AfterIndexProvider,
    CommitIndex,
    CommitIndexProvider,
    Index,
    IndexChange,
    IndexRow,
)
from cloxy_hookspecs.seats import INDEXES

PLANTED = "zorgquat"
"""A word that stands nowhere but in one row of the index."""


class _RolledBackError(Exception):
    """Ends a transaction that is to leave nothing behind."""


class FedIndex(Index, Protocol):
    """What indexes that are fed from the outbox have in common."""

    def checkpoint(self) -> int:
        """Last outbox number that was applied."""
        ...


class IndexConformance(CreatedConformance, of_the_kit=True):
    """What every index owes, however it is fed."""

    seat = INDEXES
    record: ClassVar[type[object]]

    def prepare(self, app: App, rows: Sequence[IndexRow]) -> None:
        """Write to the store what the index needs there beside the corpus; by default nothing."""
        del app, rows

    @abstractmethod
    def feed(self, app: App, made: Any, changes: Sequence[IndexChange]) -> None:  # noqa: ANN401 - any kind
        """Apply changes as the server does."""

    @abstractmethod
    def rebuild(self, app: App, made: Any, rows: Sequence[IndexRow]) -> None:  # noqa: ANN401 - any kind
        """Start over from rows, as the server does."""

    def use(self, made: Any, app: App) -> None:  # noqa: ANN401 - any kind
        """Index something and find it."""
        self.feed(app, made, puts(app.write(fill)))
        search(app, made, CORPUS[0].text)

    @pytest.fixture
    def rows(self, app: App) -> Sequence[IndexRow]:
        """The rows of the corpus, which stand in the store and in no index yet."""
        return app.write(fill)

    @pytest.fixture
    def filled(self, app: App, made: Any, rows: Sequence[IndexRow]) -> Any:  # noqa: ANN401 - any kind
        """The index with the whole corpus in it."""
        self.feed(app, made, puts(rows))
        return made

    def test_record_is_of_this_kind(self, provider: object) -> None:
        """Each kind of index has its record; its share in the fusion, if any, is a number."""
        assert isinstance(provider, self.record)
        weight = getattr(provider, "weight", 0.0)
        assert isfinite(weight)
        assert weight >= 0

    def test_empty_index_finds_nothing(self, app: App, made: Index) -> None:
        """There is nothing in it before something is put in."""
        assert count(app, made) == 0
        assert search(app, made, SHARED_WORD) == []

    def test_each_text_finds_its_passage_first(
        self, app: App, filled: Index, rows: Sequence[IndexRow]
    ) -> None:
        """Who asks with the very words of a passage means that passage."""
        for row in rows:
            found = search(app, filled, row.text)
            assert found, row.text
            assert found[0][0] == row.passage_id, row.text

    def test_best_comes_first_and_nothing_twice(self, app: App, filled: Index) -> None:
        """Scores fall, are finite, and belong to different passages."""
        for said in CORPUS:
            found = search(app, filled, said.text)
            scores = [score for _, score in found]
            assert scores == sorted(scores, reverse=True)
            assert all(isfinite(score) for score in scores)
            assert len({number for number, _ in found}) == len(found)

    def test_limit_is_kept(self, app: App, filled: Index) -> None:
        """As many as wanted, the same ones as in a longer list."""
        longest = search(app, filled, SHARED_WORD)
        assert len(longest) == len(CORPUS), "every passage has the word"
        for limit in (1, 3, 7):
            assert len(search(app, filled, SHARED_WORD, limit=limit)) == limit
            text = CORPUS[2].text
            assert search(app, filled, text, limit=limit) == search(app, filled, text)[:limit]

    @pytest.mark.parametrize("name", FILTERS)
    def test_filters_are_obeyed(
        self, app: App, filled: Index, rows: Sequence[IndexRow], name: str
    ) -> None:
        """Nothing outside comes back, and everything inside can, however short the list."""
        filters, places = FILTERS[name]
        inside = {rows[place].passage_id for place in places}
        found = [number for number, _ in search(app, filled, SHARED_WORD, filters=filters)]
        assert set(found) == inside
        for place, row in enumerate(rows):
            best = search(app, filled, row.text, filters=filters, limit=1)
            if place in places:
                assert [number for number, _ in best] == [row.passage_id]
            else:
                assert len(best) == min(1, len(inside))
                assert {number for number, _ in best} <= inside

    def test_applying_twice_equals_once(
        self, app: App, filled: Index, rows: Sequence[IndexRow]
    ) -> None:
        """After a crash changes may come again."""
        once = snapshot(app, filled)
        self.feed(app, filled, puts(rows))
        self.feed(app, filled, puts(rows[2:4]))
        assert_same(snapshot(app, filled), once)

    def test_removed_is_not_found(self, app: App, filled: Index, rows: Sequence[IndexRow]) -> None:
        """It is gone from the answers and from the count; twice is no error."""
        gone = rows[3].passage_id
        for _ in range(2):
            self.feed(app, filled, [IndexChange(gone, None)])
            assert count(app, filled) == len(rows) - 1
            assert gone not in {n for n, _ in search(app, filled, rows[3].text)}

    def test_replaced_is_found_by_its_new_text(
        self, app: App, filled: Index, rows: Sequence[IndexRow]
    ) -> None:
        """The old text has no effect any more."""
        new = replace(rows[1], text="Lighthouse keepers play chess")
        self.feed(app, filled, puts([new]))
        assert count(app, filled) == len(rows)
        assert search(app, filled, new.text)[0][0] == new.passage_id
        changed = snapshot(app, filled)
        self.rebuild(app, filled, [rows[0], new, *rows[2:]])
        assert_same(changed, snapshot(app, filled))

    def test_rebuilt_equals_grown(self, app: App, made: Index, rows: Sequence[IndexRow]) -> None:
        """However the rows came in, the answers are the same."""
        for row in reversed(rows):
            self.feed(app, made, puts([row]))
        self.feed(app, made, [IndexChange(rows[0].passage_id, None)])
        grown = snapshot(app, made)
        self.rebuild(app, made, rows[1:])
        assert_same(snapshot(app, made), grown)

    def test_the_last_change_of_a_passage_counts(
        self, app: App, made: Index, rows: Sequence[IndexRow]
    ) -> None:
        """Changes of one batch are in order."""
        first, second = rows[:2]
        self.feed(app, made, [*puts([first]), IndexChange(first.passage_id, None)])
        self.feed(app, made, [IndexChange(second.passage_id, None), *puts([second])])
        assert {number for number, _ in search(app, made, SHARED_WORD)} == {second.passage_id}
        assert count(app, made) == 1

    def test_unknown_passage_is_ignored(
        self, app: App, filled: Index, rows: Sequence[IndexRow]
    ) -> None:
        """What was never there can be removed, and no change is a change too."""
        before = snapshot(app, filled)
        self.feed(app, filled, [IndexChange(max(row.passage_id for row in rows) + 999, None)])
        self.feed(app, filled, [])
        assert_same(snapshot(app, filled), before)

    def test_count_is_that_of_the_passages(
        self, app: App, made: Index, rows: Sequence[IndexRow]
    ) -> None:
        """It follows every change."""
        for number, row in enumerate(rows, 1):
            self.feed(app, made, puts([row]))
            assert count(app, made) == number

    def test_core_tables_are_left_alone(
        self, app: App, made: Index, rows: Sequence[IndexRow]
    ) -> None:
        """The rows are the truth, and not an index's to change."""
        self.prepare(app, rows)
        before = app.read(core_dump)
        self.feed(app, made, [*puts(rows), IndexChange(rows[0].passage_id, None)])
        self.rebuild(app, made, rows)
        assert app.read(core_dump) == before


class TextIndexConformance(IndexConformance, of_the_kit=True):
    """An index that reads the text of passages and questions."""

    def test_header_belongs_to_what_is_indexed(
        self, app: App, filled: Index, rows: Sequence[IndexRow]
    ) -> None:
        """A passage whose header fits the question goes before its like without."""
        twins = [replace(row, text="The same words", header="") for row in rows[:2]]
        twins[1] = replace(twins[1], header="[2026-01-01 · lighthouse · Keepers]")
        self.feed(app, filled, puts(twins))
        best = search(app, filled, "lighthouse keepers the same words")[0]
        assert best[0] == twins[1].passage_id

    def test_any_text_can_be_indexed_and_asked(
        self, app: App, made: Index, rows: Sequence[IndexRow]
    ) -> None:
        """No text is an operator, an error or endless."""
        for text in ODD_TEXTS:
            storable = text.encode("utf-8", "replace").decode()
            self.feed(app, made, puts([replace(rows[0], text=storable or "x")]))
            search(app, made, text)
            search(app, made, "harbour", literals=(text,) if text.strip() else ())
        assert count(app, made) == 1


class CommitIndexConformance(TextIndexConformance, of_the_kit=True):
    """An index in SQL, written in the transaction that writes the rows."""

    record = CommitIndexProvider

    def feed(self, app: App, made: CommitIndex, changes: Sequence[IndexChange]) -> None:
        """In one transaction."""
        app.write(lambda connection: made.apply_in(connection, changes))

    def rebuild(self, app: App, made: CommitIndex, rows: Sequence[IndexRow]) -> None:
        """Clear, then fill in a transaction each."""
        app.write(made.clear_in)
        self.feed(app, made, puts(rows))

    def test_a_rolled_back_change_leaves_nothing(
        self, app: App, filled: CommitIndex, rows: Sequence[IndexRow]
    ) -> None:
        """The index has no memory of its own beside the tables."""
        before = snapshot(app, filled)

        def undone(work: Callable[[Connection], None]) -> Callable[[Connection], None]:
            def run(connection: Connection) -> None:
                work(connection)
                raise _RolledBackError

            return run

        removals = [IndexChange(row.passage_id, None) for row in rows[:4]]
        for work in (lambda c: filled.apply_in(c, removals), filled.clear_in):
            with pytest.raises(_RolledBackError):
                app.write(undone(work))
            assert_same(snapshot(app, filled), before)

    def test_cleared_is_empty(self, app: App, filled: CommitIndex) -> None:
        """A rebuild starts from nothing."""
        app.write(filled.clear_in)
        assert count(app, filled) == 0
        assert search(app, filled, SHARED_WORD) == []

    def test_survives_a_restart(self, app: App, filled: CommitIndex, provider: Any) -> None:  # noqa: ANN401 - a record
        """What was committed is there again."""
        before = snapshot(app, filled)
        close(filled, app)
        app.stop()
        assert_same(snapshot(app, provider.create(app.context)), before)

    def test_scrubbed_text_is_gone_from_the_bytes(
        self, app: App, filled: CommitIndex, rows: Sequence[IndexRow]
    ) -> None:
        """What was forgotten cannot be read out of the file either."""
        self.feed(app, filled, puts([replace(rows[0], text=f"The word is {PLANTED}")]))
        assert search(app, filled, PLANTED)
        self.feed(app, filled, [IndexChange(rows[0].passage_id, None)])
        app.write(filled.scrub_in)
        app.do(app.engine.store.checkpoint())
        app.stop()
        assert holders(app.data, PLANTED) == []


class FedIndexConformance(IndexConformance, of_the_kit=True):
    """An index outside of the transaction, fed from the outbox.

    One that takes changes in later, in the background, extends `give` to wait for that.
    """

    @pytest.fixture(autouse=True)
    def _numbers(self) -> None:
        self.sequence = 0

    def feed(self, app: App, made: FedIndex, changes: Sequence[IndexChange]) -> None:
        """On a reader thread, as far as the outbox has come."""
        self.sequence += max(1, len(changes))
        self.give(app, made, changes, self.sequence)

    def rebuild(self, app: App, made: FedIndex, rows: Sequence[IndexRow]) -> None:
        """From an iterator, which can be read only once."""
        self.sequence += 1
        self.start_over(app, made, rows, self.sequence)

    @abstractmethod
    def give(
        self,
        app: App,
        made: Any,  # noqa: ANN401 - any kind
        changes: Sequence[IndexChange],
        sequence: int,
    ) -> None:
        """Apply changes up to a number of the outbox."""

    @abstractmethod
    def start_over(
        self,
        app: App,
        made: Any,  # noqa: ANN401 - any kind
        rows: Sequence[IndexRow],
        sequence: int,
    ) -> None:
        """Rebuild from rows that stand for the outbox up to a number."""

    def test_checkpoint_begins_at_nothing(self, made: FedIndex) -> None:
        """An index that was never fed needs everything."""
        assert made.checkpoint() == 0

    def test_checkpoint_only_rises(
        self, app: App, made: FedIndex, rows: Sequence[IndexRow]
    ) -> None:
        """It never says more than was applied, and changes that come again do not lower it."""
        highest = 0
        for sequence in (3, 7, 5, 7, 12):
            self.give(app, made, puts(rows[:2]), sequence)
            assert highest <= made.checkpoint() <= max(sequence, highest)
            highest = made.checkpoint()
        self.start_over(app, made, rows, 20)
        assert highest <= made.checkpoint() <= 20

    def test_goes_on_after_a_restart(
        self,
        app: App,
        filled: FedIndex,
        provider: Any,  # noqa: ANN401 - a record
        rows: Sequence[IndexRow],
    ) -> None:
        """Everything from the checkpoint on, once more, gives the whole."""
        before = snapshot(app, filled)
        with reopened(app, filled, provider) as again:
            self.feed(app, again, puts(rows))
            assert_same(snapshot(app, again), before)


class AfterIndexConformance(TextIndexConformance, FedIndexConformance, of_the_kit=True):
    """An index of text outside of the transaction."""

    record = AfterIndexProvider

    def give(
        self, app: App, made: AfterIndex, changes: Sequence[IndexChange], sequence: int
    ) -> None:
        """On a reader thread."""
        app.read(lambda _connection: made.apply(changes, sequence))

    def start_over(
        self, app: App, made: AfterIndex, rows: Sequence[IndexRow], sequence: int
    ) -> None:
        """On a reader thread, from an iterator."""
        app.read(lambda _connection: made.rebuild(iter(rows), sequence))

    def test_checkpoint_survives_a_restart(
        self,
        app: App,
        filled: AfterIndex,
        provider: AfterIndexProvider,
    ) -> None:
        """What the checkpoint promises is there again; the rest comes from the outbox."""
        promised, before = filled.checkpoint(), snapshot(app, filled)
        with reopened(app, filled, provider) as again:
            assert again.checkpoint() == promised
            if promised == self.sequence:
                assert_same(snapshot(app, again), before)
            else:
                assert promised < self.sequence


@contextmanager
def reopened(app: App, made: FedIndex, provider: Any) -> Iterator[Any]:  # noqa: ANN401 - a record, and an index
    """An index made anew on the same data, after the first was closed and the server stopped."""
    close(made, app)
    app.stop()
    again = provider.create(app.context)
    try:
        yield again
    finally:
        close(again, app)
