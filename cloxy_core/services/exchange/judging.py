"""A trial: what an import would do, without writing anything."""

from dataclasses import dataclass, field
from typing import Literal

from sqlalchemy import Connection

from cloxy_core.services.exchange.arriving import Batch, Kind, Taken
from cloxy_core.services.exchange.cleaning import CleanBatch, clean_batch
from cloxy_core.services.exchange.entries import NoteEntry
from cloxy_core.services.exchange.following import standing
from cloxy_core.services.exchange.in_logs import told_in_logs
from cloxy_core.services.exchange.known import (
    as_message,
    is_note_stored,
    living,
    stored_messages,
    stored_sessions,
    without_named_twins,
)
from cloxy_core.services.exchange.ruling import RuledOut, Ruling
from cloxy_core.services.write.tombstones import Tombstones
from cloxy_core.store.project_keys import project_key


@dataclass(slots=True)
class Judge:
    """Counts what would come; see `Taker`.

    Attributes:
        connection: a read transaction; None when there is no memory yet.
        tombstones: what was forgotten; None when nothing was.
        note_origin: origin of notes.
        now: milliseconds.
        follows: whether notes whose text is another one now are followed.
    """

    connection: Connection | None
    tombstones: Tombstones | None
    note_origin: str
    now: int
    follows: bool = False
    _session: str = ""
    _seen: set[tuple[str, str]] = field(default_factory=set)
    _notes_seen: set[int] = field(default_factory=set[int])

    async def take(self, batch: Batch) -> Taken:
        """Look at one batch."""
        cleaned = clean_batch(batch)
        ruling = Ruling.of(self.connection, self.now) if self.connection is not None else None
        messages, out = self._messages(cleaned, ruling)
        taken = Taken(
            sessions=self._sessions(cleaned, out),
            messages=messages,
            notes=Kind(empty=cleaned.empty_notes),
            redactions=sum(cleaned.redactions.values()),
            bad=cleaned.bad,
        )
        self._notes(cleaned, ruling, taken)
        return taken

    def _sessions(self, batch: CleanBatch, out: RuledOut) -> Kind:
        keys = [entry.facts.key for entry in batch.sessions]
        known = stored_sessions(self.connection, batch.agent, keys) if self.connection else {}
        there = sum(key in known for key in keys)
        ruled_out = sum(key not in known and key in out.sessions for key in keys)
        return Kind(new=len(keys) - there - ruled_out, known=there, ruled_out=ruled_out)

    def _messages(self, batch: CleanBatch, ruling: Ruling | None) -> tuple[Kind, RuledOut]:
        """What would become of the messages, and what rules of projects keep out."""
        entries, twins, out = batch.messages, 0, RuledOut()
        stored: set[tuple[str, str]] = set()
        kind = Kind(empty=batch.empty_messages)
        if self.connection is not None:
            entries, twins = without_named_twins(self.connection, batch.agent, entries)
            told = {entry.line for entry in told_in_logs(self.connection, batch.agent, entries)}
            entries = [entry for entry in entries if entry.line not in told]
            twins += len(told)
            tombstones = self.tombstones
            alive = living(tombstones, self.connection, entries) if tombstones else entries
            out = ruling.of_batch(batch, alive) if ruling else out
            kind.forgotten, kind.ruled_out = len(entries) - len(alive), len(out.lines)
            entries = [entry for entry in alive if entry.line not in out.lines]
            messages = [entry.message for entry in entries]
            stored = stored_messages(self.connection, batch.agent, messages)
        kind.known = twins
        for message in (entry.message for entry in entries):
            # Those of one session stand together; of the others nothing has to be kept.
            if message.session != self._session:
                self._session, self._seen = message.session, set()
            place = (message.session, message.uid)
            if place in stored or place in self._seen:
                kind.known += 1
            else:
                self._seen.add(place)
                kind.new += 1
        return kind, out

    def _notes(self, batch: CleanBatch, ruling: Ruling | None, taken: Taken) -> None:
        kind = taken.notes
        for note in batch.notes:
            standing = self._standing(note)
            if standing == "dead":
                kind.forgotten += 1
            elif ruling is not None and ruling.keeps_out(note.project):
                kind.ruled_out += 1
            elif standing == "cut":
                kind.forgotten += 1
            elif standing == "known" or self._is_seen(note):
                kind.known += 1
            elif standing == "changed":
                kind.known += 1
                taken.changed += 1
            else:
                kind.new += 1

    def _standing(self, note: NoteEntry) -> Literal["dead", "cut", "changed", "known", "new"]:
        """How a note stands to what is stored."""
        if self.connection is None:
            return "new"
        is_dead = self.tombstones is not None and not self.tombstones.alive(
            self.connection, [as_message(note)]
        )
        if is_dead:
            return "dead"
        if self.follows and (found := standing(self.connection, note)) in ("cut", "changed"):
            return found
        return "known" if is_note_stored(self.connection, note, self.note_origin) else "new"

    def _is_seen(self, note: NoteEntry) -> bool:
        """Whether the file held it before: by its id, or as the same text in the same project."""
        project = project_key(note.project) if note.project else None
        marks = {hash(note.uid), hash((note.text, project, note.origin))}
        is_seen = not marks.isdisjoint(self._notes_seen)
        self._notes_seen |= marks
        return is_seen
