"""An engine without a server, for as long as a file is imported."""

import asyncio
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from cloxy_core.app import open_host
from cloxy_core.assembly.writing import NOTE, NOTES, TOMBSTONE_KEY
from cloxy_core.cli.opening import take_lock
from cloxy_core.core_settings import LOG_LEVEL, data_directory, load_settings
from cloxy_core.engine import Engine
from cloxy_core.kernel.host import PluginHost
from cloxy_core.kernel.logging import logging_to
from cloxy_core.kernel.settings import Settings
from cloxy_core.runtime.clock import SystemClock
from cloxy_core.runtime.lock import DataDirectoryLock
from cloxy_core.runtime.paths import DataDirectory, private_umask
from cloxy_core.services.exchange.arriving import Arriving, Summary
from cloxy_core.services.exchange.foreign import (
    FollowingWriting,
    Translation,
    is_binary,
    is_database,
    moving,
    translation,
)
from cloxy_core.services.exchange.judging import Judge
from cloxy_core.services.exchange.notes import NoteImport
from cloxy_core.services.exchange.ruling import TRANSCRIPT
from cloxy_core.services.exchange.snapshot import snapshot
from cloxy_core.services.exchange.writing import Writing
from cloxy_core.services.holding import refuse_held_back
from cloxy_core.services.ingest.apart import OwnApart
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
    """Import a file, or what another memory system keeps.

    Args:
        environ: environment variables.
        file: its path; None for standard input.
        tell: told how many lines were read.
        complain: told what is wrong with a line; its number is 0 where there are no lines.
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
    name = file or "standard input"
    with ExitStack() as stack:
        stream, foreign = _opened(file, name, stack)
        if foreign is None:
            arriving = Arriving(stream, name, tell, complain)
        else:
            foreign.begin()
            arriving = Arriving(foreign.lines, name, tell, complain, foreign.summary)
            if issubclass(foreign.writing, FollowingWriting):
                # Its lines are of our making: their numbers say nothing.
                arriving.complain = lambda _line, words: complain(0, words)
        arriving.open()
        writing = Writing if foreign is None else foreign.writing
        if dry_run:
            summary = _look(DataDirectory(folder), arriving, writing)
        else:
            summary = _locked(settings, folder, arriving, writing)
        if foreign is not None:
            foreign.finish(complain)
        return summary


def _opened(file: str | None, name: str, stack: ExitStack) -> tuple[BinaryIO, Translation | None]:
    """The file, and who reads it when it is of others.

    Raises:
        InputError: it cannot be read, or only by its name.
    """
    if file is not None and Path(file).is_dir():
        foreign = stack.enter_context(moving(Path(file), name))
        return foreign.lines, foreign
    stream = _stream(file, stack)
    if is_database(stream):
        if file is None:
            raise InputError("a database cannot be read from standard input", hint="give its path")
        foreign = stack.enter_context(moving(Path(file), name))
        return foreign.lines, foreign
    found = stack.enter_context(translation(stream, name))
    if found is None and is_binary(stream):
        raise InputError(
            f"{name} is neither an export nor a database that can be read",
            hint="an encrypted database cannot be imported: export it with the program that "
            "it belongs to",
        )
    return stream, found


def _stream(file: str | None, stack: ExitStack) -> BinaryIO:
    if file is None:
        return sys.stdin.buffer
    try:
        return stack.enter_context(Path(file).open("rb"))
    except OSError as error:
        raise InputError(
            f"{file} cannot be read: {error.strerror}",
            hint="name a file that `cloxy export` wrote, an export of ChatGPT or Claude.ai, or "
            "what another memory system keeps",
        ) from error


def _locked(settings: Settings, folder: Path, arriving: Arriving, kind: type[Writing]) -> Summary:
    host = open_host(settings)
    paths = DataDirectory.open(folder)
    lock = DataDirectoryLock(paths.lock)
    with logging_to(paths.logs, level=settings[LOG_LEVEL], mask=lambda text: redact(text).text):
        take_lock(lock, "stop it, run `cloxy import` again, and start it")
        try:
            return asyncio.run(_write(host, paths, lock, arriving, kind))
        finally:
            lock.release()


async def _write(
    host: PluginHost,
    paths: DataDirectory,
    lock: DataDirectoryLock,
    arriving: Arriving,
    kind: type[Writing],
) -> Summary:
    engine = Engine(host, paths, lock)
    try:
        # Without its key nothing is recognised as forgotten.
        await engine.hold.require()
        return await arriving.run(_writing(engine, paths.data, kind))
    finally:
        await engine.close()


def _writing(engine: Engine, data: Path, kind: type[Writing]) -> Writing:
    try:
        chunker, for_notes = engine.chunkers[MESSAGES], engine.chunkers[NOTES]
        note = engine.policies[NOTE]
    except KeyError as error:
        raise PluginContractError(
            f"no enabled plugin brings {error}", hint="enable the plugins chunking and memory"
        ) from None
    # What was said comes with its session, never as a note.
    others = {name: each for name, each in engine.policies.items() if name != TRANSCRIPT.name}
    return kind(
        data=data,
        store=engine.store,
        indexing=engine.indexing,
        transcripts=TranscriptWriter(engine.indexing, engine.tombstones, engine.clock),
        notes=NoteImport(for_notes, note, engine.indexing, engine.clock, others),
        chunker=OwnApart(chunker),
        policy=engine.policies.get(TRANSCRIPT.name, TRANSCRIPT),
    )


def _look(paths: DataDirectory, arriving: Arriving, kind: type[Writing]) -> Summary:
    """Say what would come; a server may run."""
    refuse_held_back(paths.data)
    follows, now = issubclass(kind, FollowingWriting), SystemClock().now_ms()
    if not paths.database.exists():
        return asyncio.run(arriving.run(Judge(None, None, NOTE, now, follows)))
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
        return asyncio.run(arriving.run(Judge(connection, tombstones, NOTE, now, follows)))
