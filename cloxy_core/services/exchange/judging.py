"""A trial: what an import would do, without writing anything."""

from dataclasses import dataclass, field

from sqlalchemy import Connection

from cloxy_core.services.exchange.arriving import Batch, Kind, Taken
from cloxy_core.services.exchange.cleaning import CleanBatch, clean_batch
from cloxy_core.services.exchange.known import (
    as_message,
    is_note_stored,
    stored_messages,
    stored_sessions,
    without_named_twins,
)
from cloxy_core.services.write.tombstones import Tombstones


@dataclass(slots=True)
class Judge:
    """Counts what would come; see `Taker`.

    Attributes:
        connection: a read transaction; None when there is no memory yet.
        tombstones: what was forgotten; None when nothing was.
        note_origin: origin of notes.
    """

    connection: Connection | None
    tombstones: Tombstones | None
    note_origin: str
    _session: str = ""
    _seen: set[tuple[str, str]] = field(default_factory=set)

    async def take(self, batch: Batch) -> Taken:
        """Look at one batch."""
        cleaned = clean_batch(batch)
        return Taken(
            sessions=self._sessions(cleaned),
            messages=self._messages(cleaned),
            notes=self._notes(cleaned),
            redactions=sum(cleaned.redactions.values()),
            bad=cleaned.bad,
        )

    def _sessions(self, batch: CleanBatch) -> Kind:
        keys = [entry.facts.key for entry in batch.sessions]
        known = stored_sessions(self.connection, batch.agent, keys) if self.connection else {}
        there = sum(key in known for key in keys)
        return Kind(new=len(keys) - there, known=there)

    def _messages(self, batch: CleanBatch) -> Kind:
        entries, twins = batch.messages, 0
        if self.connection is not None:
            entries, twins = without_named_twins(self.connection, batch.agent, entries)
        messages = [entry.message for entry in entries]
        alive = messages
        if self.connection is not None and self.tombstones is not None:
            alive = list(self.tombstones.alive(self.connection, messages))
        stored = (
            stored_messages(self.connection, batch.agent, alive)
            if self.connection is not None
            else set()
        )
        kind = Kind(known=twins, forgotten=len(messages) - len(alive), empty=batch.empty_messages)
        for message in alive:
            # Those of one session stand together; of the others nothing has to be kept.
            if message.session != self._session:
                self._session, self._seen = message.session, set()
            place = (message.session, message.uid)
            if place in stored or place in self._seen:
                kind.known += 1
            else:
                self._seen.add(place)
                kind.new += 1
        return kind

    def _notes(self, batch: CleanBatch) -> Kind:
        kind = Kind(empty=batch.empty_notes)
        for note in batch.notes:
            is_dead = (
                self.connection is not None
                and self.tombstones is not None
                and not self.tombstones.alive(self.connection, [as_message(note)])
            )
            if is_dead:
                kind.forgotten += 1
            elif self.connection is not None and is_note_stored(
                self.connection, note, self.note_origin
            ):
                kind.known += 1
            else:
                kind.new += 1
        return kind
