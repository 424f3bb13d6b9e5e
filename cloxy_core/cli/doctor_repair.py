"""`cloxy doctor --repair`: from the lock to the second examination."""

from cloxy_core.cli.opening import take_lock
from cloxy_core.engine import Engine
from cloxy_core.kernel.host import PluginHost
from cloxy_core.runtime.clock import SystemClock
from cloxy_core.runtime.lock import DataDirectoryLock
from cloxy_core.runtime.paths import DataDirectory
from cloxy_core.runtime.wording import counted
from cloxy_core.services.doctor.building import Recovery
from cloxy_core.services.doctor.buried import KEY_PROBLEM
from cloxy_core.services.doctor.directory import remove_left
from cloxy_core.services.doctor.examination import examine
from cloxy_core.services.doctor.findings import Report, Tell
from cloxy_core.services.doctor.parts import migrations_of
from cloxy_core.services.doctor.quarantine import Quarantine
from cloxy_core.services.doctor.recovery import (
    install_finished,
    is_unfinished,
    recover,
)
from cloxy_core.services.doctor.references import make_indexes_anew
from cloxy_core.services.doctor.repair import (
    COPY_REASON,
    Hands,
    Work,
    after_recovery,
    needs_opening,
    needs_recovery,
    rebuild,
    repair_rows,
    tell_recovery,
)
from cloxy_core.services.holding import HOLD, Cause, hold_ingest
from cloxy_hookspecs import IntegrityError

AGAIN = "stop it, then run `cloxy doctor --repair` again"
ROUNDS = 3
"""How often it is mended and looked again; one repair may bring to light what the next mends."""


async def repair_all(host: PluginHost, paths: DataDirectory, tell: Tell) -> tuple[Report, Work]:
    """Mend what can be mended, and look again.

    Args:
        host: plugins and settings.
        paths: the data directory; it must exist.
        tell: told what is being done.

    Returns:
        How things are afterwards, and what was done.

    Raises:
        DataDirectoryInUseError: a server runs; nothing was changed.
        CloxyError: the database cannot be opened even after the repair.
    """
    work = Work()
    lock = DataDirectoryLock(paths.lock)
    take_lock(lock, AGAIN)
    with lock:
        report = await _under_lock(host, paths, lock, work, tell)
    return report, work


async def _under_lock(
    host: PluginHost, paths: DataDirectory, lock: DataDirectoryLock, work: Work, tell: Tell
) -> Report:
    """Mend and look again, until there is nothing left to mend, or as often as may help."""
    quarantine = Quarantine(paths.data, SystemClock().now())
    report = await examine(host, paths, tell)
    for _ in range(ROUNDS):
        unfinished = is_unfinished(paths)
        if not report.repairable and not unfinished:
            break
        await _round(host, paths, lock, report, quarantine, work, tell)
        report = await examine(host, paths, tell)
    work.quarantine = quarantine.used
    return report


async def _round(
    host: PluginHost,
    paths: DataDirectory,
    lock: DataDirectoryLock,
    report: Report,
    quarantine: Quarantine,
    work: Work,
    tell: Tell,
) -> None:
    # The store gives the lock back when it closes.
    take_lock(lock, AGAIN)
    # This also takes the rights of others away.
    DataDirectory.open(paths.data)
    if report.has("open-to-others"):
        work.done.append("took the rights of others away")
    if report.has(KEY_PROBLEM):
        # Before anything is read again: without the key nothing is recognised as forgotten.
        hold_ingest(paths.data, Cause.KEY_AT_REPAIR)
        work.done.append(f"session logs are not read until you remove {paths.data / HOLD}")
    recovery = _recover(host, paths, quarantine, report, work, tell)
    if report.has("left-files"):
        work.done.append(f"removed {counted(remove_left(paths.data), 'temporary file')}")
    if recovery is not None or needs_opening(report):
        await _inside(host, paths, lock, report, recovery, quarantine, work, tell)


def _recover(
    host: PluginHost,
    paths: DataDirectory,
    quarantine: Quarantine,
    report: Report,
    work: Work,
    tell: Tell,
) -> Recovery | None:
    """Make the database anew where it is damaged."""
    if install_finished(paths, quarantine):
        work.done.append("put the database of an earlier repair in its place")
        return Recovery(resumed=True)
    damaged = needs_recovery(report)
    if report.has("database-index") and not damaged:
        quarantine.keep_database(paths.database, copy=True)
        tell("making indexes anew")
        damaged = not make_indexes_anew(paths.database, SystemClock().now_ms())
        if damaged:
            work.warnings.append(
                "indexes could not be made anew from their tables, which may have lost rows; "
                "of those only what session logs still hold comes back"
            )
        else:
            work.done.append("made the ordinary indexes anew")
    if not damaged:
        return None
    recovery = recover(paths, migrations_of(host), quarantine, SystemClock(), tell)
    tell_recovery(recovery, work)
    return recovery


async def _inside(
    host: PluginHost,
    paths: DataDirectory,
    lock: DataDirectoryLock,
    report: Report,
    recovery: Recovery | None,
    quarantine: Quarantine,
    work: Work,
    tell: Tell,
) -> None:
    """Open the database and mend what is in it."""
    if recovery is None and work.copy is None:
        await _copy_first(host, paths, lock, quarantine, work, tell)
    engine = Engine(host, paths, lock)
    try:
        hands = Hands(
            paths, engine.store, engine.indexing, engine.ingest, engine.tombstones, engine.clock
        )
        await repair_rows(hands, quarantine, report, work, tell)
        if recovery is not None:
            await rebuild(hands, work, tell)
            await after_recovery(hands, recovery, work, tell)
    finally:
        await engine.close()


async def _copy_first(
    host: PluginHost,
    paths: DataDirectory,
    lock: DataDirectoryLock,
    quarantine: Quarantine,
    work: Work,
    tell: Tell,
) -> None:
    """Keep the database as it is: a checked copy, or the bytes where no copy passes its check."""
    tell("copying the database")
    engine = Engine(host, paths, lock)
    try:
        work.copy = await engine.store.back_up(reason=COPY_REASON)
    except IntegrityError:
        work.copy = None
    finally:
        await engine.close()
    take_lock(lock, AGAIN)
    if work.copy is None:
        quarantine.keep_database(paths.database, copy=True)
        work.copy = quarantine.folder() / paths.database.name
