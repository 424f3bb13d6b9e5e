"""One transaction: runs of messages from several files become memories.

Everything that belongs together is committed together: memories, passages, index entries, the
session, and the cursor that says how far the file was read. A crash before the commit leaves
nothing, and the lines are read again; after it nothing is read twice.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from sqlalchemy import Connection, bindparam, select, update

from cloxy_core.runtime.clock import new_uid
from cloxy_core.services.indexing import Indexing
from cloxy_core.services.write.aside import SetAside
from cloxy_core.services.write.batch import FileBatch, WriteReport
from cloxy_core.services.write.cursors import write_cursors
from cloxy_core.services.write.passing import Passing
from cloxy_core.services.write.revisions import revise
from cloxy_core.services.write.rows import Ids, Rows, earliest, latest, text_hash
from cloxy_core.services.write.sessions import (
    LastPassage,
    OpenMemory,
    SessionBook,
    SessionState,
    quotes,
)
from cloxy_core.services.write.tombstones import Tombstones
from cloxy_core.store.counters import count_up
from cloxy_core.store.lookups import lookups
from cloxy_hookspecs import Chunk, Clock, Message, SessionFacts
from cloxy_hookspecs.tables import memories, passages

ACTOR = "ingest"
APPROXIMATE = "approximate"


class TranscriptWriter:
    """Writes runs of messages; its `apply` is the body of a write transaction."""

    def __init__(self, indexing: Indexing, tombstones: Tombstones, clock: Clock) -> None:
        self.tombstones = tombstones
        self._indexing = indexing
        self._clock = clock
        self._aside = SetAside()

    def apply(self, connection: Connection, batches: Sequence[FileBatch]) -> WriteReport:
        """Write the runs of several files.

        Args:
            connection: a write transaction.
            batches: runs of files, those of one file in its order.
        """
        transaction = _Transaction(
            connection, self._indexing, self.tombstones, self._clock, self._aside
        )
        return transaction.run(batches)


class _Transaction:
    """What is shared while one transaction is put together."""

    def __init__(
        self,
        connection: Connection,
        indexing: Indexing,
        tombstones: Tombstones,
        clock: Clock,
        aside: SetAside,
    ) -> None:
        self.aside = aside
        self.connection = connection
        self.indexing = indexing
        self.tombstones = tombstones
        self.clock = clock
        self.now = clock.now_ms()
        self.book = SessionBook(connection)
        self.rows = Rows()
        self.memory_ids = Ids(connection, memories)
        self.passage_ids = Ids(connection, passages)
        self.left_out: set[tuple[str, str]] = set()
        self.report = WriteReport()

    def run(self, batches: Sequence[FileBatch]) -> WriteReport:
        for agent in dict.fromkeys(batch.feed.agent for batch in batches):
            keys = [key for batch in batches if batch.feed.agent == agent for key in _keys(batch)]
            self.book.load(agent, keys)
        cursors = write_cursors(self.connection, batches, self.now)
        passing = Passing(self.connection, self.book, self.now)
        passing.look(batches, [list(_keys(batch)) for batch in batches])
        # Of each run, what nobody has forgotten, and no rule keeps out.
        alive = [
            passing.keep(batch, self.tombstones.alive(self.connection, batch.messages))
            for batch in batches
        ]
        passing.note(cursors)
        self._leave_out(batches, alive, passing)
        for batch, messages in zip(batches, alive, strict=True):
            self._learn(batch, messages)
        self.book.write_new()
        for batch, messages in zip(batches, alive, strict=True):
            self._take(batch, messages, cursors[batch.feed.plugin, batch.cursor.uri])
        self.book.write_changed()
        self.rows.write(self.connection, self.indexing)
        redactions: Counter[str] = Counter()
        for batch in batches:
            redactions.update(batch.redactions)
        count_up(self.connection, {f"redacted.{kind}": n for kind, n in redactions.items()})
        self.report.cursors = {
            (batch.feed.plugin, batch.cursor.uri): replace(
                batch.cursor, id=cursors[batch.feed.plugin, batch.cursor.uri]
            )
            for batch in batches
        }
        return self.report

    def _leave_out(
        self,
        batches: Sequence[FileBatch],
        alive: Sequence[Sequence[Message]],
        passing: Passing,
    ) -> None:
        """Learn nothing of sessions that are ignored.

        And make none anew of which all was forgotten or is too old, and nothing new is said.
        """
        self.left_out |= passing.ignored
        for agent, key in passing.ignored:
            self.book.leave_out(agent, key)
        living = {
            (batch.feed.agent, message.session)
            for batch, messages in zip(batches, alive, strict=True)
            for message in messages
        }
        for agent in dict.fromkeys(batch.feed.agent for batch in batches):
            keys = {key for b in batches if b.feed.agent == agent for key in _keys(b)}
            silent = sorted(key for key in keys if (agent, key) not in living)
            gone = self.tombstones.gone_sessions(self.connection, agent, silent)
            expired = [key for key in silent if (agent, key) in passing.silent]
            for key in dict.fromkeys([*gone, *expired]):
                if self.book.leave_out(agent, key):
                    self.left_out.add((agent, key))

    def _learn(self, batch: FileBatch, alive: Sequence[Message]) -> None:
        """Take in what the run says about its sessions."""
        agent = batch.feed.agent
        dead = _texts(batch.messages, without=alive)
        for key in _keys(batch):
            if (agent, key) in self.left_out:
                if key in batch.facts:
                    self.aside.put((agent, key), batch.facts[key], batch.projects.get(key))
                continue
            state = self.book.get(agent, key)
            self.aside.give_back((agent, key), state, self.book)
            got_project = self.book.settle(state, batch.projects.get(key))
            facts = batch.facts.get(key)
            retitled = facts is not None and state.learn(self._allowed(facts, dead))
            if state.note_header(changed=got_project or retitled):
                self.report.retitled.add(state.id)
            if got_project and state.was_stored:
                self.connection.execute(
                    update(memories)
                    .where(memories.c.session_id == state.id, memories.c.project_id.is_(None))
                    .values(project_id=state.values["project_id"])
                )

    def _allowed(self, facts: SessionFacts, dead: Sequence[str]) -> SessionFacts:
        """What a run says of a session, without a title that brings back what was forgotten."""
        title = facts.title
        if title is None or not (
            quotes(title, dead) or self.tombstones.forbids(self.connection, facts.key, title)
        ):
            return facts
        return replace(facts, title=None, title_rank=0)

    def _take(self, batch: FileBatch, alive: Sequence[Message], source_id: int) -> None:
        """Turn the messages of one run into memories."""
        by_session: dict[str, list[Message]] = {}
        for message in alive:
            by_session.setdefault(message.session, []).append(message)
        for key, messages in by_session.items():
            state = self.book.get(batch.feed.agent, key)
            if batch.reread and state.was_stored:
                self._revise(batch, state, messages)
            fresh = self._unknown(state, messages)
            self.report.messages_known += len(messages) - len(fresh)
            if fresh:
                self._pack(batch, state, fresh, source_id)

    def _revise(self, batch: FileBatch, state: SessionState, messages: Sequence[Message]) -> None:
        """Follow edits of the log; nothing else of this session waits in the transaction."""
        chunker = batch.feed.chunker
        gone = revise(self.connection, self.indexing, chunker, state.id, messages, self.now)
        if not gone:
            return
        self.book.load_end(state)
        if state.drop_title(*gone):
            facts = batch.facts.get(state.key)
            if facts is not None:
                state.learn(facts)
            if state.note_header(changed=True):
                self.report.retitled.add(state.id)

    def _unknown(self, state: SessionState, messages: Sequence[Message]) -> Sequence[Message]:
        """Messages that the session does not hold yet; each once."""
        stored = self._stored_uids(state, [message.uid for message in messages])
        fresh = {
            message.uid: message
            for message in reversed(messages)
            if message.uid not in stored and message.uid not in state.seen
        }
        state.seen.update(fresh)
        return [message for message in messages if fresh.get(message.uid) is message]

    def _stored_uids(self, state: SessionState, uids: Sequence[str]) -> set[str]:
        if not state.was_stored:
            return set()
        found: set[str] = set()
        for part in lookups(uids):
            wanted = {"session": state.id, "uids": part}
            found.update(self.connection.execute(_STORED_UIDS, wanted).scalars())
        return found

    def _pack(
        self, batch: FileBatch, state: SessionState, messages: Sequence[Message], source_id: int
    ) -> None:
        tail = state.open_memory
        chunks = batch.feed.chunker.pack(messages, tail.content if tail else None)
        passages_added: list[LastPassage] = []
        for chunk in chunks:
            memory = self._memory(batch, state, chunk, source_id)
            passages_added.extend(self._passages(state, chunk, memory))
            state.open_memory = memory if chunk.open else None
        for message in messages:
            state.saw(message.at)
        self.rows.index(state, passages_added)
        self.report.messages_added += len(messages)

    def _memory(
        self, batch: FileBatch, state: SessionState, chunk: Chunk, source_id: int
    ) -> OpenMemory:
        """The memory of a chunk: the session's open one grown, or a new one."""
        times = [piece.message.at for piece in chunk.pieces]
        occurred_to = None
        for at in times:
            occurred_to = latest(occurred_to, at)
        if chunk.continues and state.open_memory is not None:
            memory = state.open_memory
            memory.content = chunk.content
            memory.occurred_to = latest(memory.occurred_to, occurred_to)
            memory.extra.update(_told(chunk))
            self._grow(memory, chunk)
            return memory
        occurred_from = None
        for at in times:
            occurred_from = earliest(occurred_from, at)
        extra = {"agent": state.agent, **_branch(chunk), **_told(chunk)}
        memory = OpenMemory(self.memory_ids.take(), chunk.content, 1, 0, occurred_to, extra)
        self.rows.memories[memory.id] = self._new_row(
            batch, state, chunk, memory, source_id, occurred_from
        )
        self.rows.event(memory.id, "add", ACTOR, self.now)
        self.report.memories_added += 1
        state.next_ordinal += 1
        return memory

    def _new_row(
        self,
        batch: FileBatch,
        state: SessionState,
        chunk: Chunk,
        memory: OpenMemory,
        source_id: int,
        occurred_from: int | None,
    ) -> dict[str, object]:
        policy = batch.feed.policy
        return {
            "id": memory.id,
            "uid": new_uid(self.clock),
            "origin": policy.name,
            "kind": policy.kind,
            "tier": policy.tier,
            "state": "active",
            "immutable": policy.immutable,
            "content": chunk.content,
            "content_hash": text_hash(chunk.content),
            "source": f"convo:{state.key}:{state.next_ordinal}",
            "project_id": state.values["project_id"],
            "session_id": state.id,
            "source_id": source_id,
            "ordinal": state.next_ordinal,
            "open": chunk.open,
            "occurred_from": occurred_from,
            "occurred_to": memory.occurred_to,
            "created_at": self.now,
            "updated_at": self.now,
            "version": 1,
            "extra": json.dumps(memory.extra),
        }

    def _grow(self, memory: OpenMemory, chunk: Chunk) -> None:
        """Write a grown memory; one that is new in this transaction is changed where it waits."""
        waiting = self.rows.memories.get(memory.id)
        values: dict[str, object] = {
            "content": memory.content,
            "content_hash": text_hash(memory.content),
            "open": chunk.open,
            "occurred_to": memory.occurred_to,
        }
        if waiting is not None:
            waiting.update(values, extra=json.dumps(memory.extra))
            return
        self.rows.memory_updates.append(
            {
                "memory": memory.id,
                "read_version": memory.version,
                "version": memory.version + 1,
                "updated_at": self.now,
                "extra": memory.extra,
                **values,
            }
        )
        memory.version += 1
        self.rows.event(memory.id, "update", ACTOR, self.now)

    def _passages(
        self, state: SessionState, chunk: Chunk, memory: OpenMemory
    ) -> Iterable[LastPassage]:
        for piece in chunk.pieces:
            message = piece.message
            text = chunk.content[piece.start : piece.end]
            identifier = self.passage_ids.take()
            self.rows.passages.append(
                {
                    "id": identifier,
                    "memory_id": memory.id,
                    "session_id": state.id,
                    "ordinal": memory.passages,
                    "part": piece.part,
                    "role": message.role,
                    "author": message.author,
                    "char_start": piece.start,
                    "char_end": piece.end,
                    "message_uid": message.uid,
                    "occurred_at": message.at,
                    "text_hash": text_hash(text),
                }
            )
            memory.passages += 1
            yield LastPassage(identifier, text, message.role, message.at)


_STORED_UIDS = select(passages.c.message_uid).where(
    passages.c.session_id == bindparam("session"),
    passages.c.message_uid.in_(bindparam("uids", expanding=True)),
)


def _branch(chunk: Chunk) -> dict[str, object]:
    """The first branch that messages of a chunk name."""
    branch = next((p.message.branch for p in chunk.pieces if p.message.branch), None)
    return {"git_branch": branch} if branch else {}


def _told(chunk: Chunk) -> dict[str, object]:
    """What a memory keeps of its messages besides: the last model, and whether a time is near."""
    told: dict[str, object] = {}
    for piece in chunk.pieces:
        if piece.message.model:
            told["model"] = piece.message.model
        if piece.message.approximate:
            told["time"] = APPROXIMATE
    return told


def _keys(batch: FileBatch) -> Iterable[str]:
    return dict.fromkeys([*batch.facts, *(message.session for message in batch.messages)])


def _texts(messages: Sequence[Message], *, without: Sequence[Message]) -> Sequence[str]:
    """Texts of the messages that are not among others."""
    if len(messages) == len(without):
        return ()
    kept = set(map(id, without))
    return [message.text for message in messages if id(message) not in kept]
