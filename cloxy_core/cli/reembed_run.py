"""An engine without a server, for as long as the vectors are made anew."""

import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from cloxy_core.app import open_host
from cloxy_core.cli.opening import take_lock
from cloxy_core.core_settings import LOG_LEVEL, data_directory, load_settings
from cloxy_core.engine import Engine
from cloxy_core.kernel.logging import logging_to
from cloxy_core.kernel.settings import Settings
from cloxy_core.runtime.lock import DataDirectoryLock
from cloxy_core.runtime.paths import DataDirectory, private_umask
from cloxy_core.services.doctor.looking import LookStore, is_still
from cloxy_core.services.embedding.status import read_spaces
from cloxy_core.services.redaction import redact
from cloxy_hookspecs import NotFoundError


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was done.

    Attributes:
        provider: the embedder.
        model: its model.
        space: fingerprint of the space of its vectors.
        embedded: passages that got a vector now.
        vectors: passages that have one.
        failed: passages that could not be embedded.
        reason: why the last of those could not; None when there are none.
        seconds: how long it took.
    """

    provider: str
    model: str
    space: str
    embedded: int
    vectors: int
    failed: int
    reason: str | None
    seconds: float


def as_object(outcome: Outcome) -> Mapping[str, object]:
    """The outcome for programs."""
    return {**asdict(outcome), "seconds": round(outcome.seconds, 3)}


async def run(environ: Mapping[str, str], progress: Callable[[int, int], None]) -> Outcome:
    """Fill the space of the settings beside the one in use, and make it the active one.

    Args:
        environ: environment variables.
        progress: is told passages done and passages to do.

    Raises:
        NotFoundError: there is no database yet.
        DataDirectoryInUseError: a server uses it.
        ModelMissingError: there is no model to embed with.
        CloxyError: the model or the store cannot be used; what was done stays.
    """
    began = time.monotonic()
    async with _engine(environ) as engine:
        # Not `engine.start`, which refuses a space that is not that of the stored vectors.
        done = await engine.reembedding.now(progress)
        status = await engine.embedding.status()
    return Outcome(
        provider=status.provider,
        model=status.model,
        space=status.space,
        embedded=done.done,
        vectors=status.embedded,
        failed=status.failed,
        reason=status.reason if status.failed else None,
        seconds=time.monotonic() - began,
    )


async def drop(environ: Mapping[str, str], *, dormant: bool) -> int:
    """Remove the half-made space, or those that are kept and not used; of how many spaces.

    Args:
        environ: environment variables.
        dormant: whether those that are kept are meant.

    Raises:
        NotFoundError: there is no database yet.
        CloxyError: a server uses it, or the store cannot be written now.
    """
    async with _engine(environ) as engine:
        dropped = (
            await engine.reembedding.drop_old()
            if dormant
            else int(await engine.reembedding.cancel())
        )
        await engine.embedding.tidy()
    return dropped


def spaces(environ: Mapping[str, str]) -> Sequence[Mapping[str, object]]:
    """The spaces of the database, read without a lock.

    Raises:
        NotFoundError: there is no database yet.
        CloxyError: it cannot be read.
    """
    folder = _folder(load_settings(environ))
    database = DataDirectory(folder).database
    store = LookStore(database, private=False, still=is_still(database))
    return [asdict(each) for each in store.look(read_spaces)]


def _folder(settings: Settings) -> Path:
    """The data directory.

    Raises:
        NotFoundError: there is no database in it.
    """
    folder = data_directory(settings)
    if not DataDirectory(folder).database.exists():
        raise NotFoundError(
            f"there is no memory in {folder} yet, so there is nothing to embed",
            hint="run `cloxy start` first, or set CLOXY_DATA_DIR to the folder of the memory",
        )
    return folder


@asynccontextmanager
async def _engine(environ: Mapping[str, str]) -> AsyncIterator[Engine]:
    """The parts of a server that nothing is started of, with the lock of the data directory.

    Raises:
        CloxyError: there is no database, a server uses it, or a setting cannot be used.
    """
    private_umask()
    settings = load_settings(environ)
    folder = _folder(settings)
    host = open_host(settings)
    paths = DataDirectory.open(folder)
    lock = DataDirectoryLock(paths.lock)
    with logging_to(paths.logs, level=settings[LOG_LEVEL], mask=lambda text: redact(text).text):
        take_lock(
            lock,
            "a server that listens does this beside its other work: set CLOXY_URL to its address;"
            " or stop it, run `cloxy reembed`, and start it again",
        )
        try:
            engine = Engine(host, paths, lock)
            try:
                yield engine
            finally:
                await engine.close()
        finally:
            lock.release()
