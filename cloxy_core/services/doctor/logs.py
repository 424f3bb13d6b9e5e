"""Session logs: folders that cannot be read, files set aside, lines that were refused."""

import os
from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import Connection

from cloxy_core.runtime.wording import counted
from cloxy_core.services.doctor.findings import SHOWN_DETAILS, Examined, Problem
from cloxy_core.services.ingest.roots import is_there

PART = "session logs"
_FAILED = "SELECT uri, error FROM sources WHERE state = 'failed' ORDER BY updated_at DESC"
_DRIFT = "SELECT uri FROM sources WHERE state = 'drift' ORDER BY updated_at DESC"
_LETTERS = """
    SELECT sources.uri, count(*) FROM dead_letters
    JOIN sources ON sources.id = dead_letters.source_id GROUP BY sources.id ORDER BY 2 DESC
"""
_COUNTS = "SELECT count(*), sum(state = 'gone') FROM sources"


def examine_roots(roots: Sequence[Path]) -> Examined:
    """Whether the watched folders can be read; one that is not there may simply not exist yet."""
    there = [root for root in roots if is_there(root)]
    unreadable = [root for root in there if not os.access(root, _wanted(root))]
    problems = []
    if unreadable:
        problems.append(
            Problem(
                name="folder-unreadable",
                severity="warning",
                message=f"{counted(len(unreadable), 'watched folder')} cannot be read",
                count=len(unreadable),
                details=tuple(map(str, unreadable[:SHOWN_DETAILS])),
                remedy="check their permissions",
            )
        )
    shown = ", ".join(map(str, there)) or "none"
    if others := len(roots) - len(there):
        shown += f"; {others} not there"
    return Examined("watched folders", shown, tuple(problems))


def _wanted(root: Path) -> int:
    """What is needed of a root: some are files that are watched alone."""
    return os.R_OK | os.X_OK if root.is_dir() else os.R_OK


def examine_logs(connection: Connection) -> Examined:
    """Files that could not be taken in, and lines that were refused."""
    total, gone = connection.exec_driver_sql(_COUNTS).one()
    failed = connection.exec_driver_sql(_FAILED).all()
    letters = connection.exec_driver_sql(_LETTERS).all()
    drift = connection.exec_driver_sql(_DRIFT).scalars().all()
    problems = []
    if failed:
        problems.append(
            Problem(
                name="log-failed",
                severity="warning",
                message=f"{counted(len(failed), 'session log')} could not be read",
                count=len(failed),
                details=tuple(f"{uri}: {why}" for uri, why in failed[:SHOWN_DETAILS]),
                remedy="mend what is said of each; the server tries them again by itself",
            )
        )
    if drift:
        problems.append(
            Problem(
                name="log-drift",
                severity="note",
                message=f"no message was understood in {counted(len(drift), 'session log')}",
                count=len(drift),
                details=tuple(drift[:SHOWN_DETAILS]),
                remedy="if there should be some, the agent's format has changed: upgrade Cloxy",
            )
        )
    if letters:
        lines = sum(count for _, count in letters)
        problems.append(
            Problem(
                name="dead-letters",
                severity="note",
                message=f"{counted(lines, 'damaged line')} of session logs were passed over",
                count=lines,
                details=tuple(f"{uri}: {count}" for uri, count in letters[:SHOWN_DETAILS]),
            )
        )
    there = f"{counted(total, 'session log')} followed"
    only = f"; {gone:,} are gone, and their text is only here" if gone else ""
    return Examined(PART, there + only, tuple(problems))
