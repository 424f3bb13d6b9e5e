"""Conversations that no log on disk holds: cleaned, packed and written as those of logs are."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final

from sqlalchemy import Connection, select

from cloxy_core.runtime.workers import Workers
from cloxy_core.services.indexing import Indexing
from cloxy_core.services.ingest.apart import OwnApart
from cloxy_core.services.ingest.cleaning import clean_run
from cloxy_core.services.redaction import clean
from cloxy_core.services.write.batch import Cursor, Feed, FileBatch, WriteReport
from cloxy_core.services.write.retitling import retitle
from cloxy_core.services.write.transcripts import TranscriptWriter
from cloxy_core.store.engine import Store
from cloxy_hookspecs import (
    Chunker,
    Clock,
    Conversation,
    Kept,
    OriginPolicy,
    ParseResult,
    StoreFullError,
)
from cloxy_hookspecs.tables import sources

PLUGIN: Final = "conversation"
"""Stands for the source's record in the cursor of a place."""

NO_FILE: Final = "gone"
"""State of a cursor whose place is no file that could be read again."""


class ConversationKeeper:
    """Implements `TranscriptKeeper`."""

    def __init__(
        self,
        store: Store,
        writer: TranscriptWriter,
        indexing: Indexing,
        workers: Workers,
        clock: Clock,
        policy: OriginPolicy,
        chunker: Chunker,
        resolve_project: Callable[[str], str],
        may_write: Callable[[], Awaitable[str | None]],
    ) -> None:
        """Keep nothing yet.

        Args:
            store: the database.
            writer: of transcripts.
            indexing: is told of what was written.
            workers: `io` cleans.
            clock: the time.
            policy: of transcripts.
            chunker: packs messages.
            resolve_project: from a working directory to the path of its project.
            may_write: why nothing may be written now, or None.
        """
        self._store = store
        self._writer = writer
        self._indexing = indexing
        self._workers = workers
        self._clock = clock
        self._policy = policy
        self._chunker = OwnApart(chunker)
        self._resolve_project = resolve_project
        self._may_write = may_write

    async def keep(self, conversation: Conversation) -> Kept:
        """Keep a conversation, durably.

        Raises:
            StoreFullError: there is too little room.
            StoreBusyError: too much waits to be written.
            StoreError: the list of what was forgotten is lost, and nothing is taken in.
        """
        if not conversation.messages and not conversation.facts:
            return Kept()
        if (reason := await self._may_write()) is not None:
            raise StoreFullError(reason, hint="make room on that disk")
        batch = await self._workers.run("io", lambda: self._batch(conversation))
        report = await self._store.write(lambda c: self._apply(c, batch), durable=True)
        for session_id in report.retitled:
            await retitle(self._store, self._indexing, session_id)
        await self._indexing.drain()
        return Kept(
            messages_added=report.messages_added,
            messages_known=report.messages_known,
            memories_added=report.memories_added,
            redactions=dict(batch.redactions),
        )

    def _batch(self, conversation: Conversation) -> FileBatch:
        found = clean_run(ParseResult(conversation.messages, conversation.facts))
        place = clean(f"{conversation.agent}:{conversation.place}").text
        end = max((message.end for message in conversation.messages), default=0)
        return FileBatch(
            feed=Feed(PLUGIN, conversation.agent, PLUGIN, self._policy, self._chunker),
            cursor=Cursor(place, place, end, end, self._clock.now_ms() * 1_000_000, state=NO_FILE),
            messages=found.messages,
            facts=found.facts,
            projects={
                key: self._resolve_project(facts.cwd)
                for key, facts in found.facts.items()
                if facts.cwd
            },
            redactions=found.redactions,
        )

    def _apply(self, connection: Connection, batch: FileBatch) -> WriteReport:
        """Write it; the cursor of its place goes on where it was."""
        cursor = batch.cursor
        stored = connection.execute(
            select(sources.c.id, sources.c.byte_offset, sources.c.messages).where(
                sources.c.plugin == PLUGIN, sources.c.uri == cursor.uri
            )
        ).first()
        if stored is not None:
            reached = max(cursor.byte_offset, stored.byte_offset)
            cursor = replace(cursor, id=stored.id, byte_offset=reached, size=reached)
        report = self._writer.apply(connection, [replace(batch, cursor=cursor)])
        total = report.messages_added + (0 if stored is None else stored.messages)
        connection.execute(
            sources.update()
            .where(sources.c.plugin == PLUGIN, sources.c.uri == cursor.uri)
            .values(records=total, messages=total)
        )
        return report
