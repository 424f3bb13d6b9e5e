"""What rules of projects keep out of an import, told before it is written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection

from cloxy_core.services.exchange.cleaning import CleanBatch
from cloxy_core.services.exchange.entries import MessageEntry
from cloxy_core.services.exchange.form import FORMAT, IMPORTED, UNNAMED
from cloxy_core.services.rules.book import RuleBook, load_rules
from cloxy_core.services.rules.naming import last_folder
from cloxy_core.services.write.batch import Cursor, Feed, FileBatch
from cloxy_core.services.write.passing import Passing
from cloxy_core.services.write.sessions import SessionBook
from cloxy_core.store.project_keys import is_path
from cloxy_hookspecs import Chunk, Message, OriginPolicy, SessionFacts

TRANSCRIPT: Final = OriginPolicy(
    name="transcript", kind="episodic", tier="working", immutable=True, deduplicates=False
)
"""How what was said is kept, should no enabled plugin say so."""


@dataclass(frozen=True, slots=True)
class RuledOut:
    """What of a batch is not taken, whatever else is known of it.

    Attributes:
        sessions: keys of sessions that are ignored, and of those of which every message here is
            older than it would be kept.
        lines: messages that are kept out, by line.
    """

    sessions: frozenset[str] = frozenset()
    lines: frozenset[int] = frozenset()


class _Unpacked:
    """Stands for a chunker where nothing will be stored."""

    def pack(self, new: Sequence[Message], tail: str | None) -> Sequence[Chunk]:
        """Pack nothing."""
        del new, tail
        return ()


@dataclass(frozen=True, slots=True)
class Ruling:
    """The rules of projects, asked about what an import brings.

    Attributes:
        connection: a transaction; nothing is written in it.
        now: milliseconds.
        rules: the rules in it.
    """

    connection: Connection
    now: int
    rules: RuleBook

    @classmethod
    def of(cls, connection: Connection, now: int) -> "Ruling":
        """Read the rules."""
        return cls(connection, now, load_rules(connection))

    def keeps_out(self, project: str | None) -> bool:
        """Whether notes of a project are not taken, because it is ignored.

        Other systems know a project by the name of its folder alone: such a name stands for every
        ignored folder of that name, since what was not to be remembered must not come in by it.
        """
        if not self.rules or not project:
            return False
        if self.rules.ignoring(project) is not None:
            return True
        name = project.strip().casefold()
        return not is_path(name) and any(
            rule.ignored and last_folder(rule.key).casefold() == name for rule in self.rules.rules
        )

    def of_batch(self, batch: CleanBatch, entries: Sequence[MessageEntry]) -> RuledOut:
        """What is kept out of the conversations of a batch, as their writer decides it.

        Args:
            batch: what is said of the sessions.
            entries: those of its messages that would be taken otherwise.
        """
        if not self.rules or not (batch.sessions or entries):
            return RuledOut()
        run = _run(
            batch.agent,
            [entry.message for entry in entries],
            {entry.facts.key: entry.facts for entry in batch.sessions},
            {entry.facts.key: entry.project for entry in batch.sessions if entry.project},
        )
        keys = list(dict.fromkeys([*run.facts, *(message.session for message in run.messages)]))
        book = SessionBook(self.connection)
        book.load(batch.agent, keys)
        passing = Passing(self.connection, book, self.now)
        passing.look([run], [keys])
        kept = set(map(id, passing.keep(run, run.messages)))
        living = {entry.message.session for entry in entries if id(entry.message) in kept}
        out = [entry for entry in entries if id(entry.message) not in kept]
        ignored = {key for _agent, key in passing.ignored}
        silent = {entry.message.session for entry in out} - living
        return RuledOut(frozenset(ignored | silent), frozenset(entry.line for entry in out))


def _run(
    agent: str,
    messages: Sequence[Message],
    facts: Mapping[str, SessionFacts],
    projects: Mapping[str, str],
) -> FileBatch:
    feed = Feed(IMPORTED, agent, FORMAT, TRANSCRIPT, _Unpacked())
    return FileBatch(feed, Cursor(UNNAMED, "", 0, 0, 0, state="gone"), messages, facts, projects)
