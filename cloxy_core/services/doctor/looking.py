"""A database that is only looked at: the file itself, or a private copy of it at one moment.

Nothing is ever written to the file, so that a running server notices nothing. Checks that must
write in order to compare (the keyword index's own is one) get the copy, and what they write
there is taken back.
"""

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TypeVar

from sqlalchemy import ColumnElement, Connection, Engine

from cloxy_core.runtime.paths import create_private_file
from cloxy_core.store.connections import connect, reader_engine, writer_engine
from cloxy_core.store.failures import explained
from cloxy_core.store.filters import filter_clause
from cloxy_core.store.inspection import side_files
from cloxy_core.store.library import driver
from cloxy_core.store.reserve import REMEMBER_NEEDS_BYTES
from cloxy_hookspecs import CloxyError, Filters, IntegrityError, StoreError

T = TypeVar("T")

FOLDER_PREFIX = "doctor-"
_COPY_FOLDER = re.compile(re.escape(FOLDER_PREFIX) + r"(\d+)-\w+", re.ASCII)
_COPY_NAME = "memory.db"


class LookStore:
    """A database as `StorePort`; each call is one fresh connection.

    A connection that once read a full-text index keeps its picture of it, and takes later
    changes of others for damage.
    """

    def __init__(self, path: Path, *, private: bool, still: bool = False) -> None:
        """Open nothing yet.

        Args:
            path: the database.
            private: whether it is a copy that nobody else has, in which checks may write.
            still: whether nobody can write it, so that it is read without locks and side files.
        """
        self.path = path
        self.private = private
        self._options = ("immutable=1",) if still else ()

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run work in a read transaction.

        Raises:
            StoreError: the database cannot be read; `IntegrityError` when it is damaged.
        """
        return self.look(work)

    async def write(self, work: Callable[[Connection], T], *, durable: bool = False) -> T:
        """Run work in a write transaction of the private copy, and take back what it wrote.

        Raises:
            StoreError: there is no private copy.
        """
        del durable
        return self.attempt(work)

    def filter_clause(
        self, connection: Connection, filters: Filters
    ) -> Sequence[ColumnElement[bool]]:
        """Conditions over the `passages` and `memories` tables, to be joined with AND."""
        return filter_clause(connection, filters)

    def look(self, work: Callable[[Connection], T]) -> T:
        """`read` for callers without an event loop."""
        with (
            self._connected(reader_engine(self.path, 1, *self._options)) as connection,
            connection.begin(),
        ):
            return work(connection)

    def attempt(self, work: Callable[[Connection], T]) -> T:
        """`write` for callers without an event loop."""
        if not self.private:
            raise StoreError(
                "the comparison needs a copy of the database, and none could be made",
                hint="make room on that disk and repair what else is wrong; then look again",
            )
        with self._connected(writer_engine(self.path)) as connection:
            transaction = connection.begin()
            try:
                return work(connection)
            finally:
                transaction.rollback()

    @contextmanager
    def _connected(self, engine: Engine) -> Iterator[Connection]:
        try:
            with explained(self.path), engine.connect() as connection:
                yield connection
        finally:
            engine.dispose()


@contextmanager
def looked_at(database: Path) -> Iterator[LookStore]:
    """The database to look at: a copy that goes away at the end, or the file when there is no room.

    Args:
        database: the file; it must exist.
    """
    with ExitStack() as undo:
        copy = _copy(database, undo)
        still = copy is None and is_still(database)
        yield LookStore(copy or database, private=copy is not None, still=still)


def is_still(database: Path) -> bool:
    """Whether nobody can write a database here, and all of it is in its one file."""
    return not os.access(database.parent, os.W_OK) and not has_log(database)


def is_shut(store: LookStore) -> bool:
    """Whether nothing can be read, since the log beside the database needs a file of its own."""
    if store.private or os.access(store.path.parent, os.W_OK) or not has_log(store.path):
        return False
    try:
        store.look(lambda connection: connection.exec_driver_sql("PRAGMA schema_version").all())
    except IntegrityError:
        return False
    except StoreError:
        return True
    return False


def has_log(database: Path) -> bool:
    """Whether changes that are not in the file yet lie beside it."""
    wal = side_files(database)[0]
    return wal.exists() and wal.stat().st_size > 0


def abandoned(folder: Path) -> list[Path]:
    """Folders of copies whose process is gone; what a person named much like one is left out."""
    return [
        path
        for path in sorted(folder.glob(f"{FOLDER_PREFIX}*"))
        if (made := _COPY_FOLDER.fullmatch(path.name))
        and _holds_a_copy(path)
        and not is_alive(int(made[1]))
    ]


def _holds_a_copy(path: Path) -> bool:
    """Whether this is a folder with nothing in it but a database and its side files."""
    if path.is_symlink() or not path.is_dir():
        return False
    try:
        return all(inside.name.startswith(_COPY_NAME) for inside in path.iterdir())
    except OSError:
        return False


def is_alive(process: int) -> bool:
    """Whether a process of this number runs."""
    if os.name == "nt":
        return True  # a signal would end it there
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _copy(database: Path, undo: ExitStack) -> Path | None:
    """A copy, page by page as they are, damaged ones too; None when it cannot be made."""
    try:
        size = sum(p.stat().st_size for p in (database, *side_files(database)) if p.exists())
        if shutil.disk_usage(database.parent).free < size + REMEMBER_NEEDS_BYTES:
            return None
        prefix = f"{FOLDER_PREFIX}{os.getpid()}-"
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=database.parent))
        undo.callback(shutil.rmtree, folder, ignore_errors=True)
        target = folder / database.name
        os.close(create_private_file(target))
        with explained(database, files=True):
            _back_up_pages(database, target)
    except (CloxyError, OSError, driver.Error):
        return None
    return target


def _back_up_pages(database: Path, target: Path) -> None:
    source = connect(database, "mode=ro")
    try:
        copy = connect(target, "mode=rw")
        try:
            # In one step: one that is done in parts begins anew whenever somebody writes.
            source.backup(copy)
        finally:
            copy.close()
    finally:
        source.close()
