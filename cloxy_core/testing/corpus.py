"""A small store to search in: real rows, so that filters and joins do what they do in a server."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Table, func, insert, select

from cloxy_core.services.passage_rows import index_rows
from cloxy_core.store.project_keys import project_key
from cloxy_hookspecs import Author, Filters, IndexRow, Role, Window
from cloxy_hookspecs.tables import CORE_METADATA, memories, passages, projects

DAY = 86_400_000
FIRST = 1_767_225_600_000
SHARED_WORD = "harbour"
"""A word that stands in every text of the corpus."""


@dataclass(frozen=True, slots=True)
class Said:
    """One passage of the corpus, a memory of its own.

    Attributes:
        text: verbatim text.
        project: path of its project; None for none.
        source: source label.
        role: whose turn it was.
        author: who wrote it.
        at: when it was said; None when unknown.
    """

    text: str
    project: str | None
    source: str
    role: Role
    author: Author
    at: int | None


CORPUS: Sequence[Said] = (
    Said("The harbour master closed gate seven because of the storm surge", "/srv/port",
         "claude-code:a", "user", "human", FIRST),
    Said("Cranes at the harbour use firmware 4.2, which overheats in July", "/srv/port",
         "claude-code:a", "assistant", "assistant", FIRST + DAY),
    Said("Invoices for harbour fees are rounded to whole cents before tax", "/srv/billing",
         "claude-code:b", "user", "human", FIRST + 2 * DAY),
    Said("A sub-agent compared pilots' rosters of the harbour with the tide table", "/srv/port",
         "claude-code:a", "assistant", "subagent", FIRST + 3 * DAY),
    Said("Summary: the harbour database moved from Oslo to Bergen", "/srv/billing",
         "claude-code:b", "summary", "summary", FIRST + 4 * DAY),
    Said("Remember that the harbour café opens at half past six", None,
         "manual", "note", "human", None),
    Said("港の倉庫 harbour warehouse keys hang behind the blue door", None,
         "manual:keys", "note", "human", FIRST + 5 * DAY),
    Said("def dock(ship): return harbour.berths[ship.length // 40]", "/srv/port/code",
         "claude-code:c", "assistant", "assistant", FIRST + 6 * DAY),
)  # fmt: skip

FILTERS: Mapping[str, tuple[Filters, Sequence[int]]] = {
    "nothing": (Filters(), range(8)),
    "project and below": (Filters(project="/srv/port"), (0, 1, 3, 7)),
    "project word": (Filters(project="billing"), (2, 4)),
    "unknown project": (Filters(project="/srv/nowhere"), ()),
    "since": (Filters(window=Window(since=FIRST + 4 * DAY)), (4, 6, 7)),
    "until": (Filters(window=Window(until=FIRST + DAY)), (0,)),
    "empty window": (Filters(window=Window(FIRST + 1, FIRST + 2)), ()),
    "source": (Filters(source="claude-code:a"), (0, 1, 3)),
    "source prefix": (Filters(source="manual"), (5, 6)),
    "half a source segment": (Filters(source="claude"), ()),
    "role": (Filters(roles=("note",)), (5, 6)),
    "roles": (Filters(roles=("user", "summary")), (0, 2, 4)),
    "author": (Filters(authors=("subagent",)), (3,)),
    "all at once": (
        Filters("/srv/port", Window(FIRST, FIRST + 2 * DAY), "claude-code", ("assistant",),
                ("assistant",)),
        (1,),
    ),
}  # fmt: skip
"""Filters, and the places in `CORPUS` of what they let pass."""


def fill(connection: Connection) -> Sequence[IndexRow]:
    """Write the corpus to the tables of the core, and return it as indexes see it, in order."""
    keys = {said.project for said in CORPUS} - {None}
    numbers = {path: _project(connection, path) for path in sorted(filter(None, keys))}
    ids = [_passage(connection, said, numbers.get(said.project or "")) for said in CORPUS]
    rows = {row.passage_id: row for row in index_rows(connection)}
    return [rows[number] for number in ids]


def dump(connection: Connection) -> Mapping[str, Sequence[tuple[Any, ...]]]:
    """Every row of every table, indexes in SQL included, to see whether anything was written."""
    names = connection.exec_driver_sql(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        " ORDER BY name"
    ).scalars()
    return {name: table_rows(connection, name) for name in names.all()}


def core_dump(connection: Connection) -> Mapping[str, Sequence[tuple[Any, ...]]]:
    """Every row of the core's tables."""
    return {name: table_rows(connection, name) for name in sorted(CORE_METADATA.tables)}


def table_rows(connection: Connection, name: str) -> Sequence[tuple[Any, ...]]:
    """All rows of a table, in an order that does not depend on when they were written."""
    quoted = '"' + name.replace('"', '""') + '"'
    rows = connection.exec_driver_sql(f"SELECT * FROM {quoted}").all()  # noqa: S608 - quoted
    return sorted((tuple(row) for row in rows), key=repr)


def _project(connection: Connection, path: str) -> int:
    return _insert(connection, projects, key=project_key(path), path=path)


def _passage(connection: Connection, said: Said, project: int | None) -> int:
    content_hash = hashlib.sha256(said.text.encode()).hexdigest()
    ordinal = connection.execute(select(func.count()).select_from(memories)).scalar_one()
    memory = _insert(
        connection,
        memories,
        uid=f"corpus-{ordinal}",
        origin="note",
        kind="episodic",
        tier="working",
        state="active",
        immutable=False,
        content=said.text,
        content_hash=content_hash,
        source=said.source,
        project_id=project,
        ordinal=ordinal,
        open=False,
        occurred_from=said.at,
        occurred_to=said.at,
        created_at=FIRST,
        updated_at=FIRST,
        version=1,
        extra={},
    )
    return _insert(
        connection,
        passages,
        memory_id=memory,
        ordinal=0,
        part=0,
        role=said.role,
        author=said.author,
        char_start=0,
        char_end=len(said.text),
        occurred_at=said.at,
        text_hash=content_hash,
    )


def _insert(connection: Connection, table: Table, **values: object) -> int:
    """Insert a row, and return its number."""
    statement = insert(table).values(**values).returning(table.c.id)
    return int(connection.execute(statement).scalar_one())
