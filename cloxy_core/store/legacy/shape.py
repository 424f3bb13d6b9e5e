"""Which version of the original made a database; no number says so, only its shape."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

_CHUNKS: Final = frozenset({"id", "content", "content_hash", "source", "embedding", "created_at"})
_ADDED: Final = frozenset({"project", "session_id", "ts_start", "ts_end", "metadata"})
PREFIX_KEY: Final = "embed_passage_prefix"
MD5_DIGITS: Final = 32
_COLUMNS: Final = "SELECT name FROM pragma_table_info('chunks')"
_TABLES: Final = "SELECT name FROM sqlite_master WHERE type = 'table'"
_META: Final = "SELECT key, value FROM meta"
_OTHER_THAN_MD5: Final = "SELECT EXISTS (SELECT 1 FROM chunks WHERE length(content_hash) != ?)"
_MD5: Final = "SELECT EXISTS (SELECT 1 FROM chunks WHERE length(content_hash) = ?)"
_LAST_ID: Final = "SELECT seq FROM sqlite_sequence WHERE name = 'chunks'"


@dataclass(frozen=True, slots=True)
class Shape:
    """What a database of the original looks like.

    Attributes:
        version: `2.0`, `3`, `4`, `5.0` or `5.1`; versions that look alike share a name.
        tells_sessions: whether its rows have the columns of version 5.
        has_state: whether it says how far files were read.
        has_md5: whether it holds hashes of version 2, so that a text may be there twice.
        last_id: the highest id that was ever given.
        rows: how many there are.
        meta: its settings as text.
    """

    version: str
    tells_sessions: bool
    has_state: bool
    has_md5: bool
    last_id: int
    rows: int
    meta: Mapping[str, str] = field(default_factory=dict)


def shape_of(connection: Any) -> Shape | None:  # noqa: ANN401 - the driver's connection
    """The shape of a database; None when it is not one of the original.

    Args:
        connection: gives text as bytes.
    """
    columns = {_name(row[0]) for row in connection.execute(_COLUMNS)}
    if not columns >= _CHUNKS:
        return None
    tables = {_name(row[0]) for row in connection.execute(_TABLES)}
    meta = _meta(connection) if "meta" in tables else {}
    tells_sessions = columns >= _ADDED
    has_md5 = _is(connection, _MD5, MD5_DIGITS)
    (rows,) = connection.execute("SELECT count(*) FROM chunks").fetchone()
    last = connection.execute(_LAST_ID).fetchone() if "sqlite_sequence" in tables else None
    highest = connection.execute("SELECT max(id) FROM chunks").fetchone()[0] or 0
    return Shape(
        version=_version(connection, "meta" in tables, tells_sessions, has_md5, meta),
        tells_sessions=tells_sessions,
        has_state="ingest_state" in tables,
        has_md5=has_md5,
        last_id=max(int(last[0]) if last else 0, highest),
        rows=rows,
        meta=meta,
    )


def _version(
    connection: Any,  # noqa: ANN401 - the driver's connection
    has_meta: bool,
    tells_sessions: bool,
    has_md5: bool,
    meta: Mapping[str, str],
) -> str:
    if tells_sessions:
        return "5.1" if PREFIX_KEY in meta else "5.0"
    if has_meta:
        return "4"
    # Version 3 goes on in a file of version 2, and leaves the old hashes as they are.
    return "2.0" if has_md5 and not _is(connection, _OTHER_THAN_MD5, MD5_DIGITS) else "3"


def _meta(connection: Any) -> Mapping[str, str]:  # noqa: ANN401 - the driver's connection
    return {
        _name(key): _name(value)
        for key, value in connection.execute(_META)
        if key is not None and value is not None
    }


def _is(connection: Any, question: str, *values: int) -> bool:  # noqa: ANN401 - the driver's
    return bool(connection.execute(question, values).fetchone()[0])


def _name(value: object) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
