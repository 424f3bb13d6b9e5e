"""A copy of the database, without what is to be forgotten: rewritten beside, then put in place."""

import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final, TypeVar

from sqlalchemy import Connection, or_
from sqlalchemy.exc import DBAPIError

from cloxy_core.kernel.host import PluginHost
from cloxy_core.runtime.paths import DataDirectory, create_private_file, sync_directory
from cloxy_core.runtime.workers import Workers
from cloxy_core.services.doctor.buried import KEY_FILE
from cloxy_core.services.doctor.looking import FOLDER_PREFIX, LookStore
from cloxy_core.services.doctor.parts import make_parts
from cloxy_core.services.indexing import Indexing
from cloxy_core.services.keeping.looking import sync_file
from cloxy_core.services.keeping.staging import empty_log
from cloxy_core.services.write.forgetting import Forgetter, Traces
from cloxy_core.services.write.tombstones import TELLING, Tombstones
from cloxy_core.services.write.victims import Victim, copies_of_texts, find_victims
from cloxy_core.store.backup import verify
from cloxy_core.store.connections import (
    APPLICATION_ID,
    connect,
    driver_connection,
    reader_engine,
    writer_engine,
)
from cloxy_core.store.failures import explained
from cloxy_core.store.inspection import side_files
from cloxy_core.store.library import driver
from cloxy_core.store.lookups import lookups
from cloxy_hookspecs import Clock, CloxyError
from cloxy_hookspecs.tables import memories, passages

T = TypeVar("T")

_LEGACY: Final = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'chunks'"


class Rewriter:
    """Looks into copies of the database, and rewrites them."""

    def __init__(self, host: PluginHost, paths: DataDirectory, clock: Clock) -> None:
        self._host = host
        self._paths = paths
        self._clock = clock

    def holds(self, path: Path, traces: Traces) -> bool | None:
        """Whether a copy holds it; None when it is no database that can be read.

        A copy with a log of its own beside it is not read: that would change it.
        """
        if any(side.exists() and side.stat().st_size for side in side_files(path)):
            return None
        try:
            with closing(connect(path, "mode=ro", "immutable=1")) as connection:
                if _is_legacy(connection):
                    return bool(_legacy_rows(connection, traces))
                (owner,) = connection.execute("PRAGMA application_id").fetchone()
                if owner != APPLICATION_ID:
                    return None
            return bool(_within(reader_engine(path, 1, "immutable=1"), lambda c: find(c, traces)))
        except (driver.Error, DBAPIError):
            return None

    def rewrite(self, path: Path, traces: Traces) -> bool:
        """Take it out of a copy, in one step that leaves the old file or the whole new one.

        Returns:
            Whether that could be done; else the copy is as it was, for want of room, say.
        """
        prefix = f"{FOLDER_PREFIX}{os.getpid()}-"
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=self._paths.data))
        staged = folder / self._paths.database.name
        try:
            with explained(staged, writing=True, files=True):
                _copy(path, staged)
                self._take_out(staged, traces)
                verify_any(staged)
                sync_file(staged)
            staged.replace(path)
            sync_directory(path.parent)
        except (CloxyError, driver.Error, DBAPIError):
            return False
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return True

    def _take_out(self, staged: Path, traces: Traces) -> None:
        with closing(connect(staged, "mode=rw")) as connection:
            legacy = _is_legacy(connection)
            if legacy:
                _clean_legacy(connection, traces)
        if not legacy:
            _within(writer_engine(staged), lambda c: self._forget(c, staged, traces))
        with closing(connect(staged, "mode=rw")) as connection:
            connection.execute("PRAGMA journal_mode=DELETE").fetchall()

    def _forget(self, connection: Connection, staged: Path, traces: Traces) -> None:
        store = LookStore(staged, private=True)
        parts = make_parts(self._host, self._paths, store, Workers())
        indexing = Indexing(parts.channels, store, self._clock)
        buried = Tombstones(self._paths.data / KEY_FILE)
        Forgetter(indexing, buried, self._clock).forget_victims(
            connection, find(connection, traces)
        )
        indexing.scrub(connection)


def find(connection: Connection, traces: Traces) -> Sequence[Victim]:
    """Messages of a copy that are to be forgotten; each once."""
    found: list[Victim] = []
    for uids in lookups(sorted(traces.uids | traces.notes)):
        named = or_(passages.c.message_uid.in_(uids), memories.c.uid.in_(uids))
        found += find_victims(connection, named)
    found += copies_of_texts(connection, traces.texts)
    return list({victim.key: victim for victim in found}.values())


def verify_any(file: Path) -> None:
    """Check a rewritten copy; one of an earlier version only by SQLite's own check."""
    with closing(connect(file, "mode=ro", "immutable=1")) as connection:
        legacy = _is_legacy(connection)
        if legacy and connection.execute("PRAGMA integrity_check(1)").fetchone()[0] != "ok":
            raise driver.DatabaseError("the rewritten copy is damaged")
    if not legacy:
        verify(file)


def replace_bytes(path: Path, data: bytes) -> None:
    """Put other bytes in a file's place, on disk before this returns.

    Raises:
        OSError: it cannot be written.
    """
    new = path.with_name(f".{path.name}.{os.getpid()}.new")
    new.unlink(missing_ok=True)
    with os.fdopen(create_private_file(new), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
    sync_directory(path.parent)


def _within(engine: Any, work: Callable[[Connection], T]) -> T:  # noqa: ANN401 - an engine
    """Run work in one transaction; one that writes is followed by writing the file anew."""
    try:
        with engine.connect() as connection:
            with connection.begin():
                done = work(connection)
            if not driver_connection(connection).execute("PRAGMA query_only").fetchone()[0]:
                # Pages that were put in order keep old bytes in their gaps.
                driver_connection(connection).execute("VACUUM")
                empty_log(connection)
            return done
    finally:
        engine.dispose()


def _copy(path: Path, staged: Path) -> None:
    with path.open("rb") as old, os.fdopen(create_private_file(staged), "wb") as new:
        shutil.copyfileobj(old, new, 1 << 20)


def _is_legacy(connection: Any) -> bool:  # noqa: ANN401 - the driver's
    return connection.execute(_LEGACY).fetchone() is not None


def _legacy_rows(connection: Any, traces: Traces) -> Sequence[int]:  # noqa: ANN401 - the driver's
    """Rows of a copy from before version 6 that hold one of the texts.

    They held several messages each. A short text is looked for only as the whole of one.
    """
    telling = [text for text in traces.texts if len(text) >= TELLING]
    short = {text.strip() for text in traces.texts if len(text) < TELLING}
    return [
        row
        for row, content in connection.execute("SELECT rowid, content FROM chunks")
        if isinstance(content, str)
        and (any(text in content for text in telling) or _is_said(content, short))
    ]


def _is_said(content: str, short: set[str]) -> bool:
    if content.strip() in short:
        return True
    turns = (turn.partition(":")[2].strip() for turn in content.split("\n\n"))
    return any(turn in short for turn in turns)


def _clean_legacy(connection: Any, traces: Traces) -> None:  # noqa: ANN401 - the driver's
    """Delete such rows, and have every index that SQLite keeps forget them.

    Raises:
        driver.Error: an index cannot be changed; the copy is removed then.
    """
    rows = _legacy_rows(connection, traces)
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany("DELETE FROM chunks WHERE rowid = ?", [(row,) for row in rows])
    tables = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%using fts5%'"
    ).fetchall()
    for (name,) in tables:
        quoted = '"' + str(name).replace('"', '""') + '"'
        connection.execute(f"INSERT INTO {quoted}({quoted}) VALUES ('rebuild')")  # noqa: S608 - a quoted name
    connection.execute("COMMIT")
    connection.execute("VACUUM")
