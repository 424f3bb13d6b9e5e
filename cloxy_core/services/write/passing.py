"""Messages that rules of projects keep out, before anything of them is stored.

Which session of which file was passed over is noted, without a word of it: a log says once where
its session works, and when the rule goes the file has to be read again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection, select
from sqlalchemy.dialects.sqlite import insert

from cloxy_core.services.rules.book import Rule, RuleBook, cutoff, load_rules
from cloxy_core.services.write.batch import FileBatch
from cloxy_core.services.write.sessions import SessionBook
from cloxy_core.store.lookups import lookups
from cloxy_hookspecs import Message
from cloxy_hookspecs.tables import passed_over

IGNORED = "ignored"
EXPIRED = "expired"

SessionName = tuple[str, str]
"""Agent and the agent's own id of the session."""


@dataclass(slots=True)
class Passing:
    """What one transaction passes over.

    Attributes:
        connection: the transaction.
        sessions: the sessions of it, loaded.
        now: milliseconds.
        ignored: sessions of which nothing is taken.
        silent: sessions that are not stored, and of which there was nothing but what expired.
    """

    connection: Connection
    sessions: SessionBook
    now: int
    ignored: set[SessionName] = field(default_factory=set)
    silent: set[SessionName] = field(default_factory=set)
    _rules: RuleBook = field(init=False)
    _expired: dict[SessionName, str] = field(default_factory=dict)
    _notes: dict[tuple[str, str, str, tuple[str, str]], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Read the rules."""
        self._rules = load_rules(self.connection)

    def look(self, batches: Sequence[FileBatch], keys: Sequence[Sequence[str]]) -> None:
        """Find out which sessions of some runs are ignored; `keys` are those of each run."""
        if not self._rules:
            return
        names = {(b.feed.agent, key) for b, own in zip(batches, keys, strict=True) for key in own}
        before = self._known(names)
        for batch, own in zip(batches, keys, strict=True):
            for key in own:
                name = (batch.feed.agent, key)
                rule = self._ignoring(batch, key) or before.get((*name, IGNORED))
                if rule is not None:
                    self.ignored.add(name)
                    self._note(batch, key, IGNORED, rule)
                elif (*name, EXPIRED) in before:
                    self.silent.add(name)
                    self._expired[name] = before[*name, EXPIRED]

    def keep(self, batch: FileBatch, messages: Sequence[Message]) -> Sequence[Message]:
        """The messages of a run that are not kept out."""
        if not self._rules:
            return messages
        return [message for message in messages if not self._keeps_out(batch, message)]

    def note(self, sources: dict[tuple[str, str], int]) -> None:
        """Write down what was passed over; `sources` are rows by plugin and address."""
        rows = [
            {"agent": agent, "session": key, "why": why, "source_id": sources[place], "rule": rule}
            for (agent, key, why, place), rule in self._notes.items()
        ]
        if rows:
            self.connection.execute(insert(passed_over).on_conflict_do_nothing(), rows)

    def _keeps_out(self, batch: FileBatch, message: Message) -> bool:
        name = (batch.feed.agent, message.session)
        if name in self.ignored:
            return True
        rule = self._keeping(batch, message.session)
        if rule is None or message.at is None or message.at >= cutoff(rule, self.now):
            return False
        self._note(batch, message.session, EXPIRED, rule.key)
        self.silent.add(name)
        return True

    def _ignoring(self, batch: FileBatch, key: str) -> str | None:
        facts = batch.facts.get(key)
        cwd = None if facts is None else facts.cwd
        rule = self._rules.ignoring(self._project(batch, key), cwd)
        return None if rule is None else rule.key

    def _keeping(self, batch: FileBatch, key: str) -> Rule | None:
        state = self.sessions.get(batch.feed.agent, key)
        known = self._expired.get((batch.feed.agent, key))
        if known is not None and not state.was_stored:
            # Where it works was said in what is gone.
            return self._rules.named(known)
        return self._rules.keeping(self._project(batch, key))

    def _project(self, batch: FileBatch, key: str) -> str | None:
        return batch.projects.get(key) or self.sessions.get(batch.feed.agent, key).project

    def _note(self, batch: FileBatch, key: str, why: str, rule: str) -> None:
        place = (batch.feed.plugin, batch.cursor.uri)
        self._notes[batch.feed.agent, key, why, place] = rule

    def _known(self, names: set[SessionName]) -> dict[tuple[str, str, str], str]:
        """What was passed over before of these sessions, by rules that still hold."""
        keys = sorted({key for _agent, key in names})
        found: dict[tuple[str, str, str], str] = {}
        for part in lookups(keys):
            rows = self.connection.execute(
                select(
                    passed_over.c.agent,
                    passed_over.c.session,
                    passed_over.c.why,
                    passed_over.c.rule,
                ).where(passed_over.c.session.in_(part))
            )
            for agent, session, why, rule in rows:
                if _holds(self._rules.named(rule), why):
                    found[agent, session, why] = rule
        return found


def _holds(rule: Rule | None, why: str) -> bool:
    if rule is None:
        return False
    return rule.ignored if why == IGNORED else rule.keep_days is not None
