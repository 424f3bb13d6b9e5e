"""The new database, made beside the old one; nobody sees it before it is whole.

The schema is brought to the step that this was written for, the rows are put in, and the steps
that came later are run over them, as over any database of that age.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from sqlalchemy import Connection

from cloxy_core.store.connections import driver_connection, writer_engine
from cloxy_core.store.core_migrations import CORE
from cloxy_core.store.counters import count_up
from cloxy_core.store.creation import create_database
from cloxy_core.store.inspection import side_files
from cloxy_core.store.legacy.rows import NewRow
from cloxy_core.store.migrations import migrate
from cloxy_hookspecs.errors import IntegrityError
from cloxy_hookspecs.providers.platform import Migration
from cloxy_hookspecs.types.vectors import EmbeddingSpace

SCHEMA: Final = 3
"""The newest step of the core that the statements below know."""

_SPACE: Final = """
INSERT INTO embedding_spaces (fingerprint, model, revision, dim, query_prefix, passage_prefix,
    active, created_at) VALUES (?, ?, ?, ?, ?, ?, 0, ?)
"""
_VECTOR: Final = (
    "INSERT INTO embeddings (passage_id, space_id, text_hash, vector) VALUES (?, ?, ?, ?)"
)
_FAST: Final = (
    # Whoever puts the file in place syncs it as a whole; until then nobody misses it.
    "PRAGMA synchronous=OFF",
    "PRAGMA cache_size=-65536",
)
_SEQUENCED: Final = ("memories", "passages")


class NewDatabase:
    """A database that is being filled."""

    def __init__(self, connection: Connection, now_ms: Callable[[], int]) -> None:
        self._connection = connection
        self._now_ms = now_ms
        self._space: int | None = None

    def begin(self, migrations: Sequence[Migration], space: EmbeddingSpace | None) -> None:
        """Make the tables, and the space of the vectors that will come."""
        known = [s for s in migrations if s.owner == CORE and s.number <= SCHEMA]
        self._migrate(known)
        if space is None:
            return
        with self._connection.begin():
            self._space = self._connection.exec_driver_sql(
                _SPACE,
                (
                    *(space.fingerprint, space.model, space.revision, space.dim),
                    *(space.query_prefix, space.passage_prefix, self._now_ms()),
                ),
            ).lastrowid

    def add(self, rows: Sequence[NewRow]) -> None:
        """Put memories in, of which the sessions and projects may come later."""
        vectors = [
            (row.passage["id"], self._space, row.passage["text_hash"], row.vector)
            for row in rows
            if row.vector is not None
        ]
        with self._without_references(), self._connection.begin():
            self._insert("memories", (row.memory for row in rows))
            self._insert("passages", (row.passage for row in rows))
            if vectors:
                self._connection.exec_driver_sql(_VECTOR, vectors)

    def finish(
        self,
        projects: Iterable[Mapping[str, object]],
        sessions: Iterable[Mapping[str, object]],
        last_id: int,
        counts: Mapping[str, int],
    ) -> None:
        """Put in what the rows refer to, the ids that were given out, and what is told of it."""
        with self._connection.begin():
            self._insert("projects", projects)
            self._insert("sessions", sessions)
            for table in _SEQUENCED:
                self._connection.exec_driver_sql(
                    "DELETE FROM sqlite_sequence WHERE name = ?", (table,)
                )
                self._connection.exec_driver_sql(
                    "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table, last_id)
                )
            count_up(self._connection, counts)

    def modernise(self, migrations: Sequence[Migration]) -> None:
        """Run all further steps, those of plugins too."""
        self._migrate(migrations)

    def require_whole(self, memories: int) -> None:
        """Look at what was made before anything of the old is given up.

        Raises:
            IntegrityError: it is not what was put in.
        """
        run = self._connection.exec_driver_sql
        with self._connection.begin():
            found = run("PRAGMA quick_check(1)").scalar()
            broken = run("PRAGMA foreign_key_check").first()
            held = run("SELECT count(*) FROM memories").scalar()
        if found != "ok" or broken is not None or held != memories:
            raise IntegrityError(
                f"the new database did not pass its check ({found}; {held} of {memories} memories)",
                hint="the old one was left untouched; the disk or the memory of this machine may"
                " be at fault",
            )

    def _migrate(self, migrations: Sequence[Migration]) -> None:
        # What a step would break lies in the backup of the old database.
        migrate(self._connection, migrations, now_ms=self._now_ms, back_up=lambda _step: None)

    @contextmanager
    def _without_references(self) -> Iterator[None]:
        # On the driver, since a transaction, in which it has no effect, begins by itself above.
        driver = driver_connection(self._connection)
        driver.execute("PRAGMA foreign_keys=OFF")
        try:
            yield
        finally:
            driver.execute("PRAGMA foreign_keys=ON")

    def _insert(self, table: str, rows: Iterable[Mapping[str, object]]) -> None:
        listed = list(rows)
        if not listed:
            return
        columns = ", ".join(f'"{name}"' for name in listed[0])
        places = ", ".join("?" * len(listed[0]))
        self._connection.exec_driver_sql(
            f'INSERT INTO "{table}" ({columns}) VALUES ({places})',  # noqa: S608 - names of our own columns, no values
            [tuple(row.values()) for row in listed],
        )


@contextmanager
def new_database(path: Path, now_ms: Callable[[], int]) -> Iterator[NewDatabase]:
    """Make a database at a place of its own; its log is in the file at the end of the block.

    Args:
        path: Where; what a killed upgrade left there is removed.
        now_ms: The time.
    """
    remove(path)
    create_database(path)
    engine = writer_engine(path)
    try:
        with engine.connect() as connection:
            for setting in _FAST:
                driver_connection(connection).execute(setting).fetchall()
            yield NewDatabase(connection, now_ms)
    finally:
        engine.dispose()


def remove(path: Path) -> None:
    """Remove a database that was not finished, and what lies beside it."""
    new = path.with_name(path.name + ".new")
    for left in (path, *side_files(path), new, *side_files(new)):
        left.unlink(missing_ok=True)
