"""Indexes of vectors that are wrong on purpose, each with the test that has to find it out.

Not collected by itself: `test_kit_itself` runs it and looks at what fails.
"""

import json
from dataclasses import replace

import numpy as np
from contract.cases import Cases

from cloxy_core.testing.conformance import VectorIndexConformance
from cloxy_hookspecs import Found, Hit, VectorChange, VectorIndexProvider
from cloxy_plugins.exact_index.index import ExactIndex

CASES = Cases(__name__, "VectorIndex")


class Kept(ExactIndex):
    """Remembers in a file how far it came, and nothing else."""

    def __init__(self, context):
        super().__init__(context.store, context.log)
        self.path = context.paths.plugin("kept") / "sequence.json"
        if self.path.exists():
            self._sequence = json.loads(self.path.read_text())

    def apply(self, changes, sequence):
        super().apply(changes, sequence)
        self.path.write_text(json.dumps(self._sequence))


def provider(kind=None, **methods):
    """The exact index, with some methods replaced, or another one."""
    made = type("Changed", (ExactIndex,), methods)
    create = kind or (lambda context: made(context.store, context.log))
    return VectorIndexProvider(name="v", summary="v", channel="v", create=create)


def changed_hits(change, **asked):
    """What a search answers, with something done to it, or asked something else."""

    def search(self, connection, probe, limit):
        found = ExactIndex.search(self, connection, replace(probe, **asked), limit)
        return Found(change(list(found.hits)))

    return provider(search=search)


def changed_changes(change):
    """Changes that are taken in otherwise than they were given."""
    return provider(
        apply=lambda self, changes, sequence: ExactIndex.apply(self, change(changes), sequence)
    )


def with_rows(**fields):
    """Rows that are taken in with some fields overwritten."""
    return changed_changes(
        lambda changes: [replace(c, row=c.row and replace(c.row, **fields)) for c in changes]
    )


def puts_only(changes):
    return [change for change in changes if change.row is not None]


def first_asked(self, connection, probe, limit):
    """Finds the first passages, whatever the question is."""
    vector = np.eye(1, 128, dtype=np.float32)[0]
    return ExactIndex.search(self, connection, replace(probe, vector=vector), limit)


def without_filters(self, connection, probe, limit):
    return ExactIndex.search(self, connection, replace(probe, filters=type(probe.filters)()), limit)


def late_filters(self, connection, probe, limit):
    """Takes the best first, and then asks which of them may be found."""
    best = without_filters(self, connection, probe, limit)
    inside = {hit.passage_id for hit in ExactIndex.search(self, connection, probe, 99).hits}
    return Found([hit for hit in best.hits if hit.passage_id in inside])


def keep_neighbours(self, changes, sequence):
    """Believes only the first that it hears of a passage's neighbours."""
    seen = vars(self).setdefault("seen", {})
    told = []
    for change in changes:
        row = change.row
        if row is not None and (row.previous or row.following):
            first = seen.setdefault(row.passage_id, row)
            row = replace(row, previous=first.previous, following=first.following)
        told.append(VectorChange(change.passage_id, row))
    ExactIndex.apply(self, told, sequence)


def forget_waiting(self, changes, sequence):
    """Has no use for a neighbour that is not there yet."""
    known = set(self.ids())

    def there(number):
        return number if number in known else None

    told = [
        replace(c, row=c.row and replace(
            c.row, previous=there(c.row.previous), following=there(c.row.following)))
        for c in changes
    ]  # fmt: skip
    ExactIndex.apply(self, told, sequence)


def damage_taken(self, changes, sequence):
    """Believes that every vector is one."""
    for change in changes:
        if change.row is not None:
            vector = np.frombuffer(change.row.vector, "<f4")
            assert np.isclose(np.linalg.norm(vector), 1)
    ExactIndex.apply(self, changes, sequence)


def damage_keeps(self, changes, sequence):
    """Leaves what was there when a vector cannot be used."""
    good = [
        change
        for change in changes
        if change.row is None
        or (len(change.row.vector) == 512
            and np.isclose(np.linalg.norm(np.frombuffer(change.row.vector, "<f4")), 1))
    ]  # fmt: skip
    ExactIndex.apply(self, good, sequence)


def dim_error(self, connection, probe, limit):
    if len(probe.vector) != 128:
        raise ValueError("another length")
    return ExactIndex.search(self, connection, probe, limit)


for test, broken in (
    ("test_empty_index_finds_nothing", provider(count=lambda self, connection: 1)),
    ("test_each_text_finds_its_passage_first", provider(search=first_asked)),
    ("test_best_comes_first_and_nothing_twice", changed_hits(lambda hits: hits[::-1])),
    ("test_best_comes_first_and_nothing_twice", changed_hits(lambda hits: hits + hits[-1:])),
    ("test_limit_is_kept", changed_hits(lambda hits: hits[:2])),
    ("test_filters_are_obeyed", provider(search=without_filters)),
    ("test_filters_are_obeyed", provider(search=late_filters)),
    ("test_removed_is_not_found", changed_changes(puts_only)),
    (
        "test_rebuilt_equals_grown",
        provider(rebuild=lambda self, rows, n: ExactIndex.rebuild(self, list(rows)[1:], n)),
    ),
    (
        "test_the_last_change_of_a_passage_counts",
        changed_changes(lambda changes: sorted(changes, key=lambda c: c.row is not None)),
    ),
    ("test_checkpoint_only_rises", provider(checkpoint=lambda self: self._sequence * 2)),
    ("test_what_cannot_be_compared_finds_nothing", provider(search=dim_error)),
    (
        "test_what_cannot_be_compared_finds_nothing",
        changed_hits(list, vector=np.eye(1, 128, dtype=np.float32)[0]),
    ),
    (
        "test_score_is_the_cosine",
        changed_hits(lambda hits: [Hit(h.passage_id, (1 + h.score) / 2) for h in hits]),
    ),
    ("test_score_is_the_cosine", changed_hits(lambda hits: [h for h in hits if h.score > 0])),
    ("test_ids_are_those_of_the_passages", provider(ids=lambda self: self._snapshot.ids.tolist())),
    ("test_neighbours_in_the_session_count", with_rows(previous=None, following=None)),
    ("test_neighbours_in_the_session_count", provider(apply=forget_waiting)),
    ("test_neighbours_can_change", provider(apply=keep_neighbours)),
    ("test_damaged_vector_harms_no_other", provider(apply=damage_taken)),
    ("test_damaged_vector_harms_no_other", provider(apply=damage_keeps)),
    (
        "test_checkpoint_after_a_restart_is_kept_or_nothing",
        provider(Kept),
    ),
):
    CASES.add(VectorIndexConformance, test, broken)
