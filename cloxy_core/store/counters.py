"""Running counts that outlive the process."""

from collections.abc import Mapping

from sqlalchemy import Connection, select
from sqlalchemy.dialects.sqlite import insert

from cloxy_hookspecs.tables import counters


def count_up(connection: Connection, by: Mapping[str, int]) -> None:
    """Add to counts; a key that is new starts at 0."""
    if not by:
        return
    statement = insert(counters)
    connection.execute(
        statement.on_conflict_do_update(
            index_elements=["key"],
            set_={"value": counters.c.value + statement.excluded.value},
        ),
        [{"key": key, "value": value} for key, value in by.items()],
    )


def read_counts(connection: Connection, prefix: str) -> Mapping[str, int]:
    """Counts whose key begins with a prefix, the prefix taken off."""
    rows = connection.execute(
        select(counters.c.key, counters.c.value).where(
            counters.c.key.startswith(prefix, autoescape=True)
        )
    )
    return {row.key[len(prefix) :]: int(row.value) for row in rows}
