"""Taking a batch into the memory, in one short transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Final

from sqlalchemy import BindParameter, Connection, case, func, select, update
from sqlalchemy import bindparam as parameter

from cloxy_core.services.exchange.arriving import Batch, Kind, Taken
from cloxy_core.services.exchange.cleaning import CleanBatch, clean_batch
from cloxy_core.services.exchange.entries import MessageEntry
from cloxy_core.services.exchange.form import FORMAT, IMPORTED, UNNAMED
from cloxy_core.services.exchange.known import (
    as_message,
    is_note_stored,
    stored_sessions,
    without_named_twins,
)
from cloxy_core.services.exchange.notes import NoteImport
from cloxy_core.services.indexing import Indexing
from cloxy_core.services.write.batch import Cursor, Feed, FileBatch
from cloxy_core.services.write.retitling import retitle
from cloxy_core.services.write.sessions import quotes
from cloxy_core.services.write.transcripts import TranscriptWriter
from cloxy_core.store.counters import count_up
from cloxy_core.store.engine import Store
from cloxy_core.store.reserve import room
from cloxy_hookspecs import Chunker, OriginPolicy, SessionFacts, StoreFullError
from cloxy_hookspecs.tables import sessions, sources

TRANSCRIPT: Final = OriginPolicy(
    name="transcript", kind="episodic", tier="working", immutable=True, deduplicates=False
)
"""How what was said is kept, should no enabled plugin say so."""

AGAIN: Final = "what was imported stays: make room on that disk, and run the same import again"


@dataclass(frozen=True, slots=True)
class Writing:
    """Takes batches into a memory; see `Taker`.

    Attributes:
        data: the data directory.
        store: its database.
        indexing: what keeps the indexes in step.
        transcripts: writes messages.
        notes: writes notes.
        chunker: packs messages.
        policy: how messages are kept.
    """

    data: Path
    store: Store
    indexing: Indexing
    transcripts: TranscriptWriter
    notes: NoteImport
    chunker: Chunker
    policy: OriginPolicy

    async def take(self, batch: Batch) -> Taken:
        """Write one batch.

        Raises:
            StoreFullError: there is no room; what was written before stays.
        """
        space = room(self.data)
        if not space.ingest:
            raise StoreFullError("; ".join(space.warnings()), hint=AGAIN)
        cleaned = clean_batch(batch)
        try:
            taken, retitled = await self.store.write(lambda c: self._apply(c, cleaned))
            for session in retitled:
                await retitle(self.store, self.indexing, session)
        except StoreFullError as error:
            raise StoreFullError(error.message, hint=AGAIN) from error
        return taken

    def _apply(self, connection: Connection, batch: CleanBatch) -> tuple[Taken, set[int]]:
        taken = Taken(redactions=sum(batch.redactions.values()), bad=batch.bad)
        if batch.notes:
            taken.notes = self._notes(connection, batch)
        taken.notes.empty = batch.empty_notes
        retitled: set[int] = set()
        if batch.sessions or batch.messages:
            retitled = self._conversations(connection, batch, taken)
        else:
            found = {f"redacted.{kind}": n for kind, n in batch.redactions.items()}
            count_up(connection, found)
        return taken, retitled

    def _notes(self, connection: Connection, batch: CleanBatch) -> Kind:
        kind = Kind()
        tombstones = self.transcripts.tombstones
        for note in batch.notes:
            if not tombstones.alive(connection, [as_message(note)]):
                kind.forgotten += 1
            elif is_note_stored(connection, note, self.notes.policy.name):
                kind.known += 1
            else:
                self.notes.apply(connection, note)
                kind.new += 1
        return kind

    def _conversations(self, connection: Connection, batch: CleanBatch, taken: Taken) -> set[int]:
        keys = [entry.facts.key for entry in batch.sessions]
        there = stored_sessions(connection, batch.agent, keys)
        entries, twins = without_named_twins(connection, batch.agent, batch.messages)
        dead = self._dead(connection, entries)
        facts = {
            entry.facts.key: _news(entry.facts, there.get(entry.facts.key), dead)
            for entry in batch.sessions
        }
        projects = {e.facts.key: e.project for e in batch.sessions if e.project}
        runs = self._runs(connection, batch, entries, facts, projects)
        report = self.transcripts.apply(connection, runs)
        self._widen(connection, batch)
        known = sum(key in there for key in keys)
        # One of which all was forgotten here is not made anew.
        now_there = stored_sessions(connection, batch.agent, keys)
        gone = sum(key not in now_there for key in keys)
        taken.sessions = Kind(new=len(keys) - known - gone, known=known, forgotten=gone)
        taken.messages = Kind(
            new=report.messages_added,
            known=report.messages_known + twins,
            forgotten=len(entries) - report.messages_added - report.messages_known,
            empty=batch.empty_messages,
        )
        return report.retitled

    def _dead(self, connection: Connection, entries: Sequence[MessageEntry]) -> Sequence[str]:
        """Texts that were forgotten here."""
        messages = [entry.message for entry in entries]
        alive = set(map(id, self.transcripts.tombstones.alive(connection, messages)))
        return [message.text for message in messages if id(message) not in alive]

    def _runs(
        self,
        connection: Connection,
        batch: CleanBatch,
        entries: Sequence[MessageEntry],
        facts: Mapping[str, SessionFacts],
        projects: Mapping[str, str],
    ) -> Sequence[FileBatch]:
        """One run for all that is said of sessions, then one for the messages of each file."""
        feed = Feed(IMPORTED, batch.agent, FORMAT, self.policy, self.chunker)
        named = [
            (source, list(group))
            for source, group in groupby(entries, lambda entry: entry.source or UNNAMED)
        ]
        names = [name for name, _group in named] or [UNNAMED]
        cursors = _cursors(connection, names)
        first = FileBatch(feed, cursors[names[0]], (), facts, projects, (), batch.redactions)
        return [
            first,
            *(
                FileBatch(feed, cursors[name], [entry.message for entry in group], {}, {})
                for name, group in named
            ),
        ]

    def _widen(self, connection: Connection, batch: CleanBatch) -> None:
        """Let sessions begin and end at least when the file says."""
        for entry in batch.sessions:
            connection.execute(
                _WIDEN,
                {
                    "of_agent": batch.agent,
                    "of_key": entry.facts.key,
                    "begun": entry.started,
                    "done": entry.ended,
                },
            )


def _news(facts: SessionFacts, stored: object, dead: Sequence[str]) -> SessionFacts:
    """What a file says of a session that is neither known better here nor forgotten."""
    if quotes(facts.title, dead):
        facts = replace(facts, title=None, title_rank=0)
    if stored is None:
        return facts
    title, rank = getattr(stored, "title", None), getattr(stored, "title_rank", 0)
    if title is not None and facts.title_rank <= rank:
        facts = replace(facts, title=None, title_rank=0)
    return replace(facts, branch=None) if getattr(stored, "branch", None) else facts


def _cursors(connection: Connection, names: Sequence[str]) -> Mapping[str, Cursor]:
    """Rows of files that are only known by name; no source reads them, so they count as gone."""
    found = {
        row.uri: row.id
        for row in connection.execute(
            select(sources.c.id, sources.c.uri).where(
                sources.c.plugin == IMPORTED, sources.c.uri.in_(set(names))
            )
        )
    }
    return {
        name: Cursor(name, "", 0, 0, 0, state="gone", id=found.get(name))
        for name in dict.fromkeys(names)
    }


_BEGUN: BindParameter[int | None] = parameter("begun")
_DONE: BindParameter[int | None] = parameter("done")
_WIDEN = (
    update(sessions)
    .where(sessions.c.agent == parameter("of_agent"), sessions.c.key == parameter("of_key"))
    .values(
        started_at=case(
            (_BEGUN.is_(None), sessions.c.started_at),
            else_=func.min(func.coalesce(sessions.c.started_at, _BEGUN), _BEGUN),
        ),
        ended_at=case(
            (_DONE.is_(None), sessions.c.ended_at),
            else_=func.max(func.coalesce(sessions.c.ended_at, _DONE), _DONE),
        ),
    )
)
