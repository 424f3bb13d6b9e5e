"""Setting the rules of projects, and removing what is older than they allow.

What a rule removed gets no tombstone: the rule itself keeps it out while it holds, so that a log
that is still there brings it back when the rule goes.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from logging import Logger
from typing import Protocol, TypeVar

from sqlalchemy import ColumnElement, Connection, and_, delete, func, select, update
from sqlalchemy.dialects.sqlite import insert

from cloxy_core.services.retention.choosing import Chosen, choose
from cloxy_core.services.rules.book import Rule, cutoff, load_rules
from cloxy_core.services.write.forgetting import Forgetter
from cloxy_core.services.write.passing import EXPIRED, IGNORED
from cloxy_core.services.write.retitling import retitle
from cloxy_core.services.write.service import MemoryService
from cloxy_core.services.write.victims import find_victims
from cloxy_core.store.engine import Store
from cloxy_hookspecs import Clock, CloxyError, Expired, InputError, ProjectRule
from cloxy_hookspecs.tables import memories, passages, passed_over, project_rules, projects, sources

T = TypeVar("T")

MOST_DAYS = 36_500
PASSAGES = 200
FIRST_SECONDS = 60.0
AGAIN_SECONDS = 3600.0


class Passes(Protocol):
    """Who reads the logs."""

    async def between(self, work: Callable[[Connection], T]) -> T:
        """Write while no log is read; the next pass looks at every cursor anew."""
        ...


@dataclass(frozen=True, slots=True)
class RuleService:
    """Implements `ProjectRules`.

    Attributes:
        store: the database.
        passes: who reads the logs.
        memories: whose indexes and eraser are used.
        forgetter: removes messages.
        clock: the time.
        log: told what is removed behind.
    """

    store: Store
    passes: Passes
    memories: MemoryService
    forgetter: Forgetter
    clock: Clock
    log: Logger

    async def rules(self) -> Sequence[ProjectRule]:
        """All rules, by path."""
        book = await self.store.read(load_rules)
        return [_shown(rule) for rule in book.rules]

    async def ignore(self, project: str) -> ProjectRule:
        """Remember nothing more of a project; what is stored stays.

        It holds at once, also for what a pass is reading now.
        """
        return await self.store.write(
            lambda c: self._set(c, choose(c, project), ignored=True, lifted=None), durable=True
        )

    async def stop_ignoring(self, project: str) -> ProjectRule:
        """Remember a project again; logs that are still there are read at the next pass."""
        return await self.passes.between(
            lambda c: self._set(c, choose(c, project, set_only=True), ignored=False, lifted=IGNORED)
        )

    async def keep_for(self, project: str, days: int | None) -> ProjectRule:
        """Remove what was said in a project after so many days; None keeps it for ever."""
        if days is not None and not 1 <= days <= MOST_DAYS:
            raise InputError(f"{days} is no number of days", hint=f"from 1 to {MOST_DAYS:,}")
        return await self.passes.between(
            lambda c: self._set(
                c, choose(c, project, set_only=days is None), days=days, lifted=EXPIRED
            )
        )

    async def expire(self, *, dry_run: bool = False) -> Sequence[Expired]:
        """Remove what is older than the rules keep it, or only count it."""
        found = await self.store.read(self._expired)
        if dry_run or not found:
            return found
        with self.memories.eraser.promised():
            for old in found:
                left = True
                while left:
                    left = await self._expire_some(old.project) > 0
                self.log.info("retention: removed %d messages", old.messages)
            await self.memories.settle()
        return found

    async def run(self) -> None:
        """Remove what is too old, now and then; cancel to stop."""
        await asyncio.sleep(FIRST_SECONDS)
        while True:
            try:
                await self.expire()
            except CloxyError as error:
                self.log.warning("retention: %s; it is tried again", error)
            await asyncio.sleep(AGAIN_SECONDS)

    async def _expire_some(self, project: str) -> int:
        def write(connection: Connection) -> tuple[int, Sequence[int]]:
            condition = self._condition(connection, project)
            if condition is None:
                return 0, ()
            ids = select(passages.c.id).join(memories).where(condition)
            some = connection.execute(ids.order_by(passages.c.id).limit(PASSAGES)).scalars().all()
            if not some:
                return 0, ()
            self.memories.eraser.note(connection)
            victims = find_victims(connection, passages.c.id.in_(some))
            done = self.forgetter.expire(connection, victims)
            return len(victims), done.retitled

        count, retitled = await self.store.write(write)
        for session in retitled:
            await retitle(self.store, self.forgetter.indexing, session)
        return count

    def _expired(self, connection: Connection) -> Sequence[Expired]:
        found = []
        for path in connection.execute(select(projects.c.path)).scalars().all():
            condition = self._condition(connection, path)
            if condition is None:
                continue
            said = select(func.count()).select_from(passages).join(memories)
            count = connection.execute(said.where(condition, passages.c.part == 0))
            if messages := count.scalar_one():
                found.append(Expired(path, messages))
        return found

    def _condition(self, connection: Connection, project: str) -> ColumnElement[bool] | None:
        """What of a project is too old: things said in sessions; notes were kept on purpose."""
        rule = load_rules(connection).keeping(project)
        if rule is None:
            return None
        wanted = select(projects.c.id).where(projects.c.path == project)
        return and_(
            memories.c.project_id.in_(wanted),
            passages.c.session_id.is_not(None),
            passages.c.occurred_at < cutoff(rule, self.clock.now_ms()),
        )

    def _set(
        self,
        connection: Connection,
        chosen: Chosen,
        *,
        ignored: bool | None = None,
        days: int | None = None,
        lifted: str | None,
    ) -> ProjectRule:
        """Change a rule; one that says nothing any more is removed."""
        before = load_rules(connection).named(chosen.key)
        rule = Rule(
            chosen.key,
            chosen.path if before is None else before.path,
            ignored=(before is not None and before.ignored) if ignored is None else ignored,
            keep_days=(before.keep_days if before else None) if lifted != EXPIRED else days,
        )
        connection.execute(delete(project_rules).where(project_rules.c.key == rule.key))
        if rule.ignored or rule.keep_days is not None:
            row = {
                "key": rule.key,
                "path": rule.path,
                "ignored": rule.ignored,
                "keep_days": rule.keep_days,
                "at": self.clock.now_ms(),
            }
            connection.execute(insert(project_rules), row)
        if lifted is not None:
            _read_again(connection, rule.key, lifted)
        return _shown(rule)


def _read_again(connection: Connection, rule: str, why: str) -> None:
    """Have the logs read from their start of which a rule passed something over."""
    passed = (passed_over.c.rule == rule, passed_over.c.why == why)
    connection.execute(
        update(sources)
        .where(sources.c.id.in_(select(passed_over.c.source_id).where(*passed)))
        .values(
            byte_offset=0,
            size=-1,
            mtime_ns=0,
            head="",
            head_len=0,
            before_hash="",
            parser_state={},
            records=0,
            messages=0,
            bad_lines=0,
        )
    )
    connection.execute(delete(passed_over).where(*passed))


def _shown(rule: Rule) -> ProjectRule:
    return ProjectRule(rule.path, rule.ignored, rule.keep_days)
