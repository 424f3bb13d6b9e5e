"""The old database, opened so that nobody else has it, and read row by row."""

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import md5, sha256
from pathlib import Path
from typing import Any, Final

from cloxy_core.store.connections import connect
from cloxy_core.store.failures import error_code
from cloxy_core.store.legacy.rows import OldRow
from cloxy_core.store.legacy.shape import Shape
from cloxy_core.store.library import driver
from cloxy_hookspecs.errors import IntegrityError, StoreBusyError

BATCH: Final = 500
_OLD_COLUMNS: Final = "id, content, content_hash, source, embedding, created_at"
_NEW_COLUMNS: Final = "project, session_id, ts_start, ts_end, metadata"
_ADDED: Final = 5
_BUSY: Final = frozenset({5, 6})
_TWIN: Final = "SELECT min(id) FROM chunks WHERE content_hash IN (?, ?) AND content = ?"
_VECTOR: Final = (
    "SELECT embedding FROM chunks"
    " WHERE content_hash IN (?, ?) AND content = ? AND id > ? AND embedding IS NOT NULL"
)


@contextmanager
def opened_alone(path: Path) -> Iterator[Any]:
    """The old database for the length of a block; text comes as bytes.

    What lies in its log is read, too. Nobody else can open it meanwhile.

    Raises:
        StoreBusyError: an older Cloxy, or another program, has it open.
    """
    connection = connect(path, "mode=rw")
    try:
        connection.text_factory = bytes
        connection.execute("PRAGMA trusted_schema=OFF").fetchall()
        connection.execute("PRAGMA cell_size_check=ON").fetchall()
        connection.execute("PRAGMA locking_mode=EXCLUSIVE").fetchall()
        _take(connection, path)
        yield connection
    finally:
        connection.close()


def _take(connection: Any, path: Path) -> None:  # noqa: ANN401 - the driver's connection
    try:
        # Beginning to write takes the lock, which the mode keeps until the connection closes.
        connection.execute("BEGIN EXCLUSIVE")
        connection.execute("COMMIT")
    except driver.Error as error:
        if (code := error_code(error)) is None or code & 0xFF not in _BUSY:
            raise
        raise StoreBusyError(
            f"an older Cloxy, or another program, still has {path} open",
            hint="stop it, and its service if it has one; then start again",
        ) from error


def require_sound(connection: Any, path: Path) -> None:  # noqa: ANN401 - the driver's connection
    """Look at every page of the rows, so that nothing is left behind without a word.

    Raises:
        IntegrityError: something is damaged.
    """
    found = connection.execute("PRAGMA integrity_check(chunks)").fetchone()[0]
    words = found.decode(errors="replace") if isinstance(found, bytes) else str(found)
    if words != "ok":
        raise IntegrityError(
            f"the old database {path} is damaged ({words[:200]}), and was left untouched",
            hint="put a backup of it in its place, or save what can be read with"
            " `sqlite3 memory.db .recover | sqlite3 saved.db`",
        )


def rows_of(connection: Any, shape: Shape) -> Iterator[OldRow]:  # noqa: ANN401 - the driver's
    """All rows in the order of their ids; few are in memory at a time."""
    columns = f"{_OLD_COLUMNS}, {_NEW_COLUMNS}" if shape.tells_sessions else _OLD_COLUMNS
    cursor = connection.execute(f"SELECT {columns} FROM chunks ORDER BY id")  # noqa: S608 - names of columns, no values
    while some := cursor.fetchmany(BATCH):
        for row in some:
            yield _row(row)


class Twins:
    """Texts that are there twice, once under a hash of version 2 and once under a later one."""

    def __init__(self, connection: Any, shape: Shape) -> None:  # noqa: ANN401 - the driver's
        self._connection = connection
        self._possible = shape.has_md5

    def is_later(self, row: OldRow) -> bool:
        """Whether an earlier row has the same text."""
        if not self._possible:
            return False
        first = self._connection.execute(_TWIN, (*_hashes(row), row.content)).fetchone()[0]
        return first is not None and first < row.id

    def vector(self, row: OldRow) -> object:
        """The row's vector, or the one of its later twin if it has none itself."""
        if row.embedding is not None or not self._possible:
            return row.embedding
        found = self._connection.execute(_VECTOR, (*_hashes(row), row.content, row.id)).fetchone()
        return found[0] if found else None


def _hashes(row: OldRow) -> tuple[str, str]:
    data = row.content.encode("utf-8", "surrogatepass")
    return md5(data, usedforsecurity=False).hexdigest(), sha256(data).hexdigest()


def _row(values: tuple[Any, ...]) -> OldRow:
    identifier, content, content_hash, source, embedding, created_at, *added = values
    texts = [_text(each) for each in (content, content_hash, source, created_at, *added)]
    found = [text for text, _ in texts] + [None] * (_ADDED - len(added))
    return OldRow(
        id=identifier,
        content=found[0] or "",
        content_hash=found[1] or "",
        source=found[2],
        embedding=embedding,
        created_at=found[3],
        project=found[4],
        session_id=found[5],
        ts_start=found[6],
        ts_end=found[7],
        metadata=found[8],
        sound=all(good for _, good in texts),
    )


def _text(value: object) -> tuple[str | None, bool]:
    """A value as text, and whether it was text."""
    if value is None:
        return None, True
    if not isinstance(value, bytes):
        return str(value), False
    try:
        return value.decode(), True
    except UnicodeDecodeError:
        return value.decode(errors="replace"), False
