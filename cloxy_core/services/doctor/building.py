"""Filling a new database: from the tables that can be read, then from backups."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection

from cloxy_core.services.doctor.buried import buried_by_index, bury_again, is_key_lost
from cloxy_core.services.doctor.copying import (
    HIGHEST,
    Copied,
    columns_of,
    copy_statement,
    copy_table,
    everything,
    hashed,
    is_virtual,
    rows_missing,
    tables_of,
)
from cloxy_core.services.doctor.findings import Tell
from cloxy_core.services.doctor.references import mend_references
from cloxy_core.services.write.forgetting import ACTOR as FORGET_ACTOR
from cloxy_core.store.backup import backups, verify
from cloxy_core.store.connections import driver_connection, file_uri, writer_engine
from cloxy_core.store.library import driver
from cloxy_core.store.migrations import migrate
from cloxy_hookspecs import Clock, CloxyError
from cloxy_hookspecs.providers.platform import Migration
from cloxy_hookspecs.tables import CORE_METADATA

FORGOTTEN: Final = "tombstones"


@dataclass(slots=True)
class Recovery:
    """What a recovery did.

    Attributes:
        readable: whether anything could be read of the damaged file.
        tables: what became of each table.
        filled: rows that came from backups, by table.
        missing: rows that may be lost for good, by table; an upper limit, None if unknown.
        backups: the backups that rows came from.
        forgotten_lost: whether some of what was forgotten is not known any more.
        key_lost: whether what was forgotten cannot be recognised without its key.
        passed_over: backups of which nothing but the list of what was forgotten was taken, since
            the rest of them may hold it.
        logs_to_read: session logs that the next start reads again.
        resumed: whether an earlier recovery was finished, of which nothing else is known.
    """

    readable: bool = True
    tables: dict[str, Copied] = field(default_factory=dict)
    filled: dict[str, int] = field(default_factory=dict)
    missing: dict[str, int | None] = field(default_factory=dict)
    backups: list[str] = field(default_factory=list)
    forgotten_lost: bool = False
    key_lost: bool = False
    passed_over: list[str] = field(default_factory=list)
    logs_to_read: int = 0
    resumed: bool = False


def build_database(
    new: Path,
    source: Path,
    folder: Path,
    migrations: Sequence[Migration],
    clock: Clock,
    tell: Tell,
    *,
    mark: bytes | None,
) -> Recovery:
    """Fill an empty database, and say what became of everything.

    Args:
        new: the empty database.
        source: the damaged one; it is only read.
        folder: where backups lie.
        migrations: steps of the core and of every enabled plugin.
        clock: the time.
        tell: told what is being done.
        mark: of the key that is there; None without one.
    """
    engine = writer_engine(new)
    try:
        with engine.connect() as connection:
            migrate(connection, migrations, now_ms=clock.now_ms, back_up=lambda _step: None)
            raw = driver_connection(connection)
            raw.execute("PRAGMA foreign_keys=OFF")
            raw.create_function("sha256_hex", 1, hashed, deterministic=True)
            recovery = _copy_all(raw, source, clock.now_ms(), tell)
            _fill(raw, folder, recovery, tell, mark)
            _raise_sequences(raw)
            with connection.begin():
                mend_references(connection)
            _judge(raw, recovery)
            recovery.key_lost = is_key_lost(raw, mark)
            # Also when nothing seems to be missing: a damaged page can swallow rows unnoticed.
            if not recovery.forgotten_lost:
                with connection.begin():
                    recovery.logs_to_read = reread_everything(connection)
            raw.execute("PRAGMA foreign_keys=ON")
            raw.execute("PRAGMA synchronous=FULL")
            raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    finally:
        engine.dispose()
    return recovery


def _copy_all(raw: Any, source: Path, now: int, tell: Tell) -> Recovery:  # noqa: ANN401 - the driver's
    """Copy every table that can be read; the core's tables are there to be filled anyway."""
    recovery = Recovery(tables={name: everything() for name in CORE_METADATA.tables})
    try:
        raw.execute("ATTACH ? AS old", (file_uri(source, "mode=ro"),))
    except driver.Error:
        # The schema itself is gone: what backups hold is all there is.
        recovery.readable = False
        return recovery
    try:
        tables = tables_of(raw)
        recovery.readable = any(name == "memories" for name, _ in tables)
        if _is_older(raw):
            recovery.tables = {}
        pages = max(1, source.stat().st_size // 4096)
        for name, sql in tables:
            _make_unknown(raw, name, sql)
            if not is_virtual(sql) and columns_of(raw, "main", name):
                recovery.tables[name] = copy_table(raw, name, pages, tell)
        bury_again(raw, buried_by_index(raw, "old"), now)
        _copy_sequences(raw, "old")
    except driver.Error:
        recovery.readable = False
    finally:
        raw.execute("DETACH old")
    return recovery


def _is_older(raw: Any) -> bool:  # noqa: ANN401 - the driver's
    """Whether the damaged file has an older schema, in which tables may be missing by right."""
    old, new = (
        int(raw.execute(f"PRAGMA {schema}.user_version").fetchone()[0])
        for schema in ("old", "main")
    )
    return 0 < old < new


def _make_unknown(raw: Any, name: str, sql: str) -> None:  # noqa: ANN401 - the driver's
    """Make a table of a plugin that is not enabled now, empty, with its indexes."""
    if columns_of(raw, "main", name):
        return
    indexes = "SELECT sql FROM old.sqlite_schema WHERE type = 'index' AND tbl_name = ?"
    with suppress(driver.Error):
        raw.execute(sql)
        for (statement,) in raw.execute(indexes, (name,)).fetchall():
            if statement:
                raw.execute(statement)


def _copy_sequences(raw: Any, schema: str) -> None:  # noqa: ANN401 - the driver's
    """Take over the highest ids that were ever given, since they are not to be given again."""
    with suppress(driver.Error):
        for name, value in raw.execute(f"SELECT name, seq FROM {schema}.sqlite_sequence"):  # noqa: S608 - a fixed name
            if not isinstance(value, int) or not columns_of(raw, "main", str(name)):
                continue
            raw.execute(
                "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", (value, name)
            )
            raw.execute(
                "INSERT INTO sqlite_sequence (name, seq) SELECT ?, ? WHERE NOT EXISTS"
                " (SELECT 1 FROM sqlite_sequence WHERE name = ?)",
                (name, value, name),
            )


def _raise_sequences(raw: Any) -> None:  # noqa: ANN401 - the driver's
    """Let no id be given again that another table still knows, though its own row is lost."""
    for table, known in (
        ("memories", "SELECT max(memory_id) FROM memory_events"),
        ("passages", "SELECT max(passage_id) FROM index_outbox"),
    ):
        (highest,) = raw.execute(known).fetchone()
        if highest:
            raw.execute(
                "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", (highest, table)
            )


def _fill(raw: Any, folder: Path, recovery: Recovery, tell: Tell, mark: bytes | None) -> None:  # noqa: ANN401 - the driver's
    """Put rows of backups where the damaged file had unreadable ones, newest backup first.

    The list of what was forgotten is taken from all of them: such rows are only ever added. With
    a list whose key is lost nothing else is: rows that were forgotten since could not be told.
    """
    for backup in reversed(backups(folder)):
        lost = {name: c for name, c in recovery.tables.items() if rows_missing(raw, name, c)}
        if not lost:
            return
        try:
            verify(backup)
        except (CloxyError, driver.Error):
            continue
        tell(f"filling gaps from {backup.name}")
        raw.execute("ATTACH ? AS old", (file_uri(backup, "mode=ro", "immutable=1"),))
        try:
            forgotten = {name: copied for name, copied in lost.items() if name == FORGOTTEN}
            rows = _fill_from(raw, forgotten, recovery.filled)
            if is_key_lost(raw, mark):
                recovery.passed_over.append(backup.name)
            else:
                others = {name: c for name, c in lost.items() if name != FORGOTTEN}
                rows += _fill_from(raw, others, recovery.filled)
            if rows:
                recovery.backups.append(backup.name)
            _copy_sequences(raw, "old")
        finally:
            raw.execute("DETACH old")


def _fill_from(raw: Any, lost: Mapping[str, Copied], filled: dict[str, int]) -> int:  # noqa: ANN401 - the driver's
    total = 0
    for table, copied in lost.items():
        if not columns_of(raw, "old", table):
            continue
        statement = copy_statement(raw, "old", table)
        if table == "memories":
            statement += " AND sha256_hex(CAST(content AS BLOB)) = content_hash"
        ranges = [(1, HIGHEST)] if table == FORGOTTEN else _open_ended(copied)
        for place in ranges:
            rows = raw.execute(statement, place).rowcount
            filled[table] = filled.get(table, 0) + rows
            total += rows
    return total


def _open_ended(copied: Copied) -> Sequence[tuple[int, int]]:
    """The lost ranges, the last without an end if it is not known where the table ended."""
    if not copied.open_end or not copied.lost:
        return copied.lost
    return [*copied.lost[:-1], (copied.lost[-1][0], HIGHEST)]


def _judge(raw: Any, recovery: Recovery) -> None:  # noqa: ANN401 - the driver's
    """Count what is missing after all."""
    for table, copied in recovery.tables.items():
        if missing := rows_missing(raw, table, copied):
            recovery.missing[table] = None if copied.open_end else missing
    lost = FORGOTTEN in recovery.missing
    recovery.forgotten_lost = lost and not _never_forgot(raw, recovery)


def _never_forgot(raw: Any, recovery: Recovery) -> bool:  # noqa: ANN401 - the driver's
    """Whether the audit is whole and tells of no forgetting, so that no list of it can be lost."""
    if "memory_events" in recovery.missing:
        return False
    query = "SELECT 1 FROM memory_events WHERE actor = ? LIMIT 1"
    return raw.execute(query, (FORGET_ACTOR,)).fetchone() is None


def reread_everything(connection: Connection) -> int:
    """Have every session log that is there read again from its start; known messages stay.

    Returns:
        How many logs.
    """
    return connection.exec_driver_sql(
        "UPDATE sources SET byte_offset = 0, size = -1, mtime_ns = 0, head = '', head_len = 0,"
        " before_hash = '', parser_state = '{}', records = 0, messages = 0, bad_lines = 0,"
        " state = 'rereading', error = NULL WHERE state <> 'gone'"
    ).rowcount
