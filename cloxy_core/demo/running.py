"""A whole engine on the bundled sessions: reads them, embeds them, answers three questions."""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, func, select

from cloxy_core.app import open_host
from cloxy_core.core_settings import EMBED_PROVIDER, LOG_LEVEL, load_settings
from cloxy_core.demo.sessions import copy_sessions
from cloxy_core.demo.shown import QUESTIONS, Answer, Demonstration, Question
from cloxy_core.engine import Engine
from cloxy_core.kernel.logging import logging_to
from cloxy_core.runtime.clock import SystemClock
from cloxy_core.runtime.paths import DataDirectory
from cloxy_core.services.dates import SystemZone
from cloxy_core.services.passage_rows import PASSAGE_TEXT
from cloxy_core.services.redaction import redact
from cloxy_core.services.vector_feed import BUILDING, VectorChannel
from cloxy_hookspecs import CloxyError, Query
from cloxy_hookspecs.tables import memories, passages, projects

NO_MODEL: Final = "none"
MARK: Final = "[REDACTED:"
LOOK_SECONDS: Final = 0.02


def environment_for(folder: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """Settings of the demonstration: a data directory of its own, and otherwise the defaults.

    The user's own settings stay out, so that everybody sees the same and no model is fetched;
    only the wish for no model at all counts.
    """
    own = {
        "CLOXY_DATA_DIR": str(folder / "data"),
        "CLOXY_WATCH_DIRS": str(folder / "sessions"),
        "CLOXY_WATCH": "0",
    }
    provider = environ.get(EMBED_PROVIDER.variable, "").strip()
    return own | ({EMBED_PROVIDER.variable: NO_MODEL} if provider == NO_MODEL else {})


async def demonstrate(
    folder: Path, environ: Mapping[str, str], tell: Callable[[str], None]
) -> Demonstration:
    """Read the bundled sessions in a folder, and ask the questions.

    Args:
        folder: an empty folder, which gets the sessions and the data directory.
        environ: environment variables of the process.
        tell: is told what is going on, in a few words.

    Raises:
        CloxyError: something that cannot be done without does not work.
    """
    tell("reading the sessions")
    copy_sessions(folder / "sessions", SystemClock().now(), SystemZone())
    settings = load_settings(environment_for(folder, environ))
    host = open_host(settings)
    paths = DataDirectory.open(folder / "data")
    with logging_to(paths.logs, level=settings[LOG_LEVEL], mask=lambda text: redact(text).text):
        engine = Engine(host, paths)
        try:
            await engine.start()
            return await _shown(engine, tell)
        finally:
            await engine.close()


async def _shown(engine: Engine, tell: Callable[[str], None]) -> Demonstration:
    report = await engine.ingest.run()
    tell("embedding what was said")
    embedded, trouble = await _embed(engine)
    tell("asking")
    now = engine.clock.now_ms()
    answers = [
        Answer(question, await engine.recaller.recall(_query(question, now)))
        for question in QUESTIONS
    ]
    counts = await engine.store.read(_counted)
    info = engine.embedding.info
    return Demonstration(
        files=report.files_processed,
        memories=counts[0],
        messages=counts[1],
        projects=counts[2],
        model=info.space.model if info and trouble is None else "",
        embedded=embedded,
        trouble=trouble,
        answers=tuple(answers),
        redacted=await engine.store.read(_redacted),
    )


def _query(question: Question, now: int) -> Query:
    return Query(text=question.text, top_k=1, now=now, zone=SystemZone())


async def _embed(engine: Engine) -> tuple[int, str | None]:
    """Passages that have a vector, and why there is no search by meaning, if there is none."""
    embedding = engine.embedding
    if embedding.info is None:
        return 0, embedding.trouble() or f"{EMBED_PROVIDER.name} is {NO_MODEL}"
    try:
        await embedding.fill()
    except CloxyError as error:
        return 0, str(error)
    while (trouble := _index_trouble(engine)) == BUILDING:  # noqa: ASYNC110 - nobody is told
        await asyncio.sleep(LOOK_SECONDS)
    # Built from what there was before, it may not have been told yet of what came meanwhile.
    await engine.indexing.drain()
    return (await embedding.status()).embedded, trouble


def _index_trouble(engine: Engine) -> str | None:
    """Why the vectors cannot be searched, in words; None when they can."""
    channels = [c.record.channel for c in engine.indexing.channels if isinstance(c, VectorChannel)]
    if not channels:
        return "no plugin with an index of vectors is there"
    return next(filter(None, map(engine.indexing.trouble, channels)), None)


def _counted(connection: Connection) -> tuple[int, ...]:
    """Memories, passages and projects."""
    return tuple(
        connection.execute(select(func.count()).select_from(table)).scalar_one()
        for table in (memories, passages, projects)
    )


def _redacted(connection: Connection) -> str:
    """The text of a passage in which a secret was replaced; empty when there is none."""
    statement = (
        select(PASSAGE_TEXT)
        .select_from(passages.join(memories, memories.c.id == passages.c.memory_id))
        .where(func.instr(PASSAGE_TEXT, MARK) > 0)
        .limit(1)
    )
    return connection.execute(statement).scalar() or ""
