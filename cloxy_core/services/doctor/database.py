"""The database as SQLite sees it: can it be opened, and do its pages and references fit."""

from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import Connection

from cloxy_core.runtime.wording import counted
from cloxy_core.services.doctor.buried import KEY_FILE
from cloxy_core.services.doctor.findings import SHOWN_DETAILS, Examined, Problem
from cloxy_core.services.doctor.header import free_list_faults
from cloxy_core.store.backup import backups
from cloxy_core.store.core_migrations import CORE_MIGRATIONS
from cloxy_core.store.inspection import check_file
from cloxy_core.store.library import library_facts
from cloxy_core.store.migrations import newest_core_number
from cloxy_hookspecs import (
    CloxyError,
    ForeignDatabaseError,
    IntegrityError,
    MigrationError,
)
from cloxy_hookspecs.tables import CORE_METADATA

FILE = "database file"
PAGES = "pages"
DAMAGED = ("database-damaged", "database-unreadable")
MOST = 200
_FIXED_BY_REINDEX = ("missing from index", "wrong # of entries in index")
_FULL_TEXT = "fts5"
_RECOVER = (
    "moves the damaged file to the quarantine folder, copies everything that can be read "
    "into a new one, and fills gaps from backups and session logs"
)


def examine_file(path: Path, known_version: int) -> Examined:
    """Whether the file is one that this version can open, told without opening it."""
    problems: list[Problem] = []
    try:
        found = check_file(path, known_version)
    except IntegrityError as error:
        missing = not path.exists()
        problems.append(
            Problem(
                name="database-missing" if missing else "database-unreadable",
                severity="error",
                message=error.message,
                repair="" if missing else _RECOVER,
                remedy=error.hint or "" if missing else "",
            )
        )
        found = True
    except (ForeignDatabaseError, MigrationError) as error:
        problems.append(_refused("database-foreign", error))
        found = True
    except CloxyError as error:
        problems.append(_refused("database-place", error))
        found = True
    if not found:
        return _absent(path)
    problems += [
        Problem(name="sqlite-library", severity="note", message=words.removesuffix("."))
        for words in library_facts().warnings()
    ]
    return Examined(FILE, f"{path.name}, SQLite {library_facts().version_text}", tuple(problems))


def _absent(path: Path) -> Examined:
    """No database: a first start that is still to come, or a file that somebody took away."""
    data = path.parent
    if not (data / KEY_FILE).exists() and not backups(data / "backups"):
        return Examined(FILE, "there is no database yet; the first start makes one")
    kept = backups(data / "backups")
    copy = f", or copy {kept[-1]} there" if kept else ""
    problem = Problem(
        name="database-gone",
        severity="error",
        message=f"{path} is not there, but there was one: the key of its forgotten things or "
        "backups of it are",
        remedy=f"put it back{copy}; otherwise the next start makes an empty one, which reads the "
        "session logs anew and knows nothing of what was forgotten",
    )
    return Examined(FILE, "", (problem,))


def _refused(name: str, error: CloxyError) -> Problem:
    return Problem(name=name, severity="error", message=error.message, remedy=error.hint or "")


def examine_pages(connection: Connection, copy: Path | None = None) -> Examined:
    """Pages, records, indexes and references.

    Args:
        connection: a read transaction.
        copy: the file, if it is a private copy: a second look at a file gives up the locks that
            this process has on it.
    """
    lines = [
        str(row)
        for row in connection.exec_driver_sql(f"PRAGMA integrity_check({MOST})").scalars()
        if row != "ok"
    ]
    # A full-text index is examined by itself, and rebuilt.
    lines = [line for line in lines if _FULL_TEXT not in line.lower()]
    lines += _wrong_tables(connection)
    lines += [] if copy is None else free_list_faults(copy)
    problems = [_damage(lines)] if lines else []
    if not lines:
        problems += _references(connection)
    (pages,) = connection.exec_driver_sql("PRAGMA page_count").scalars()
    return Examined(PAGES, f"{pages:,} pages fit together", tuple(problems))


def damage_met(error: CloxyError) -> Problem:
    """Damage that a read came upon."""
    return Problem(
        name="database-damaged", severity="error", message=error.message, repair=_RECOVER
    )


def _wrong_tables(connection: Connection) -> list[str]:
    """Core tables and columns that are not there although the schema is of this version."""
    (found,) = connection.exec_driver_sql("PRAGMA user_version").scalars()
    if found < newest_core_number(CORE_MIGRATIONS):
        return []
    lines = []
    for name, table in sorted(CORE_METADATA.tables.items()):
        rows = connection.exec_driver_sql(f"PRAGMA table_info({name})").all()
        if not rows:
            lines.append(f"the table {name} is missing")
        elif lost := sorted(set(table.columns.keys()) - {row[1] for row in rows}):
            lines.append(f"the table {name} has no {', '.join(lost)}")
    return lines


def only_indexes(lines: Sequence[str]) -> bool:
    """Whether all that is wrong is in indexes, which can be made anew from their tables."""
    return all(any(words in line for words in _FIXED_BY_REINDEX) for line in lines)


def _damage(lines: Sequence[str]) -> Problem:
    if only_indexes(lines):
        return Problem(
            name="database-index",
            severity="error",
            message=f"{counted(len(lines), 'entry', 'entries')} of ordinary indexes are wrong",
            count=len(lines),
            details=tuple(lines[:SHOWN_DETAILS]),
            repair="makes the indexes anew from their tables; where a table lost rows, "
            "makes the database anew and has the session logs read again",
        )
    return Problem(
        name="database-damaged",
        severity="error",
        message="the database is damaged",
        count=len(lines),
        details=tuple(line for text in lines for line in text.splitlines())[:SHOWN_DETAILS],
        repair=_RECOVER,
    )


def _references(connection: Connection) -> list[Problem]:
    broken = connection.exec_driver_sql("PRAGMA foreign_key_check").fetchall()
    if not broken:
        return []
    tables = sorted({f"{table} to {parent}" for table, _, parent, _ in broken})
    return [
        Problem(
            name="broken-reference",
            severity="error",
            message=f"{counted(len(broken), 'row')} refer to rows that are not there",
            count=len(broken),
            details=tuple(tables[:SHOWN_DETAILS]),
            repair="makes the sessions anew that memories need, empties other references, and "
            "removes passages and vectors without their memory",
        )
    ]
