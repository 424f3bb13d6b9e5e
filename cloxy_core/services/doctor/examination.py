"""A whole examination: every part is looked at, and one that fails does not hide the others."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from cloxy_core.kernel.host import PluginHost
from cloxy_core.runtime.paths import DataDirectory
from cloxy_core.runtime.workers import Workers
from cloxy_core.services.doctor.access import examine_access
from cloxy_core.services.doctor.buried import KEY_PROBLEM, examine_buried
from cloxy_core.services.doctor.buried import PART as BURIED
from cloxy_core.services.doctor.database import (
    DAMAGED,
    PAGES,
    damage_met,
    examine_file,
    examine_pages,
)
from cloxy_core.services.doctor.directory import examine_directory
from cloxy_core.services.doctor.findings import Examined, Problem, Report, Tell
from cloxy_core.services.doctor.indexes import examine_full_text, examine_index
from cloxy_core.services.doctor.logs import PART as LOGS
from cloxy_core.services.doctor.logs import examine_logs, examine_roots
from cloxy_core.services.doctor.looking import LookStore, is_shut, looked_at
from cloxy_core.services.doctor.outbox import PART as OUTBOX
from cloxy_core.services.doctor.outbox import examine_outbox
from cloxy_core.services.doctor.parts import Parts, make_parts, migrations_of, watched_roots
from cloxy_core.services.doctor.texts import PART as TEXTS
from cloxy_core.services.doctor.texts import examine_texts
from cloxy_core.services.doctor.vectors import PART as VECTORS
from cloxy_core.services.doctor.vectors import examine_vectors
from cloxy_core.services.doctor.words import PART as WORDS
from cloxy_core.services.doctor.words import examine_words
from cloxy_core.store.migrations import applied, arrange, newest_core_number, pending
from cloxy_hookspecs import Check, CloxyError, Finding, IntegrityError

SCHEMA = "schema"


def silent(_text: str) -> None:
    """A `Tell` for nobody."""


async def examine(host: PluginHost, paths: DataDirectory, tell: Tell = silent) -> Report:
    """Look at everything; changes nothing.

    Args:
        host: plugins and settings.
        paths: the data directory; it must exist.
        tell: told what is being looked at.
    """
    report = Report([examine_directory(paths)])
    tell("database file")
    known = newest_core_number(migrations_of(host))
    file = examine_file(paths.database, known)
    report.examined.append(file)
    workers = Workers()
    try:
        if paths.database.exists() and file.severity != "error":
            tell("copying the database")
            with looked_at(paths.database) as store:
                parts = make_parts(host, paths, store, workers)
                report.examined += await _inside(host, paths.data, store, parts, tell)
        report.examined.append(examine_roots(watched_roots(host, paths, workers)))
        report.examined.append(examine_access(host.settings))
    finally:
        await workers.close()
    return report


async def _inside(
    host: PluginHost, data: Path, store: LookStore, parts: Parts, tell: Tell
) -> list[Examined]:
    """Everything in a database that can be opened; of a damaged one, the key that it needs."""
    if is_shut(store):
        return [_shut(store.path)]
    tell("pages")
    copy = store.path if store.private else None
    pages = attempt(store.look, PAGES, partial(examine_pages, copy=copy))
    schema = attempt(store.look, SCHEMA, partial(_schema, host=host))
    found = [pages, schema]
    if any(problem.name in DAMAGED for part in found for problem in part.problems):
        # A new key is made when the database is opened, and none was ever missing then.
        buried = attempt(store.look, BURIED, partial(examine_buried, data=data))
        is_lost = any(problem.name == KEY_PROBLEM for problem in buried.problems)
        return [*found, buried] if is_lost else found
    for part, work in (
        (WORDS, examine_words),
        (TEXTS, partial(examine_texts, tell=tell)),
        (VECTORS, partial(examine_vectors, tell=tell)),
        (OUTBOX, examine_outbox),
        (LOGS, examine_logs),
        (BURIED, partial(examine_buried, data=data)),
    ):
        found.append(attempt(store.look, part, work))
    if schema.problems:
        return found
    tell("full-text index")
    found.append(attempt(store.attempt, "full-text index", examine_full_text))
    for channel in parts.channels:
        part = f"{channel.record.channel} index"
        work = partial(examine_index, channel=channel, tell=tell)
        found.append(attempt(store.attempt, part, work))
    found += await run_checks(parts.checks, tell)
    return found


def attempt(
    run: Callable[[Callable[[Connection], Examined]], Examined],
    part: str,
    work: Callable[[Connection], Examined],
) -> Examined:
    """Look at one part; what hinders is a problem of it."""
    try:
        return run(work)
    except IntegrityError as error:
        return Examined(part, "", (damage_met(error),))
    except CloxyError as error:
        return Examined(part, "", (_unseen(error.message, error.hint or ""),))
    except DBAPIError as error:
        return Examined(part, "", (_unseen(str(error.orig), ""),))


def _shut(path: Path) -> Examined:
    """One line for all that cannot be looked at."""
    problem = Problem(
        name="not-examined",
        severity="warning",
        message=f"nothing in {path.name} was looked at: its newest changes are in the log beside "
        "it, which can only be read where the folder can be written",
        remedy=f"copy {path.parent} to a disk that can be written, and run "
        "`CLOXY_DATA_DIR=<that copy> cloxy doctor`",
    )
    return Examined(PAGES, "", (problem,))


def _unseen(message: str, remedy: str) -> Problem:
    return Problem(
        name="not-examined",
        severity="warning",
        message=f"it could not be looked at: {message}",
        remedy=remedy,
    )


def _schema(connection: Connection, host: PluginHost) -> Examined:
    """Whether the tables are those of this version and its plugins."""
    steps = pending(arrange(migrations_of(host)), applied(connection))
    if not steps:
        return Examined(SCHEMA, "of this version")
    names = ", ".join(f"{step.owner} {step.number}" for step in steps)
    problem = Problem(
        name="schema-older",
        severity="note",
        message=f"the next start brings the tables up to date ({names}); indexes are looked at "
        "after that",
        count=len(steps),
    )
    return Examined(SCHEMA, "", (problem,))


async def run_checks(checks: Mapping[str, Check], tell: Tell) -> Sequence[Examined]:
    """What the checks of plugins find."""
    examined = []
    for name, check in checks.items():
        tell(f"check {name}")
        part = f"check {name}"
        try:
            found = await check.run()
        except CloxyError as error:
            examined.append(Examined(part, "", (_unseen(error.message, error.hint or ""),)))
            continue
        except Exception as error:  # a plugin's fault must not hide what else is wrong
            examined.append(Examined(part, "", (_unseen(type(error).__name__, ""),)))
            continue
        words = "; ".join(finding.message for finding in found if finding.severity == "ok")
        examined.append(Examined(part, words, tuple(map(_problem, filter(_is_bad, found)))))
    return examined


def _is_bad(finding: Finding) -> bool:
    return finding.severity != "ok"


def _problem(finding: Finding) -> Problem:
    return Problem(name="check", severity=finding.severity, message=finding.message)
