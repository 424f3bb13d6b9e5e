"""An engine without a server, for as long as a file is imported."""

import asyncio
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO

from cloxy_core.app import open_host
from cloxy_core.cli.opening import take_lock
from cloxy_core.core_settings import LOG_LEVEL, data_directory, load_settings
from cloxy_core.engine import NOTE, NOTES, TOMBSTONE_KEY, Engine
from cloxy_core.kernel.host import PluginHost
from cloxy_core.kernel.logging import logging_to
from cloxy_core.runtime.lock import DataDirectoryLock
from cloxy_core.runtime.paths import DataDirectory, private_umask
from cloxy_core.services.exchange.arriving import Arriving, Summary
from cloxy_core.services.exchange.judging import Judge
from cloxy_core.services.exchange.notes import NoteImport
from cloxy_core.services.exchange.snapshot import snapshot
from cloxy_core.services.exchange.writing import TRANSCRIPT, Writing
from cloxy_core.services.holding import refuse_held_back
from cloxy_core.services.redaction import redact
from cloxy_core.services.write.tombstones import KEY_BYTES, Tombstones
from cloxy_core.services.write.transcripts import TranscriptWriter
from cloxy_hookspecs import InputError, PluginContractError, StoreError

MESSAGES = "messages"


def run(
    environ: Mapping[str, str],
    file: str | None,
    tell: Callable[[int], None],
    complain: Callable[[int, str], None],
    *,
    dry_run: bool,
) -> Summary:
    """Import a file.

    Args:
        environ: environment variables.
        file: its path; None for standard input.
        tell: told how many lines were read.
        complain: told what is wrong with a line.
        dry_run: whether only to look.

    Raises:
        InputError: the file cannot be read, or is no export.
        DataDirectoryInUseError: a server uses the data directory.
        StoreFullError: the disk is full; what was imported stays.
        CloxyError: the database cannot be used, or nothing may be read in.
    """
    private_umask()
    settings = load_settings(environ)
    folder = data_directory(settings).absolute()
    with _opened(file) as stream:
        arriving = Arriving(stream, file or "standard input", tell, complain)
        arriving.open()
        if dry_run:
            return _look(DataDirectory(folder), arriving)
        host = open_host(settings)
        paths = DataDirectory.open(folder)
        lock = DataDirectoryLock(paths.lock)
        with logging_to(paths.logs, level=settings[LOG_LEVEL], mask=lambda text: redact(text).text):
            take_lock(lock, "stop it, run `cloxy import` again, and start it")
            try:
                return asyncio.run(_write(host, paths, lock, arriving))
            finally:
                lock.release()


@contextmanager
def _opened(file: str | None) -> Iterator[BinaryIO]:
    if file is None:
        yield sys.stdin.buffer
        return
    with ExitStack() as stack:
        try:
            stream = stack.enter_context(Path(file).open("rb"))
        except OSError as error:
            raise InputError(
                f"{file} cannot be read: {error.strerror}",
                hint="name a file that `cloxy export` wrote",
            ) from error
        yield stream


async def _write(
    host: PluginHost, paths: DataDirectory, lock: DataDirectoryLock, arriving: Arriving
) -> Summary:
    engine = Engine(host, paths, lock)
    try:
        # Without its key nothing is recognised as forgotten.
        await engine.hold.require()
        return await arriving.run(_writing(engine, paths.data))
    finally:
        await engine.close()


def _writing(engine: Engine, data: Path) -> Writing:
    try:
        chunker, for_notes = engine.chunkers[MESSAGES], engine.chunkers[NOTES]
        note = engine.policies[NOTE]
    except KeyError as error:
        raise PluginContractError(
            f"no enabled plugin brings {error}", hint="enable the plugins chunking and memory"
        ) from None
    return Writing(
        data=data,
        store=engine.store,
        indexing=engine.indexing,
        transcripts=TranscriptWriter(engine.indexing, engine.tombstones, engine.clock),
        notes=NoteImport(for_notes, note, engine.indexing, engine.clock),
        chunker=chunker,
        policy=engine.policies.get(TRANSCRIPT.name, TRANSCRIPT),
    )


def _look(paths: DataDirectory, arriving: Arriving) -> Summary:
    """Say what would come; a server may run."""
    refuse_held_back(paths.data)
    if not paths.database.exists():
        return asyncio.run(arriving.run(Judge(None, None, NOTE)))
    key = paths.data / TOMBSTONE_KEY
    has_key = key.is_file() and key.stat().st_size == KEY_BYTES
    # Made only where its key is, since it would make one.
    tombstones = Tombstones(key) if has_key else None
    with snapshot(paths.database) as connection:
        if tombstones is None or not tombstones.key_fits(connection):
            raise StoreError(
                f"what was forgotten cannot be recognised: {key} is missing or another one",
                hint="put it back from a copy of the data directory, or start Cloxy, which says "
                "what to do",
            )
        return asyncio.run(arriving.run(Judge(connection, tombstones, NOTE)))
