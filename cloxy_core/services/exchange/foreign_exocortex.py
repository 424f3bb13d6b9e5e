"""The database of exocortex: memories, goals, predictions, tasks and the diary of agents."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from cloxy_core.services.exchange.foreign_exocortex_facts import Facts
from cloxy_core.services.exchange.foreign_memories import (
    ForeignMessage,
    ForeignNote,
    Row,
    TableReader,
    Told,
)
from cloxy_core.services.exchange.foreign_related import Related, in_batches
from cloxy_core.services.exchange.foreign_rows import (
    count_rows,
    missing_columns,
    present,
    table_rows,
)
from cloxy_core.services.exchange.foreign_values import (
    flag,
    json_of,
    moment,
    number,
    stated,
    text_of,
    whole,
)

_OWN: Final = frozenset({"memories", "memory_tags", "memory_entities", "entities"})
_NEEDED: Final[Mapping[str, Sequence[str]]] = {
    "memories": ("id", "content", "is_active", "created_at"),
    "memory_tags": ("memory_id", "tag"),
    "memory_entities": ("memory_id", "entity_id"),
    "entities": ("id", "name"),
}

_OWN_COLUMNS: Final = (
    "id",
    "content",
    "is_active",
    "created_at",
    "superseded_by",
    "parent_id",
    "chunk_index",
    "namespace",
    "tier",
    "source",
    "updated_at",
    "is_metadata",
    "metadata",
)
_TEXTS: Final = (
    "content_type",
    "source_uri",
    "provider",
    "model_id",
    "model_name",
    "agent",
    "session_id",
    "conversation_id",
    "last_accessed_at",
    "expires_at",
)
_NUMBERS: Final = ("importance", "quality_score")
_COUNTS: Final = ("access_count", "useful_count", "valence")
_MEMORY: Final = (*_OWN_COLUMNS, *_TEXTS, *_NUMBERS, *_COUNTS)
_USAGE: Final = (
    "access_log",
    "co_retrievals",
    "search_misses",
    "query_outcomes",
    "retrieval_regression_baselines",
    "retrieval_regression_runs",
    "job_outcomes",
)

SUPERSEDED: Final = "superseded memories (not taken)"
TRASH: Final = "memories in the trash (not taken)"
PARTS: Final = "parts of longer memories (whole in them)"
USAGE: Final = "records of use (not taken)"


@dataclass(frozen=True, slots=True)
class _Memory:
    """A row of memories that has an id and a text.

    Attributes:
        is_active: whether the system itself still shows it.
        is_superseded: whether another one took its place.
        parent: id of the one that it belongs to.
        is_part: whether it repeats a part of that one.
    """

    note: ForeignNote
    is_active: bool
    is_superseded: bool
    parent: str | None
    is_part: bool


@dataclass(frozen=True, slots=True)
class Exocortex:
    """Implements `DatabaseSystem`."""

    name: str = field(default="exocortex", init=False)

    def knows(self, database: TableReader) -> bool:
        """Whether its oldest tables are there; all versions have them."""
        return database.tables() >= _OWN

    def differs(self, database: TableReader) -> str | None:
        """Which columns are missing without which nothing can be read."""
        return missing_columns(database, _NEEDED)

    def items(self, database: TableReader, told: Told) -> Iterator[ForeignNote | ForeignMessage]:
        """Memories in the order in which they were stored, then goals and all else of words."""
        yield from _memories(database, told)
        for table in _WORDS:
            yield from _words(database, told, table)
        usage = sum(count_rows(database, told, table) for table in _USAGE)
        if usage:
            told.homeless[USAGE] += usage


def _memories(database: TableReader, told: Told) -> Iterator[ForeignNote]:
    facts, related = Facts(database, told), Related(database, told)
    columns = present(database, "memories", _MEMORY)
    rows = table_rows(database, told, "memories", columns)
    read = (found for row in rows if (found := _memory(row, told)) is not None)
    for batch in in_batches(read):
        parents = {each.parent: None for each in batch if each.parent}
        states = related.by_id("memories", "id", list(parents), ("is_active",), "memories")
        shown = {uid: flag(rows[0][0]) is True for uid, rows in states.items()}
        kept = [each for each in batch if _is_kept(each, shown, told)]
        known = facts.of([each.note.uid for each in kept])
        for each in kept:
            note = each.note
            yield replace(note, metadata={**note.metadata, **known[note.uid]})
    facts.tell()


def _memory(row: Row, told: Told) -> _Memory | None:
    """A row as what it is; None, and told, for one that cannot be taken."""
    values = dict(zip(_MEMORY, row, strict=True))
    uid, text = text_of(values["id"]), text_of(values["content"])
    is_active = flag(values["is_active"])
    if uid is None:
        told.pass_over("memories: a row without an id")
        return None
    if text is None or is_active is None:
        lack = "its text is none" if text is None else "it is neither active nor in the trash"
        told.pass_over(f"memory {uid}: {lack}")
        return None
    parent, superseded = text_of(values["parent_id"]), text_of(values["superseded_by"])
    tier, namespace = text_of(values["tier"]), text_of(values["namespace"])
    changed = text_of(values["updated_at"])
    is_part = whole(values["chunk_index"]) is not None
    own = {
        "tier": tier,
        "namespace": namespace,
        "parent_id": parent,
        "chunk_index": whole(values["chunk_index"]),
        "superseded_by": superseded,
        "updated_at": changed if changed != values["created_at"] else None,
        "is_metadata": flag(values["is_metadata"]) or None,
        "metadata": json_of(values["metadata"]),
        **{name: text_of(values[name]) for name in _TEXTS},
        **{name: number(values[name]) for name in _NUMBERS},
        **{name: number(values[name]) or None for name in _COUNTS},
    }
    note = ForeignNote(
        uid=uid,
        text=text,
        at=moment(values["created_at"]),
        project=namespace,
        source=text_of(values["source"]),
        metadata=stated(own),
        sort="document part" if parent and not is_part else "memory",
        knowledge=tier,
    )
    return _Memory(note, is_active, superseded is not None, parent, is_part)


def _is_kept(memory: _Memory, shown: Mapping[str, bool], told: Told) -> bool:
    """Whether the system itself still shows a memory, and no longer one holds its words."""
    left: str | None = None
    if memory.is_part and memory.parent in shown:
        left = PARTS
    elif not memory.is_active:
        left = SUPERSEDED if memory.is_superseded else TRASH
    elif memory.parent is not None and not shown.get(memory.parent, True):
        left = TRASH
    if left is not None:
        told.homeless[left] += 1
    return left is None


@dataclass(frozen=True, slots=True)
class _Words:
    """A table of which each row is a note.

    Attributes:
        table: its name.
        sort: what a row is.
        text: columns that hold its words, the first of them always.
        texts: columns with texts for the metadata.
        numbers: likewise with numbers.
    """

    table: str
    sort: str
    text: Sequence[str]
    texts: Sequence[str]
    numbers: Sequence[str] = ()


_WORDS: Final = (
    _Words(
        "goals",
        "goal",
        ("title", "description"),
        ("status", "priority", "deadline", "updated_at", "completed_at"),
    ),
    _Words(
        "predictions",
        "prediction",
        ("claim",),
        (
            "domain",
            "status",
            "resolution",
            "resolution_notes",
            "resolution_memory_id",
            "source",
            "goal_id",
            "deadline",
            "updated_at",
            "resolved_at",
        ),
        ("confidence",),
    ),
    _Words(
        "agent_tasks",
        "task",
        ("title", "description", "result"),
        (
            "assignee",
            "created_by",
            "status",
            "priority",
            "goal_id",
            "parent_task_id",
            "dependencies",
            "deadline",
            "updated_at",
            "assigned_at",
            "started_at",
            "completed_at",
        ),
    ),
    _Words("agent_diary", "diary entry", ("entry",), ("agent", "topic")),
)


def _words(database: TableReader, told: Told, words: _Words) -> Iterator[ForeignNote]:
    there = database.columns(words.table)
    if not there:
        return
    if not {"id", words.text[0]} <= there:
        told.pass_over(f"{words.table}: it has other columns than are known")
        return
    names = ("id", "created_at", "metadata", *words.text, *words.texts, *words.numbers)
    columns = present(database, words.table, names)
    for row in table_rows(database, told, words.table, columns):
        values = dict(zip(names, row, strict=True))
        uid, first = text_of(values["id"]), text_of(values[words.text[0]])
        if uid is None or first is None:
            lack = "a row without an id" if uid is None else f"{uid}: its text is none"
            told.pass_over(f"{words.table}: {lack}")
            continue
        more = [text for name in words.text[1:] if (text := text_of(values[name]))]
        own = {
            "metadata": json_of(values["metadata"]),
            **{name: text_of(values[name]) for name in words.texts},
            **{name: number(values[name]) for name in words.numbers},
        }
        yield ForeignNote(
            uid=f"{words.sort.replace(' ', '-')}:{uid}",
            text="\n\n".join((first, *more)),
            at=moment(values["created_at"]),
            metadata=stated(own),
            sort=words.sort,
        )
