"""Mending what an examination found, in an order in which one repair helps the next."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from sqlalchemy import Connection

from cloxy_core.runtime.paths import DataDirectory
from cloxy_core.runtime.wording import counted
from cloxy_core.services.doctor.building import Recovery
from cloxy_core.services.doctor.buried import KEY_PROBLEM
from cloxy_core.services.doctor.database import DAMAGED
from cloxy_core.services.doctor.findings import Report, Tell
from cloxy_core.services.doctor.forgotten import forget_again
from cloxy_core.services.doctor.indexes import INDEX_PROBLEMS
from cloxy_core.services.doctor.mending import Mending
from cloxy_core.services.doctor.outbox import repair_outbox
from cloxy_core.services.doctor.quarantine import Quarantine
from cloxy_core.services.doctor.references import mend_references
from cloxy_core.services.doctor.vectors import repair_vectors
from cloxy_core.services.doctor.words import repair_words
from cloxy_core.services.holding import HOLD
from cloxy_core.services.indexing import CommitChannel, Indexing
from cloxy_core.services.ingest.service import IngestService
from cloxy_core.services.write.tombstones import Tombstones
from cloxy_core.store.engine import Store
from cloxy_hookspecs import Clock, CloxyError

COPY_REASON: Final = "before-doctor"
_CHANGED_BY_COPYING: Final = ("memories", "passages")


@dataclass(frozen=True, slots=True)
class Hands:
    """The parts of an opened data directory that a repair works with."""

    paths: DataDirectory
    store: Store
    indexing: Indexing
    ingest: IngestService
    tombstones: Tombstones
    clock: Clock


@dataclass(slots=True)
class Work:
    """What a repair did, in words, and where it put things."""

    done: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    copy: Path | None = None
    quarantine: Path | None = None

    def as_json(self) -> dict[str, object]:
        """All of it."""
        return {
            "done": self.done,
            "warnings": self.warnings,
            "copy": None if self.copy is None else str(self.copy),
            "quarantine": None if self.quarantine is None else str(self.quarantine),
        }


def needs_recovery(report: Report) -> bool:
    """Whether the database file as a whole has to be made anew."""
    return any(problem.name in DAMAGED and problem.repair for problem in report.problems)


def needs_opening(report: Report) -> bool:
    """Whether there is something to mend inside the database."""
    outside = ("open-to-others", "left-files", KEY_PROBLEM)
    return any(problem.name not in outside for problem in report.repairable)


async def repair_rows(
    hands: Hands, quarantine: Quarantine, report: Report, work: Work, tell: Tell
) -> None:
    """Mend a database that was opened: references, texts, vectors, outbox, indexes.

    Args:
        hands: what it works with.
        quarantine: gets what is taken out.
        report: what was found.
        work: gets what was done.
        tell: told what is being done.
    """
    store = hands.store
    if changed := await store.write(repair_words):
        work.done.append(f"made {counted(changed, 'damaged value')} readable")
    if changed := await store.write(mend_references):
        work.done.append(f"mended references: {counted(changed, 'row')} changed")
    if states := await store.write(_mend_states):
        work.done.append(f"{counted(states, 'session log')} will be read again from the start")
    rebuilds = await _mend_texts(hands, quarantine, work, tell)
    now = hands.clock.now_ms()
    if removed := await store.write(partial(repair_vectors, now=now, tell=tell)):
        work.done.append(
            f"removed {counted(removed, 'wrong vector')}; the passages are embedded again"
        )
    if report.has("space-active"):
        work.done.append("marked one embedding space as active")
    if changed := await store.write(partial(repair_outbox, now=now)):
        work.done.append(f"mended the outbox: {counted(changed, 'entry', 'entries')}")
    if rebuilds or report.has(*INDEX_PROBLEMS):
        await rebuild(hands, work, tell)


async def rebuild(hands: Hands, work: Work, tell: Tell) -> None:
    """Rebuild every index from the passages."""
    tell("rebuilding the indexes")
    counts = await hands.indexing.rebuild()
    shown = ", ".join(f"{name} {count:,}" for name, count in counts.items())
    work.done.append(f"rebuilt the indexes ({shown} passages)")


def _mend_states(connection: Connection) -> int:
    """Sources whose notes are no JSON object start anew."""
    return connection.exec_driver_sql(
        "UPDATE sources SET parser_state = '{}', byte_offset = 0, size = -1, head = '',"
        " head_len = 0, before_hash = '', records = 0, messages = 0, bad_lines = 0,"
        " state = 'rereading' WHERE NOT (json_valid(CAST(parser_state AS BLOB) || '')"
        " AND json_type(CAST(parser_state AS BLOB) || '') = 'object')"
    ).rowcount


async def _mend_texts(hands: Hands, quarantine: Quarantine, work: Work, tell: Tell) -> bool:
    """Mend texts; whether the indexes were emptied for that, and have to be rebuilt."""
    store = hands.store
    mending = Mending(hands.indexing, quarantine, hands.clock)
    ids = await store.read(partial(mending.suspects, tell=tell))
    if not ids:
        return False
    restored = await store.write(partial(mending.from_backups, folder=hands.paths.backups, ids=ids))
    if restored:
        work.done.append(f"{counted(restored, 'text')} came back from backups")
    ids = await store.read(partial(mending.suspects, tell=tell))
    if not ids:
        return bool(restored)
    # An index that is damaged, or has the damaged words, cannot be told of changes one by one.
    await store.write(partial(_clear, indexing=hands.indexing))
    known = await store.read(partial(mending.logs, ids=ids))
    logs = {source: uri for source, uri in known.items() if os.path.isfile(uri)}  # noqa: PTH113, ASYNC240 - nobody else waits
    await store.write(partial(mending.make_whole, ids=ids, logs=logs), durable=True)
    await _read_again(hands, list(logs.values()), work, tell)
    lost = await store.write(partial(mending.give_up, ids=ids), durable=True)
    work.done.append(f"made {counted(len(ids), 'damaged memory', 'damaged memories')} anew")
    if lost:
        work.warnings.append(
            f"{counted(lost, 'passage')} could not be got back, and are found no more"
        )
    return True


def _clear(connection: Connection, indexing: Indexing) -> None:
    for channel in indexing.channels:
        if isinstance(channel, CommitChannel):
            channel.index.clear_in(connection)


async def _read_again(hands: Hands, files: Sequence[str], work: Work, tell: Tell) -> None:
    """Read session logs from their start; what cannot be read is left to the quarantine."""
    for file in files:
        tell(f"reading {file}")
        try:
            await hands.ingest.run(Path(file), force=True)
        except CloxyError as error:
            work.warnings.append(f"{file} could not be read again: {error.message}")
        else:
            work.done.append(f"read {file} again")


async def after_recovery(hands: Hands, recovery: Recovery, work: Work, tell: Tell) -> None:
    """Finish a recovery: keep forgotten what was forgotten, and have the logs fill what is lost.

    Args:
        hands: what it works with; the new database is open.
        recovery: what was done.
        work: gets what was done.
        tell: told what is being done.
    """
    if recovery.resumed or any(recovery.filled.get(table) for table in _CHANGED_BY_COPYING):
        tell("forgetting again")
        now = hands.clock.now_ms()
        gone = await hands.store.write(
            partial(forget_again, indexing=hands.indexing, tombstones=hands.tombstones, now=now),
            durable=True,
        )
        if gone:
            work.done.append(f"removed {counted(gone, 'passage')} that had been forgotten")
    if recovery.forgotten_lost:
        work.warnings.append(
            "the list of what was forgotten is not whole any more, so session logs are not read "
            f"until you remove {hands.paths.data / HOLD}; forgotten text can come back then"
        )
    if recovery.key_lost:
        work.warnings.append(
            "the key of what was forgotten is missing or another than before, so session logs are "
            f"not read until you remove {hands.paths.data / HOLD}; put tombstones.key back before"
        )
    if recovery.passed_over:
        work.warnings.append(
            f"nothing but the list of what was forgotten was taken from {recovery.passed_over[0]}"
            f"{' and older ones' if len(recovery.passed_over) > 1 else ''}: without the key what "
            "was forgotten since cannot be left out"
        )
    is_held = recovery.forgotten_lost or recovery.key_lost
    if recovery.logs_to_read and not is_held:
        logs = counted(recovery.logs_to_read, "session log")
        work.done.append(f"the next start reads {logs} again, for what was lost")


def tell_recovery(recovery: Recovery, work: Work) -> None:
    """Say what a recovery copied, filled and lost."""
    copied = {name: table.rows for name, table in recovery.tables.items() if table.rows}
    if recovery.readable:
        rows = sum(copied.values())
        memories = copied.get("memories", 0)
        work.done.append(
            f"made a new database: {counted(rows, 'row')} copied, {memories:,} of them memories"
        )
    else:
        work.warnings.append("nothing could be read of the damaged file")
    filled = {name: count for name, count in recovery.filled.items() if count}
    if filled:
        shown = ", ".join(f"{name} {count:,}" for name, count in sorted(filled.items()))
        work.done.append(f"filled gaps from {', '.join(recovery.backups)} ({shown})")
    for name, missing in sorted(recovery.missing.items()):
        many = "an unknown number of rows" if missing is None else f"up to {missing:,} rows"
        work.warnings.append(f"{name}: {many} could not be read")
