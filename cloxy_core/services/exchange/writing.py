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
from cloxy_core.services.exchange.entries import MessageEntry, NoteEntry
from cloxy_core.services.exchange.form import FORMAT, IMPORTED, UNNAMED
from cloxy_core.services.exchange.giving_way import leave
from cloxy_core.services.exchange.in_logs import told_in_logs
from cloxy_core.services.exchange.known import (
    as_message,
    is_note_stored,
    living,
    stored_sessions,
    without_named_twins,
)
from cloxy_core.services.exchange.notes import NoteImport
from cloxy_core.services.exchange.ruling import Ruling
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
        ruling = Ruling.of(connection, self.notes.clock.now_ms())
        if batch.notes:
            self._notes(connection, batch, ruling, taken)
        taken.notes.empty = batch.empty_notes
        retitled: set[int] = set()
        if batch.sessions or batch.messages:
            retitled = self._conversations(connection, batch, ruling, taken)
        else:
            found = {f"redacted.{kind}": n for kind, n in batch.redactions.items()}
            count_up(connection, found)
        return taken, retitled

    def _notes(
        self, connection: Connection, batch: CleanBatch, ruling: Ruling, taken: Taken
    ) -> None:
        tombstones = self.transcripts.tombstones
        for note in batch.notes:
            if not tombstones.alive(connection, [as_message(note)]):
                taken.notes.forgotten += 1
            elif ruling.keeps_out(note.project):
                taken.notes.ruled_out += 1
            else:
                self._note(connection, note, taken)

    def _note(self, connection: Connection, note: NoteEntry, taken: Taken) -> None:
        """Write a note that was not forgotten, unless it is there."""
        if is_note_stored(connection, note, self.notes.policy.name):
            taken.notes.known += 1
        else:
            self.notes.apply(connection, note)
            taken.notes.new += 1

    def _conversations(
        self, connection: Connection, batch: CleanBatch, ruling: Ruling, taken: Taken
    ) -> set[int]:
        keys = [entry.facts.key for entry in batch.sessions]
        there = stored_sessions(connection, batch.agent, keys)
        entries, twins = without_named_twins(connection, batch.agent, batch.messages)
        entries, in_logs = self._without_told(connection, batch.agent, entries)
        alive = living(self.transcripts.tombstones, connection, entries)
        out = ruling.of_batch(batch, alive)
        kept = {entry.line for entry in alive}
        dead = [entry.message.text for entry in entries if entry.line not in kept]
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
        gone = [key for key in keys if key not in now_there]
        ruled_out = sum(key in out.sessions for key in gone)
        taken.sessions = Kind(
            new=len(keys) - known - len(gone),
            known=known,
            forgotten=len(gone) - ruled_out,
            ruled_out=ruled_out,
        )
        taken.messages = Kind(
            new=report.messages_added,
            known=report.messages_known + twins + in_logs,
            forgotten=len(entries) - len(alive),
            empty=batch.empty_messages,
            ruled_out=len(out.lines),
        )
        return report.retitled

    def _without_told(
        self, connection: Connection, agent: str, entries: Sequence[MessageEntry]
    ) -> tuple[Sequence[MessageEntry], int]:
        """Leave out messages that a session log told already; the others, and their number."""
        told = told_in_logs(connection, agent, entries)
        if not told:
            return entries, 0
        now = self.notes.clock.now_ms()
        said = ((entry.message.uid, entry.message.text) for entry in told)
        leave(connection, self.transcripts.tombstones, said, now)
        lines = {entry.line for entry in told}
        return [entry for entry in entries if entry.line not in lines], len(told)

    def _runs(
        self,
        connection: Connection,
        batch: CleanBatch,
        entries: Sequence[MessageEntry],
        facts: Mapping[str, SessionFacts],
        projects: Mapping[str, str],
    ) -> Sequence[FileBatch]:
        """One run for all that is said of sessions, then one for the messages of each file.

        Each says the projects, since their rules are looked at before a session is made.
        """
        feed = Feed(IMPORTED, batch.agent, FORMAT, self.policy, self.chunker)
        named = [
            (source, self._feed(feed, origin), list(group))
            for (source, origin), group in groupby(
                entries, lambda entry: (entry.source or UNNAMED, entry.origin)
            )
        ]
        names = [name for name, _feed, _group in named] or [UNNAMED]
        cursors = _cursors(connection, names)
        first = FileBatch(feed, cursors[names[0]], (), facts, projects, (), batch.redactions)
        return [
            first,
            *(
                FileBatch(own, cursors[name], [entry.message for entry in group], {}, projects)
                for name, own, group in named
            ),
        ]

    def _feed(self, feed: Feed, origin: str | None) -> Feed:
        """How messages of an origin are kept: as what was said, unless it is one of a source.

        What stands in a session is never changed or merged, whatever a file says of it.
        """
        policy = self.notes.others.get(origin or "")
        if policy is None or not policy.immutable or policy.deduplicates:
            return feed
        return replace(feed, policy=policy, chunker=self.notes.chunker)

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
