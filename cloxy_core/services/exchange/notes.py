"""Notes of an import: as notes are written, but with their own ids and dates."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, insert

from cloxy_core.runtime.clock import new_uid
from cloxy_core.services.exchange.entries import NoteEntry
from cloxy_core.services.exchange.form import IMPORTED
from cloxy_core.services.exchange.known import as_message
from cloxy_core.services.headers import index_header
from cloxy_core.services.indexing import Indexing
from cloxy_core.services.write.notes import add_passages
from cloxy_core.services.write.rows import Ids, text_hash
from cloxy_core.services.write.sessions import SessionBook
from cloxy_hookspecs import Chunk, Chunker, Clock, OriginPolicy
from cloxy_hookspecs.tables import memories, memory_events, passages


@dataclass(frozen=True, slots=True)
class NoteImport:
    """Writes clean notes that are not there yet.

    Attributes:
        chunker: makes memories of a text.
        policy: how notes are kept.
        indexing: is told of every passage.
        clock: the time.
        others: how texts of other origins are kept, by origin; one that is not there is a note.
    """

    chunker: Chunker
    policy: OriginPolicy
    indexing: Indexing
    clock: Clock
    others: Mapping[str, OriginPolicy]

    def apply(self, connection: Connection, note: NoteEntry) -> None:
        """Write a note, a memory for each chunk; one that was exported is one chunk."""
        chunks = self.chunker.pack([as_message(note)], None)
        project = SessionBook(connection).project(note.project) if note.project else None
        for number, chunk in enumerate(chunks):
            self._write(connection, note, chunk, number, project)

    def _write(
        self,
        connection: Connection,
        note: NoteEntry,
        chunk: Chunk,
        number: int,
        project: tuple[int, str] | None,
    ) -> None:
        now = self.clock.now_ms()
        policy = self.others.get(note.origin or "", self.policy)
        memory_id = Ids(connection, memories).take()
        connection.execute(
            insert(memories),
            {
                "id": memory_id,
                # Later chunks of a long one are known by the first.
                "uid": note.uid if number == 0 else new_uid(self.clock),
                "origin": policy.name,
                "kind": note.knowledge or policy.kind,
                "tier": note.tier or policy.tier,
                "state": "active",
                "immutable": policy.immutable,
                "content": chunk.content,
                "content_hash": text_hash(chunk.content),
                "source": note.source if number == 0 else f"{note.source}:chunk{number}",
                "project_id": project[0] if project else None,
                "ordinal": note.part + number,
                "open": False,
                "occurred_from": note.at,
                "occurred_to": note.at,
                "created_at": now,
                "updated_at": now,
                "version": 1,
                "extra": dict(note.metadata),
            },
        )
        header = index_header(note.at, project[1] if project else None, None, None, "note")
        ids = Ids(connection, passages)
        changes = add_passages(connection, ids, chunk, memory_id, header, note.at)
        self.indexing.change(connection, changes)
        connection.execute(
            insert(memory_events),
            {"memory_id": memory_id, "op": "add", "actor": IMPORTED, "at": now},
        )
