"""A text that somebody asked to be remembered."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, insert, select

from cloxy_core.runtime.clock import new_uid
from cloxy_core.services.headers import index_header
from cloxy_core.services.indexing import Indexing
from cloxy_core.services.write.rows import Ids, text_hash
from cloxy_core.services.write.sessions import SessionBook
from cloxy_hookspecs import (
    Chunk,
    Chunker,
    Clock,
    Draft,
    IndexChange,
    IndexRow,
    Message,
    OriginPolicy,
    PluginContractError,
    Stored,
)
from cloxy_hookspecs.tables import memories, memory_events, passages

ACTOR = "remember"


@dataclass(frozen=True, slots=True)
class NoteWriter:
    """Writes one draft; its `apply` is the body of a write transaction.

    Attributes:
        chunker: makes memories of a text.
        policies: of every origin, by its name.
        indexing: is told of every passage.
        clock: the time.
    """

    chunker: Chunker
    policies: Mapping[str, OriginPolicy]
    indexing: Indexing
    clock: Clock

    def apply(self, connection: Connection, draft: Draft) -> Stored:
        """Write a clean draft, a memory for each chunk; exact copies are not written again.

        Raises:
            PluginContractError: no enabled plugin brings its origin.
        """
        policy = self._policy(draft.origin)
        now = self.clock.now_ms()
        message = Message(
            uid="",
            session="",
            role="note",
            author="program",
            text=draft.text,
            at=now,
            start=0,
            end=0,
        )
        chunks = self.chunker.pack([message], None)
        project = SessionBook(connection).project(draft.project) if draft.project else None
        ids: list[int] = []
        added = 0
        for number, chunk in enumerate(chunks):
            existing = self._existing(connection, policy, chunk, project[0] if project else None)
            if existing is not None:
                ids.append(existing)
                continue
            ids.append(self._write(connection, policy, draft, chunk, number, project, now))
            added += 1
        return Stored(tuple(ids), added)

    def _policy(self, origin: str) -> OriginPolicy:
        try:
            return self.policies[origin]
        except KeyError:
            raise PluginContractError(
                f"no enabled plugin brings the origin {origin!r}", hint="see `cloxy plugins list`"
            ) from None

    def _existing(
        self, connection: Connection, policy: OriginPolicy, chunk: Chunk, project: int | None
    ) -> int | None:
        if not policy.deduplicates:
            return None
        identifier: int | None = connection.execute(
            select(memories.c.id)
            .where(
                memories.c.content_hash == text_hash(chunk.content),
                memories.c.origin == policy.name,
                memories.c.state == "active",
                memories.c.project_id.is_(project)
                if project is None
                else memories.c.project_id == project,
            )
            .limit(1)
        ).scalar()
        return identifier

    def _write(
        self,
        connection: Connection,
        policy: OriginPolicy,
        draft: Draft,
        chunk: Chunk,
        number: int,
        project: tuple[int, str] | None,
        now: int,
    ) -> int:
        memory_id = Ids(connection, memories).take()
        passage_ids = Ids(connection, passages)
        hashed = text_hash(chunk.content)
        connection.execute(
            insert(memories),
            {
                "id": memory_id,
                "uid": new_uid(self.clock),
                "origin": policy.name,
                "kind": policy.kind,
                "tier": policy.tier,
                "state": "active",
                "immutable": policy.immutable,
                "content": chunk.content,
                "content_hash": hashed,
                "source": f"{draft.source}:chunk{number}",
                "project_id": project[0] if project else None,
                "ordinal": number,
                "open": False,
                "occurred_from": now,
                "occurred_to": now,
                "created_at": now,
                "updated_at": now,
                "version": 1,
                "extra": dict(draft.metadata),
            },
        )
        header = index_header(now, project[1] if project else None, None, None, "note")
        changes = add_passages(connection, passage_ids, chunk, memory_id, header, now)
        connection.execute(
            insert(memory_events), {"memory_id": memory_id, "op": "add", "actor": ACTOR, "at": now}
        )
        self.indexing.change(connection, changes)
        return memory_id


def add_passages(
    connection: Connection,
    ids: Ids,
    chunk: Chunk,
    memory_id: int,
    header: str,
    at: int | None,
) -> Sequence[IndexChange]:
    """Write the passages of a note; what the indexes have to be told.

    Args:
        connection: a write transaction.
        ids: gives the ids of passages.
        chunk: the text, in pieces.
        memory_id: the memory that holds it.
        header: under which the passages are indexed.
        at: when it was said, milliseconds.
    """
    rows: list[dict[str, object]] = []
    changes: list[IndexChange] = []
    for ordinal, piece in enumerate(chunk.pieces):
        text = chunk.content[piece.start : piece.end]
        identifier = ids.take()
        rows.append(
            {
                "id": identifier,
                "memory_id": memory_id,
                "ordinal": ordinal,
                "part": piece.part,
                "role": piece.message.role,
                "author": piece.message.author,
                "char_start": piece.start,
                "char_end": piece.end,
                "occurred_at": at,
                "text_hash": text_hash(text),
            }
        )
        changes.append(IndexChange(identifier, IndexRow(identifier, header, text)))
    connection.execute(insert(passages), rows)
    return changes
