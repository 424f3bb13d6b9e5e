"""An export: a snapshot of the database, streamed into a file that appears when it is whole."""

import os
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO

from cloxy_core import __version__
from cloxy_core.cli.progress_line import CountLine
from cloxy_core.cli.zone import reader_zone
from cloxy_core.core_settings import data_directory, load_settings
from cloxy_core.runtime.clock import SystemClock
from cloxy_core.runtime.paths import DataDirectory, create_private_file, sync_directory
from cloxy_core.services.dates import Dates
from cloxy_core.services.exchange.form import encode
from cloxy_core.services.exchange.leaving import Leaving
from cloxy_core.services.exchange.snapshot import snapshot
from cloxy_core.services.keeping.meanwhile import (
    TRIES,
    Mark,
    forgotten_so_far,
    forgotten_until_now,
    too_often,
)
from cloxy_core.services.keeping.records import KnownCopy, note_copy
from cloxy_core.store.connections import driver_connection
from cloxy_hookspecs import ConflictError, Filters, InputError, NotFoundError


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is wanted, in the words of the person; None for all."""

    project: str | None
    since: str | None
    until: str | None
    source: str | None

    def filters(self, environ: Mapping[str, str], now: int) -> Filters:
        """The same as recall understands it, with what sub-agents said.

        Raises:
            FilterError: a date cannot be read.
        """
        dates = Dates()
        zone = dates.zone(reader_zone(environ))
        window = dates.window(self.since, self.until, now=now, zone=zone)
        project = self.project if self.project and self.project.strip() else None
        return Filters(project=project, window=window, source=self.source or None)


def run(
    environ: Mapping[str, str],
    wanted: Wanted,
    file: str | None,
    force: bool,
    progress: CountLine,
) -> Mapping[str, int]:
    """Write what is wanted; how many lines of each kind there are.

    Args:
        environ: environment variables.
        wanted: filters.
        file: where to; None for standard output.
        force: whether a file that is there may be replaced.
        progress: is told how far it is.

    Raises:
        NotFoundError: there is no database.
        ConflictError: the file is there.
        InputError: the file cannot be written.
        StoreBusyError: text was being forgotten all the time; nothing is left of the file.
        CloxyError: the database cannot be read.
    """
    folder = data_directory(load_settings(environ))
    paths = DataDirectory(folder.absolute())
    if not paths.database.exists():
        raise NotFoundError(
            f"there is no memory in {folder} yet, so there is nothing to export",
            hint="run `cloxy start` first, or set CLOXY_DATA_DIR to the folder of the memory",
        )
    now = SystemClock().now_ms()
    filters = wanted.filters(environ, now)
    if file is None:
        counts, _mark = _write(paths, filters, now, None, force, progress)
        return counts
    path = Path(file).absolute()
    for again in range(TRIES):
        counts, mark = _write(paths, filters, now, file, force or again > 0, progress)
        note_copy(paths.data, KnownCopy("export", path, now))
        if forgotten_until_now(paths.database) == mark:
            return counts
    path.unlink(missing_ok=True)
    raise too_often(path)


def _write(
    paths: DataDirectory,
    filters: Filters,
    now: int,
    file: str | None,
    force: bool,
    progress: CountLine,
) -> tuple[Mapping[str, int], Mark]:
    """Write one snapshot; its counts, and what had been forgotten before it."""
    with _target(file, force=force) as target, snapshot(paths.database) as connection:
        mark = forgotten_so_far(driver_connection(connection))
        total = 0
        leaving = Leaving(
            connection, filters, __version__, now, lambda count: progress.count(count, total)
        )
        total = leaving.total() if filters == Filters() else 0
        for line in leaving.lines():
            target(encode(line))
    return asdict(leaving.counts), mark


@contextmanager
def _target(file: str | None, *, force: bool) -> Iterator[Callable[[bytes], object]]:
    if file is None:
        stream = sys.stdout.buffer
        yield stream.write
        stream.flush()
        return
    path = Path(file).absolute()
    _check(path, force=force)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    with _explained(path):
        descriptor = create_private_file(partial)
    target = os.fdopen(descriptor, "wb", buffering=1 << 16)
    try:
        yield _writer(target, path)
        with _explained(path):
            target.flush()
            os.fsync(target.fileno())
            target.close()
            _put(partial, path, force=force)
            partial.unlink(missing_ok=True)
            sync_directory(path.parent)
    finally:
        # What a full disk did not take is tried again here, and must not hide the first error.
        with suppress(OSError):
            target.close()
        partial.unlink(missing_ok=True)


def _writer(target: BinaryIO, path: Path) -> Callable[[bytes], object]:
    def write(data: bytes) -> None:
        with _explained(path):
            target.write(data)

    return write


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(
            f"{path} cannot be written: {error.strerror}",
            hint="name a file in a folder that you can write to, on a disk with room",
        ) from error


def _check(path: Path, *, force: bool) -> None:
    try:
        found = path.lstat()
    except OSError:
        return
    if not stat.S_ISREG(found.st_mode):
        raise InputError(f"{path} is not a regular file", hint="name another file")
    if not force:
        raise _there(path)


def _put(partial: Path, path: Path, *, force: bool) -> None:
    """Give a whole file its name; one that came meanwhile is not replaced unasked."""
    if not force:
        try:
            os.link(partial, path)
        except FileExistsError:
            raise _there(path) from None
        except (OSError, NotImplementedError):
            # A file system without links; a look has to do.
            _check(path, force=False)
        else:
            return
    partial.replace(path)


def _there(path: Path) -> ConflictError:
    return ConflictError(
        f"{path} is there already", hint="name another file, or add --force to replace it"
    )
