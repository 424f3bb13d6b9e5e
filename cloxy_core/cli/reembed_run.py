"""An engine without a server, for as long as the vectors are made anew."""

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass

from cloxy_core.app import open_host
from cloxy_core.cli.opening import take_lock
from cloxy_core.core_settings import EMBED_PROVIDER, LOG_LEVEL, data_directory, load_settings
from cloxy_core.engine import Engine
from cloxy_core.kernel.logging import logging_to
from cloxy_core.runtime.lock import DataDirectoryLock
from cloxy_core.runtime.paths import DataDirectory, private_umask
from cloxy_core.services.redaction import redact
from cloxy_hookspecs import ModelMissingError, NotFoundError


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
    """Make the space of the settings the active one, and fill it.

    Args:
        environ: environment variables.
        progress: is told passages done and passages to do.

    Raises:
        NotFoundError: there is no database yet.
        DataDirectoryInUseError: a server uses it.
        ModelMissingError: there is no model to embed with.
        CloxyError: the model or the store cannot be used; what was done stays.
    """
    private_umask()
    settings = load_settings(environ)
    folder = data_directory(settings)
    if not DataDirectory(folder).database.exists():
        raise NotFoundError(
            f"there is no memory in {folder} yet, so there is nothing to embed",
            hint="run `cloxy start` first, or set CLOXY_DATA_DIR to the folder of the memory",
        )
    host = open_host(settings)
    paths = DataDirectory.open(folder)
    lock = DataDirectoryLock(paths.lock)
    with logging_to(paths.logs, level=settings[LOG_LEVEL], mask=lambda text: redact(text).text):
        take_lock(lock, "stop it, run `cloxy reembed`, and start it again")
        try:
            engine = Engine(host, paths, lock)
            try:
                return await _fill(engine, progress)
            finally:
                await engine.close()
        finally:
            lock.release()


async def _fill(engine: Engine, progress: Callable[[int, int], None]) -> Outcome:
    embedding = engine.embedding
    began = time.monotonic()
    if embedding.info is None:
        why = embedding.trouble() or f"{EMBED_PROVIDER.name} names none"
        raise ModelMissingError(
            f"there is no model to embed with: {why}",
            hint=f"set {EMBED_PROVIDER.name} (or {EMBED_PROVIDER.variable}), "
            "or take the setting back",
        )
    # Not `engine.start`, which refuses a space that is not that of the stored vectors.
    await embedding.adopt()
    embedded = await embedding.fill(progress)
    status = await embedding.status()
    return Outcome(
        provider=status.provider,
        model=status.model,
        space=status.space,
        embedded=embedded,
        vectors=status.embedded,
        failed=status.failed,
        reason=status.reason if status.failed else None,
        seconds=time.monotonic() - began,
    )
