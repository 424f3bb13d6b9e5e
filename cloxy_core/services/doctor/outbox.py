"""What indexes outside of SQL have still to apply, and how far they say they are."""

from sqlalchemy import Connection, delete, func, insert, select

from cloxy_core.runtime.wording import counted
from cloxy_core.services.doctor.findings import SHOWN_DETAILS, SHOWN_IDS, Examined, Problem
from cloxy_core.store.sequence import last_id
from cloxy_hookspecs.tables import index_checkpoints, index_outbox

PART = "outbox"
OUTBOX_PROBLEMS = ("outbox-untold", "checkpoint-ahead")
_UNTOLD = """
    SELECT o.passage_id FROM index_outbox o
    WHERE o.op <> 'delete' AND o.passage_id NOT IN (SELECT id FROM passages)
    AND o.seq = (SELECT max(seq) FROM index_outbox WHERE passage_id = o.passage_id)
"""


def examine_outbox(connection: Connection) -> Examined:
    """Passages that went without anybody being told, and impossible checkpoints."""
    problems = []
    if untold := _untold(connection):
        problems.append(
            Problem(
                name="outbox-untold",
                severity="error",
                message=f"{counted(len(untold), 'passage')} went without the indexes being told",
                count=len(untold),
                ids=tuple(untold[:SHOWN_IDS]),
                repair="tells them",
            )
        )
    if ahead := _ahead(connection):
        problems.append(
            Problem(
                name="checkpoint-ahead",
                severity="error",
                message=f"{counted(len(ahead), 'index', 'indexes')} claim to have applied "
                "changes that were never made",
                count=len(ahead),
                details=tuple(ahead[:SHOWN_DETAILS]),
                repair="has them built anew at the next start",
            )
        )
    waiting = connection.execute(select(func.count()).select_from(index_outbox)).scalar_one()
    return Examined(PART, f"{counted(waiting, 'change')} kept for indexes", tuple(problems))


def _untold(connection: Connection) -> list[int]:
    return list(connection.exec_driver_sql(_UNTOLD).scalars())


def _ahead(connection: Connection) -> list[str]:
    last = last_id(connection, index_outbox)
    return list(
        connection.execute(
            select(index_checkpoints.c.index).where(index_checkpoints.c.seq > last)
        ).scalars()
    )


def repair_outbox(connection: Connection, now: int) -> int:
    """Mend both; a write transaction. How many entries were changed."""
    untold, ahead = _untold(connection), _ahead(connection)
    if untold:
        connection.execute(
            insert(index_outbox),
            [{"passage_id": passage, "op": "delete", "at": now} for passage in untold],
        )
    if ahead:
        connection.execute(delete(index_checkpoints).where(index_checkpoints.c.index.in_(ahead)))
    return len(untold) + len(ahead)
