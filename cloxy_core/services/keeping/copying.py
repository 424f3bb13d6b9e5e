"""A backup that a person asks for: one snapshot, checked before it gets its name."""

import glob
import os
import re
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from sqlalchemy.exc import DBAPIError

from cloxy_core.runtime.paths import DataDirectory, create_private_file, sync_directory
from cloxy_core.services.doctor.buried import KEY_FILE, is_key_lost
from cloxy_core.services.doctor.findings import Tell
from cloxy_core.services.doctor.looking import is_alive
from cloxy_core.services.keeping.looking import (
    Held,
    compare_hashes,
    key_beside,
    read_key,
    sync_file,
)
from cloxy_core.services.keeping.meanwhile import (
    TRIES,
    Mark,
    forgotten_so_far,
    forgotten_until_now,
    too_often,
)
from cloxy_core.services.keeping.records import KnownCopy, note_copy
from cloxy_core.services.write.tombstones import key_mark
from cloxy_core.store.backup import BY_HAND, stamped, verify
from cloxy_core.store.connections import connect
from cloxy_core.store.failures import file_error, store_error, was_interrupted
from cloxy_core.store.inspection import side_files
from cloxy_core.store.library import driver
from cloxy_hookspecs import InputError, IntegrityError, NotFoundError, StoreError, StoreFullError

UNFINISHED: Final = ".unfinished"
MEBIBYTE: Final = 1024 * 1024
_STEPS: Final = 20_000
"""Steps of SQLite's machine between two words of progress."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A backup.

    Attributes:
        path: the file.
        key: the key of what was forgotten, beside it; None when there is none.
        bytes: its size.
        memories: memories in it.
        messages: messages of sessions in it.
        seconds: how long it took.
        warning: what should be known of it; None when all is well.
    """

    path: Path
    key: Path | None
    bytes: int
    memories: int
    messages: int
    seconds: float
    warning: str | None


def keep(
    paths: DataDirectory, target: Path | None, *, now: datetime, force: bool, tell: Tell
) -> Kept:
    """Write a backup; a server may run, and goes on writing.

    Args:
        paths: the data directory.
        target: the file; one in the folder of backups, named by the time, when None.
        now: the time for the name.
        force: whether a file of that name may be replaced.
        tell: told what is being done.

    Raises:
        NotFoundError: there is no memory, or no folder for the file.
        InputError: the file is there already, or may not be where it should be.
        StoreFullError: there is too little room; nothing is left of the backup.
        IntegrityError: the copy did not pass its check; nothing is left of it.
        StoreBusyError: text was being forgotten all the time; nothing is left of the backup.
        StoreError: a file cannot be read or written.
    """
    began = time.monotonic()
    if not paths.database.exists():
        raise NotFoundError(
            f"there is no memory in {paths.data} yet, so there is nothing to keep",
            hint="run `cloxy start` first, or set CLOXY_DATA_DIR to the folder of the memory",
        )
    if target is None:
        target = stamped(paths.backups, now, BY_HAND)
    target = Path(os.path.abspath(target))  # noqa: PTH100 - resolve() follows a link at its end
    for again in range(TRIES):
        copy = _copy(paths, target, force=force or again > 0, tell=tell)
        note_copy(paths.data, KnownCopy("backup", target, int(now.timestamp() * 1000)))
        with _explained(paths.database, target):
            if forgotten_until_now(paths.database) == copy.mark:
                break
        tell("something was forgotten meanwhile: copying again")
    else:
        for path in (target, key_beside(target)):
            path.unlink(missing_ok=True)
        raise too_often(target)
    return Kept(
        path=target,
        key=key_beside(target) if copy.has_key else None,
        bytes=target.stat().st_size,
        memories=copy.held.memories,
        messages=copy.held.messages,
        seconds=time.monotonic() - began,
        warning=copy.warning,
    )


@dataclass(frozen=True, slots=True)
class _Copy:
    """A copy that has its name: what is in it, and what had been forgotten before it was made."""

    held: Held
    mark: Mark
    has_key: bool
    warning: str | None


def _copy(paths: DataDirectory, target: Path, *, force: bool, tell: Tell) -> _Copy:
    _require_place(paths, target, force=force)
    _remove_abandoned(target)
    partial = target.with_name(f".{target.name}.{os.getpid()}{UNFINISHED}")
    new_key = key_beside(partial)
    try:
        with _explained(paths.database, target):
            _snapshot(paths.database, partial, tell)
            tell("checking the copy")
            verify(partial)
            held = compare_hashes(partial, tell)
            sync_file(partial)
            key, warning = _key_of(paths, partial)
            if key is not None:
                _write_private(new_key, key)
            with closing(connect(partial, "mode=ro", "immutable=1")) as connection:
                mark = forgotten_so_far(connection)
            _require_place(paths, target, force=force)
            _name(partial, new_key, target, has_key=key is not None)
    except BaseException:
        for left in (partial, new_key, *side_files(partial)):
            left.unlink(missing_ok=True)
        raise
    return _Copy(held, mark, key is not None, warning)


def _require_place(paths: DataDirectory, target: Path, *, force: bool) -> None:
    parent = target.parent
    if not parent.is_dir():
        raise NotFoundError(f"there is no folder {parent}", hint="make it, or name another file")
    if parent.samefile(paths.data):
        raise InputError(
            f"{target} lies among the files of the memory itself",
            hint=f"put it into {paths.data / 'backups'}, or better on another disk",
        )
    for path in (target, key_beside(target)):
        if path.is_dir():
            raise InputError(f"{path} is a folder", hint="name a file in it")
        if os.path.lexists(path) and not force:
            raise InputError(
                f"{path} is there already", hint="name another file, or add --force to replace it"
            )


def _remove_abandoned(target: Path) -> None:
    """Remove what a killed backup of this name left, or one that is named by its time."""
    names = {target.name}
    if target.name.endswith(f"-{BY_HAND}.db"):
        names.add(f"memory-*-{BY_HAND}.db")
    for name in names:
        wanted = name if "*" in name else glob.escape(name)
        for left in target.parent.glob(f".{wanted}.*{UNFINISHED}*"):
            made = re.search(rf"\.(\d+){re.escape(UNFINISHED)}", left.name)
            if made and (int(made[1]) == os.getpid() or not is_alive(int(made[1]))):
                left.unlink(missing_ok=True)


def remove_unfinished(folder: Path) -> None:
    """Remove what killed backups left in a folder."""
    for left in folder.glob(f".*{UNFINISHED}*"):
        made = re.search(rf"\.(\d+){re.escape(UNFINISHED)}", left.name)
        if made and not is_alive(int(made[1])):
            left.unlink(missing_ok=True)


def _snapshot(database: Path, partial: Path, tell: Tell) -> None:
    # Made beforehand, since SQLite itself would make it readable for everybody.
    os.close(create_private_file(partial))
    total = max(1, database.stat().st_size)
    source = connect(database, "mode=ro")

    def step() -> None:
        done = min(partial.stat().st_size, total)
        tell(f"copying: {done / MEBIBYTE:,.0f} of about {total / MEBIBYTE:,.0f} MiB")

    try:
        source.set_progress_handler(step, _STEPS)
        source.execute("VACUUM INTO ?", (str(partial),))
    except driver.OperationalError as error:
        if was_interrupted(error):
            # Ctrl-C arrives in the function above, and SQLite makes an error of its own of it.
            raise KeyboardInterrupt from error
        raise
    finally:
        source.close()


def _key_of(paths: DataDirectory, copy: Path) -> tuple[bytes | None, str | None]:
    """The key for a copy, and what is wrong with it."""
    key = read_key(paths.data / KEY_FILE)
    connection: Any = connect(copy, "mode=ro", "immutable=1")
    try:
        lost = is_key_lost(connection, None if key is None else key_mark(key))
    finally:
        connection.close()
    if not lost:
        return key, None
    return key, (
        "the key of what was forgotten (tombstones.key) is missing or another than before, so "
        "after a restore of this backup not everything is recognised that was forgotten"
    )


def _write_private(path: Path, data: bytes) -> None:
    path.unlink(missing_ok=True)
    with os.fdopen(create_private_file(path), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _name(partial: Path, new_key: Path, target: Path, *, has_key: bool) -> None:
    """Give both files their names; the key first, without which the backup is not whole."""
    if has_key:
        new_key.replace(key_beside(target))
    else:
        key_beside(target).unlink(missing_ok=True)
    partial.replace(target)
    sync_directory(target.parent)


@contextmanager
def _explained(database: Path, target: Path) -> Iterator[None]:
    """Errors of writing are about the backup, all others about the database."""
    try:
        yield
    except IntegrityError as error:
        raise IntegrityError(
            f"no backup was made: {error.message}",
            hint="run `cloxy doctor`; keep the older backups",
        ) from error
    except (DBAPIError, driver.Error) as error:
        known = store_error(error, target, writing=True)
        if not isinstance(known, StoreFullError):
            known = store_error(error, database, writing=False)
        if known is None:
            raise
        raise known from error
    except OSError as error:
        raise file_error(error, target) or StoreError(
            f"{target} cannot be written ({error.strerror})", hint="name another file"
        ) from error
