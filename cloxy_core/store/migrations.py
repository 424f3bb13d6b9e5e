"""Bring the schema up to date: numbered steps for each owner, a verified backup before."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from sqlalchemy import Connection

from cloxy_core.store.connections import driver_connection
from cloxy_core.store.core_migrations import CORE
from cloxy_core.store.failures import error_code
from cloxy_hookspecs.errors import CloxyError, MigrationError
from cloxy_hookspecs.providers.platform import Migration

_NOTES_EXIST: Final = "SELECT 1 FROM sqlite_master WHERE name = 'schema_migrations'"
_NOTES: Final = "SELECT owner, number FROM schema_migrations ORDER BY owner, number"
_NOTE: Final = "INSERT INTO schema_migrations (owner, number, applied_at) VALUES (?, ?, ?)"


def newest_core_number(migrations: Sequence[Migration]) -> int:
    """The number of the newest step of the core, which is the database's `user_version`."""
    return max((step.number for step in migrations if step.owner == CORE), default=0)


def arrange(migrations: Sequence[Migration]) -> list[Migration]:
    """Sort steps by owner, the core first, and by number.

    Raises:
        MigrationError: An owner's numbers do not run 1, 2, … without gap or double.
    """
    by_owner: dict[str, list[Migration]] = defaultdict(list)
    for step in migrations:
        by_owner[step.owner].append(step)
    arranged = []
    for owner in sorted(by_owner, key=lambda name: (name != CORE, name)):
        steps = sorted(by_owner[owner], key=lambda step: step.number)
        numbers = [step.number for step in steps]
        if numbers != list(range(1, len(steps) + 1)):
            raise MigrationError(
                f"the migrations of {owner} are numbered {numbers}",
                hint="number them 1, 2, … each once, and never remove a released one",
            )
        arranged += steps
    return arranged


def applied(connection: Connection) -> Mapping[str, int]:
    """The newest number that ran for each owner.

    Raises:
        MigrationError: The notes of an owner have a gap: somebody edited them.
    """
    if connection.exec_driver_sql(_NOTES_EXIST).fetchone() is None:
        return {}
    found: dict[str, int] = {}
    for owner, number in connection.exec_driver_sql(_NOTES).fetchall():
        if number != found.get(owner, 0) + 1:
            raise MigrationError(
                f"the database notes migration {number} of {owner} without the one before",
                hint="put the newest file of the backups folder in the database's place",
            )
        found[owner] = number
    return found


def pending(arranged: Sequence[Migration], done: Mapping[str, int]) -> list[Migration]:
    """The steps that have not run. Owners without steps here (disabled plugins) are left alone.

    Raises:
        MigrationError: The database knows a newer step of an owner than the code does.
    """
    known: dict[str, int] = {}
    for step in arranged:
        known[step.owner] = step.number
    for owner, number in done.items():
        if number > known.get(owner, number):
            raise MigrationError(
                f"the tables of {owner} were made by a newer version (step {number}, "
                f"this one knows {known[owner]})",
                hint=f"upgrade {'Cloxy' if owner == CORE else f'the plugin {owner}'}",
            )
    return [step for step in arranged if step.number > done.get(step.owner, 0)]


def migrate(
    connection: Connection,
    migrations: Sequence[Migration],
    *,
    now_ms: Callable[[], int],
    back_up: Callable[[Migration], object],
) -> list[Migration]:
    """Run what has not run, each step in one transaction with the note that it ran.

    Args:
        connection: The writer, outside of any transaction.
        migrations: Steps of the core and of all enabled plugins, in any order.
        now_ms: The time, for the notes.
        back_up: Makes a verified copy of the database, and is told the first step. Called once,
            and only when earlier steps have run; when it fails, nothing is changed.

    Returns:
        The steps that ran.

    Raises:
        MigrationError: A step failed, or the numbers do not fit; steps before it stay applied.
    """
    arranged = arrange(migrations)
    with connection.begin():
        done = applied(connection)
    steps = pending(arranged, done)
    if not steps:
        return []
    if done:
        back_up(steps[0])
    _foreign_keys(connection, enforced=False)
    try:
        for step in steps:
            _run(connection, step, now_ms())
    finally:
        _foreign_keys(connection, enforced=True)
    return steps


def _run(connection: Connection, step: Migration, now_ms: int) -> None:
    try:
        with connection.begin():
            step.apply(connection)
            _check(connection, step)
            connection.exec_driver_sql(_NOTE, (step.owner, step.number, now_ms))
            if step.owner == CORE:
                connection.exec_driver_sql(f"PRAGMA user_version={step.number:d}")
    except CloxyError:
        raise
    except Exception as error:
        # What SQLite says of the disk is explained further out, where the file is known.
        if error_code(error) not in {None, 1}:
            raise
        raise MigrationError(
            f"migration {step.number} of {step.owner} ({step.summary}) failed: {error}",
            hint="the database is as it was before this step; report this, or disable the plugin",
        ) from error


def _check(connection: Connection, step: Migration) -> None:
    if not driver_connection(connection).in_transaction:
        raise MigrationError(
            f"migration {step.number} of {step.owner} ended its own transaction",
            hint="a migration must not commit, roll back or use executescript",
        )
    broken = connection.exec_driver_sql("PRAGMA foreign_key_check").fetchone()
    if broken is not None:
        raise MigrationError(
            f"migration {step.number} of {step.owner} leaves rows of {broken[0]} that refer to "
            f"missing rows of {broken[2]}",
            hint="the database is as it was before this step",
        )


def _foreign_keys(connection: Connection, *, enforced: bool) -> None:
    """Switch the enforcement, which SQLite ignores inside a transaction.

    Off, so that a step can rebuild a table without its children being deleted; every step is
    checked as a whole instead.
    """
    driver_connection(connection).execute(f"PRAGMA foreign_keys={'ON' if enforced else 'OFF'}")
