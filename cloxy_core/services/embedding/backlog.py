"""Passages without a vector: where to look for them, and what is read and written of them.

The newest are embedded first. What was looked at once is not looked at again, unless somebody
says that it changed, so that looking for more costs nothing when there is nothing.
"""

import json
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection

LOOKED_AT = 5_000
"""Ids of one look; the reader is free in between."""
MOST_ROWS = 256
MOST_TEXTS = 64
"""Of one transaction: a second or less of work that a kill can undo."""


@dataclass(frozen=True, slots=True)
class Window:
    """Ids to look at: those above `low` up to `high`, or the ones that are named."""

    low: int = 0
    high: int = 0
    ids: tuple[int, ...] = ()
    round: int = 0


class Unseen:
    """Ids that nobody has looked at yet, as spans, the newest last; used on the loop alone."""

    def __init__(self) -> None:
        self._top = 0
        self._spans: list[tuple[int, int]] = []
        self._named: set[int] = set()
        self._taken: tuple[int, ...] = ()
        self._round = 0

    def grow(self, highest: int) -> None:
        """There are ids up to here."""
        if highest > self._top:
            self._spans.append((self._top, highest))
            self._top = highest

    def add(self, ids: Iterable[int]) -> None:
        """These are to be looked at again; those that will be looked at anyway are left out."""
        self._named.update(each for each in ids if each <= self._top and not self._in_span(each))

    def forget(self) -> None:
        """Everything is to be looked at again."""
        self._round += 1
        self._top = 0
        self._spans.clear()
        self._named.clear()
        self._taken = ()

    @property
    def named(self) -> int:
        """How many are to be looked at again, or are being looked at."""
        return len(self._named.union(self._taken))

    @property
    def is_empty(self) -> bool:
        """Whether everything was looked at."""
        return not (self._named or self._spans)

    def window(self) -> Window | None:
        """Where to look next; None when everything was looked at.

        Ids that are named are taken out, so that one that changes meanwhile can be named again.
        """
        if self._named:
            ids = tuple(sorted(self._named, reverse=True)[:MOST_ROWS])
            self._named.difference_update(ids)
            self._taken = ids
            return Window(ids=ids, round=self._round)
        if not self._spans:
            return None
        low, high = self._spans[-1]
        return Window(max(low, high - LOOKED_AT), high, round=self._round)

    def done(self, window: Window, reached: int) -> None:
        """What of a window is done with: everything from `reached` upwards."""
        if window.round != self._round:
            return
        self._taken = ()
        self._named.update(each for each in window.ids if each < reached)
        if window.ids:
            return
        # A newer span may have come behind it meanwhile.
        rest = [(low, reached - 1 if high == window.high else high) for low, high in self._spans]
        self._spans = [(low, high) for low, high in rest if high > low]

    def undone(self, window: Window) -> None:
        """Nothing of a window is done with."""
        if window.round == self._round:
            self._taken = ()
            self._named.update(window.ids)

    def _in_span(self, identifier: int) -> bool:
        place = bisect_left(self._spans, identifier, key=lambda span: span[1])
        return place < len(self._spans) and self._spans[place][0] < identifier


@dataclass(frozen=True, slots=True)
class Found:
    """Passages of a window that have no vector, the newest first.

    Attributes:
        passages: `(id, text hash)` of each.
        texts: text by hash, where it has to be embedded, cut to what matters.
        twins: by hash, a passage of equal text that has a vector.
        reached: the lowest id that was looked at.
    """

    passages: Sequence[tuple[int, str]]
    texts: Mapping[str, str] = field(default_factory=dict[str, str])
    twins: Mapping[str, int] = field(default_factory=dict[str, int])
    reached: int = 0


_MISSING = """
    SELECT p.id, p.text_hash FROM {source}
    JOIN memories m ON m.id = p.memory_id AND m.state = 'active'
    WHERE {condition} AND NOT EXISTS (
        SELECT 1 FROM embeddings e
        WHERE e.passage_id = p.id AND e.space_id = ? AND e.text_hash = p.text_hash)
    ORDER BY p.id DESC LIMIT ?
"""
_IN_SPAN = _MISSING.format(source="passages p", condition="p.id > ? AND p.id <= ?")
_NAMED = _MISSING.format(
    source="json_each(?) named CROSS JOIN passages p ON p.id = named.value", condition="true"
)
# The newest first: those are the ones that are sure to have a vector already.
_TWINS = """
    SELECT wanted.value, (
        SELECT p.id FROM passages p
        JOIN embeddings e ON e.passage_id = p.id AND e.space_id = ? AND e.text_hash = p.text_hash
        WHERE p.text_hash = wanted.value ORDER BY p.id DESC LIMIT 1)
    FROM json_each(?) wanted
"""
_TEXTS = """
    SELECT p.text_hash,
        substr(m.content, p.char_start + 1, min(p.char_end - p.char_start, ?))
    FROM json_each(?) wanted
    CROSS JOIN passages p ON p.id = wanted.value
    JOIN memories m ON m.id = p.memory_id
"""
_HASHES = """
    SELECT p.id, p.text_hash FROM json_each(?) wanted
    CROSS JOIN passages p ON p.id = wanted.value
"""
_STORE = """
    INSERT INTO embeddings (passage_id, space_id, text_hash, vector)
    SELECT id, ?, text_hash, ? FROM passages WHERE id = ? AND text_hash = ?
    ON CONFLICT (passage_id, space_id)
    DO UPDATE SET text_hash = excluded.text_hash, vector = excluded.vector
"""
_REMOVE_FORMER = """
    DELETE FROM embeddings WHERE space_id = ? AND passage_id IN (SELECT value FROM json_each(?))
        AND text_hash != (SELECT p.text_hash FROM passages p WHERE p.id = embeddings.passage_id)
"""
_COPY = """
    INSERT INTO embeddings (passage_id, space_id, text_hash, vector)
    SELECT p.id, e.space_id, e.text_hash, e.vector
    FROM json_each(?) pair
    CROSS JOIN passages p ON p.id = json_extract(pair.value, '$[0]')
    JOIN embeddings e ON e.passage_id = json_extract(pair.value, '$[1]') AND e.space_id = ?
        AND e.text_hash = p.text_hash
    WHERE true
    ON CONFLICT (passage_id, space_id)
    DO UPDATE SET text_hash = excluded.text_hash, vector = excluded.vector
"""


def highest_id(connection: Connection) -> int:
    """The highest id of a passage; 0 for none."""
    return int(connection.exec_driver_sql("SELECT max(id) FROM passages").scalar() or 0)


def text_hashes(connection: Connection, ids: Sequence[int]) -> Mapping[int, str]:
    """Hashes of the texts of some passages, by id; one that is gone is left out."""
    if not ids:
        return {}
    rows = connection.exec_driver_sql(_HASHES, (json.dumps(ids),))
    return {row[0]: row[1] for row in rows}


def find(
    connection: Connection, window: Window, space_id: int, characters: int, aside: Collection[str]
) -> Found:
    """What of a window has no vector of its own text in a space.

    Args:
        connection: a read transaction.
        window: where to look.
        space_id: the space.
        characters: how much of a text matters.
        aside: hashes of texts that cannot be embedded; they are found, and have no text here.
    """
    rows = _missing(connection, window, space_id)
    hashes = list(dict.fromkeys(text_hash for _id, text_hash in rows))
    found = connection.exec_driver_sql(_TWINS, (space_id, json.dumps(hashes)))
    twins = {row[0]: row[1] for row in found if row[1] is not None}
    taken: list[tuple[int, str]] = []
    wanted: dict[str, int] = {}
    for identifier, text_hash in rows:
        if text_hash not in twins and text_hash not in aside and text_hash not in wanted:
            if len(wanted) == MOST_TEXTS:
                break
            wanted[text_hash] = identifier
        taken.append((identifier, text_hash))
    texts = connection.exec_driver_sql(_TEXTS, (characters, json.dumps(list(wanted.values()))))
    is_whole = len(taken) == len(rows) < MOST_ROWS
    lowest = min(window.ids) if window.ids else window.low + 1
    reached = lowest if is_whole else taken[-1][0]
    return Found(taken, {row[0]: row[1] for row in texts}, twins, reached)


def store_vectors(
    connection: Connection, space_id: int, found: Found, vectors: Mapping[str, bytes]
) -> None:
    """Store what was found out about passages, where they are still what they were.

    Args:
        connection: a write transaction.
        space_id: the space.
        found: the passages.
        vectors: vector by hash of text.
    """
    fresh = [(space_id, vectors[h], i, h) for i, h in found.passages if h in vectors]
    if fresh:
        connection.exec_driver_sql(_STORE, fresh)
    pairs = [(i, found.twins[h]) for i, h in found.passages if h in found.twins]
    if pairs:
        connection.exec_driver_sql(_COPY, (json.dumps(pairs), space_id))


def remove_former(connection: Connection, space_id: int, ids: Sequence[int]) -> None:
    """Remove vectors of texts that these passages had before; the indexes know already."""
    if ids:
        connection.exec_driver_sql(_REMOVE_FORMER, (space_id, json.dumps(ids)))


def counts(connection: Connection, space_id: int) -> tuple[int, int]:
    """Passages, and vectors of a space."""
    row = connection.exec_driver_sql(
        "SELECT (SELECT count(*) FROM passages),"
        " (SELECT count(*) FROM embeddings WHERE space_id = ?)",
        (space_id,),
    ).one()
    return int(row[0]), int(row[1])


def _missing(connection: Connection, window: Window, space_id: int) -> Sequence[tuple[int, str]]:
    if window.ids:
        found = connection.exec_driver_sql(_NAMED, (json.dumps(window.ids), space_id, MOST_ROWS))
    else:
        found = connection.exec_driver_sql(_IN_SPAN, (window.low, window.high, space_id, MOST_ROWS))
    return [(row[0], row[1]) for row in found]
