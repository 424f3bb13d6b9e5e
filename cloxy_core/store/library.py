"""The one SQLite library of the process, and what it can be trusted with.

Two libraries in one process would undo each other's file locks, so everything that needs
SQLite takes `driver` from here.
"""

import sqlite3 as _standard
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Final

try:
    from pysqlite3 import dbapi2 as _bundled  # type: ignore[import-untyped, import-not-found, unused-ignore]
except ImportError:
    _bundled = None

driver: Final[Any] = _bundled or _standard

Version = tuple[int, int, int]

# Two connections, one of which checkpoints, could lose pages: fixed here and in two branches.
_WAL_RESET_FIXED: Final[Version] = (3, 51, 3)
_WAL_RESET_FIXED_IN_BRANCH: Final[tuple[Version, ...]] = ((3, 50, 7), (3, 44, 6))
_WITHDRAWN: Final[Version] = (3, 52, 0)
_FTS5_SECURE_DELETE: Final[Version] = (3, 54, 0)


@dataclass(frozen=True, slots=True)
class LibraryFacts:
    """What is known of an SQLite library.

    Attributes:
        module: the Python module that carries it.
        version: its version.
        safe: whether it has no known fault that loses data in WAL mode. When false the store
            works in safe mode, in which no second connection may write or checkpoint.
        fts5: whether it has full-text search.
        fts5_secure_delete: whether full-text search can be told to erase deleted words.
    """

    module: str
    version: Version
    safe: bool
    fts5: bool
    fts5_secure_delete: bool

    @property
    def version_text(self) -> str:
        """The version as people write it."""
        return ".".join(str(part) for part in self.version)

    def warnings(self) -> tuple[str, ...]:
        """What `status` says about the library, in words with what to do."""
        found = []
        if not self.safe:
            found.append(
                f"SQLite {self.version_text} can lose data when two connections write (WAL-reset "
                "bug); the store runs in safe mode, where only one connection writes and "
                "checkpoints. It cannot erase deleted words inside the keyword index at once "
                "either. Install the package pysqlite3, or a Python with SQLite 3.51.3 or later."
            )
        if not self.fts5:
            found.append(
                f"SQLite {self.version_text} has no full-text search (FTS5): keyword recall is "
                "off. Install the package pysqlite3."
            )
        return tuple(found)


def is_safe(version: Version) -> bool:
    """Tell whether a version is free of the WAL-reset bug."""
    if version == _WITHDRAWN:
        return False
    if version >= _WAL_RESET_FIXED:
        return True
    return any(
        version[:2] == fixed[:2] and version >= fixed for fixed in _WAL_RESET_FIXED_IN_BRANCH
    )


def library_facts(module: ModuleType | Any = driver) -> LibraryFacts:  # noqa: ANN401 - a DB-API module
    """Look at a library, by default the one in use."""
    major, minor, patch = module.sqlite_version_info[:3]
    version = (int(major), int(minor), int(patch))
    fts5 = _has_fts5(module)
    return LibraryFacts(
        module=str(module.__name__).split(".", maxsplit=1)[0],
        version=version,
        safe=is_safe(version),
        fts5=fts5,
        fts5_secure_delete=fts5 and version >= _FTS5_SECURE_DELETE,
    )


def _has_fts5(module: ModuleType | Any) -> bool:  # noqa: ANN401 - a DB-API module
    connection = module.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE probe USING fts5(text)")
    except module.OperationalError:
        return False
    finally:
        connection.close()
    return True
