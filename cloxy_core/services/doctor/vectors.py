"""Stored vectors against passages and spaces, with the repair of what is wrong.

The index of vectors in memory is built from these at each start, and has no file of its own.
"""

import math
import sys
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection, insert, text

from cloxy_core.runtime.wording import counted
from cloxy_core.services.doctor.findings import (
    SHOWN_IDS,
    Examined,
    Problem,
    Tell,
    listed,
)
from cloxy_core.store.legacy.report import read_report
from cloxy_hookspecs.tables import index_outbox

PART = "vectors"
VECTOR_PROBLEMS = (
    "vector-stray",
    "vector-size",
    "vector-broken",
    "vector-stale",
    "vector-double",
    "space-active",
)
SLICE = 2000
UNIT_TOLERANCE = 0.01
"""How far a vector's length may be from 1; float32 of a few hundred dimensions stays far below."""

_TABLE = "SELECT 1 FROM sqlite_schema WHERE name = 'embeddings'"
_ROWS = """
    SELECT e.id, e.passage_id, e.vector, s.dim, p.id IS NULL, e.text_hash IS NOT p.text_hash
    FROM embeddings e NOT INDEXED
    LEFT JOIN embedding_spaces s ON s.id = e.space_id LEFT JOIN passages p ON p.id = e.passage_id
    WHERE e.id > ? ORDER BY e.id LIMIT ?
"""
_DOUBLE = """
    SELECT max(id) FROM embeddings NOT INDEXED GROUP BY passage_id, space_id HAVING count(*) > 1
"""
_SPACES = """
    SELECT s.id, s.active, (SELECT count(*) FROM embeddings e WHERE e.space_id = s.id)
    FROM embedding_spaces s ORDER BY s.id
"""
_BACKLOG = """
    SELECT count(*) FROM passages p JOIN memories m ON m.id = p.memory_id
    WHERE m.state = 'active' AND NOT EXISTS (
        SELECT 1 FROM embeddings e JOIN embedding_spaces s ON s.id = e.space_id
        WHERE e.passage_id = p.id AND s.active AND e.text_hash = p.text_hash)
"""
_WORDS = {
    "vector-stray": "{count} belong to no passage or to no space",
    "vector-size": "{count} have another size than their space",
    "vector-broken": "{count} are no vectors of unit length",
    "vector-stale": "{count} were made of another text than the passage has now",
    "vector-double": "{count} are there twice",
}


@dataclass(slots=True)
class WrongVectors:
    """Ids of rows of `embeddings`, by what is wrong; and the spaces with their vectors.

    Attributes:
        upgraded: whether the database was made of one of Cloxy 5 or earlier.
    """

    rows: int = 0
    by_name: dict[str, list[int]] = field(default_factory=dict)
    spaces: Sequence[tuple[int, bool, int]] = ()
    upgraded: bool = False

    @property
    def waiting(self) -> bool:
        """Whether no space is active because none was chosen since an old database was upgraded."""
        return self.upgraded and not self.active

    @property
    def active(self) -> Sequence[int]:
        """The spaces that are marked as active."""
        return [identifier for identifier, active, _ in self.spaces if active]

    @property
    def best(self) -> int:
        """The space that should be active: of those marked, or of all, the fullest; then newest."""
        marked = [space for space in self.spaces if space[1]] or self.spaces
        return max(marked, key=lambda space: (space[2], space[0]))[0]


def compare_vectors(connection: Connection, tell: Tell) -> WrongVectors:
    """Look at every stored vector."""
    found = WrongVectors()
    if connection.exec_driver_sql(_TABLE).first() is None:
        return found
    for row in _rows(connection):
        found.rows += 1
        if found.rows % SLICE == 0:
            tell(f"vectors: {found.rows:,}")
        identifier, _, vector, dim, stray, stale = row
        name = _fault(vector, dim, stray=bool(stray), stale=bool(stale))
        if name:
            found.by_name.setdefault(name, []).append(identifier)
    if double := connection.exec_driver_sql(_DOUBLE).scalars().all():
        found.by_name["vector-double"] = list(double)
    spaces = connection.exec_driver_sql(_SPACES).all()
    found.spaces = [(int(row[0]), bool(row[1]), int(row[2])) for row in spaces]
    found.upgraded = read_report(connection) is not None
    return found


def _rows(connection: Connection) -> Iterator[tuple[int, int, object, int | None, int, int]]:
    last = 0
    while rows := connection.exec_driver_sql(_ROWS, (last, SLICE)).fetchall():
        for row in rows:
            yield row[0], row[1], row[2], row[3], row[4], row[5]
        last = rows[-1][0]


def _fault(vector: object, dim: int | None, *, stray: bool, stale: bool) -> str | None:
    if stray or dim is None:
        return "vector-stray"
    if not isinstance(vector, bytes) or len(vector) != 4 * dim:
        return "vector-size"
    numbers = array("f", vector)
    if sys.byteorder == "big":
        numbers.byteswap()
    # A length that is no number is not within any distance, so this finds NaN as well.
    if not abs(math.hypot(*numbers) - 1) <= UNIT_TOLERANCE:
        return "vector-broken"
    return "vector-stale" if stale else None


def examine_vectors(connection: Connection, tell: Tell) -> Examined:
    """What is wrong with stored vectors and their spaces."""
    found = compare_vectors(connection, tell)
    problems = [
        Problem(
            name=name,
            severity="note" if name == "vector-stale" else "error",
            message=_WORDS[name].format(
                count=f"{counted(len(ids), 'stored vector')} (rows {listed(ids)})"
            ),
            count=len(ids),
            ids=tuple(ids[:SHOWN_IDS]),
            repair="removes them; the passages are embedded again behind the running server",
        )
        for name, ids in found.by_name.items()
    ]
    if found.spaces and len(found.active) != 1 and not found.waiting:
        problems.append(_spaces(found))
    elif found.active and (backlog := _backlog(connection)):
        problems.append(
            Problem(
                name="vector-backlog",
                severity="note",
                message=f"{counted(backlog, 'passage')} wait to be embedded; the running server "
                "does that",
                count=backlog,
            )
        )
    return Examined(
        PART,
        f"{counted(found.rows, 'stored vector')} in {counted(len(found.spaces), 'space')}",
        tuple(problems),
    )


def _backlog(connection: Connection) -> int:
    return int(connection.exec_driver_sql(_BACKLOG).scalar_one())


def _spaces(found: WrongVectors) -> Problem:
    marked = len(found.active)
    return Problem(
        name="space-active",
        severity="error",
        message=f"{marked or 'none'} of {counted(len(found.spaces), 'embedding space')} "
        f"{'are' if marked else 'is'} marked as active; it must be one",
        count=marked,
        repair="marks the one with most vectors alone",
    )


def repair_vectors(connection: Connection, now: int, tell: Tell) -> int:
    """Remove wrong vectors, and mark one space as active; a write transaction.

    Returns:
        How many vectors were removed.
    """
    found = compare_vectors(connection, tell)
    gone = sorted({identifier for ids in found.by_name.values() for identifier in ids})
    for identifier in gone:
        passage = connection.execute(
            text("DELETE FROM embeddings WHERE id = :id RETURNING passage_id"), {"id": identifier}
        ).scalar()
        # Whoever keeps vectors elsewhere hears of it in the usual way.
        connection.execute(insert(index_outbox), {"passage_id": passage, "op": "delete", "at": now})
    if found.spaces and len(found.active) != 1:
        connection.execute(
            text("UPDATE embedding_spaces SET active = (id = :best)"), {"best": found.best}
        )
    return len(gone)
