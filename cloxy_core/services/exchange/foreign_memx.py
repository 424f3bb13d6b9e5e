"""The database of memX: memories, and what is observed of people and things."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

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
    json_of,
    moment,
    number,
    stated,
    text_of,
)

_OWN: Final = frozenset({"memories", "memory_history", "entities", "observations", "relations"})
_NEEDED: Final[Mapping[str, Sequence[str]]] = {
    "memories": ("id", "content", "status", "created_at"),
    "entities": ("id", "name"),
    "observations": ("id", "entity_id", "content", "source_memory_id"),
    "relations": ("id", "from_entity", "relation_type", "to_entity", "source_memory_id"),
}
_TEXTS: Final = (
    "agent_id",
    "category",
    "tier",
    "superseded_by",
    "updated_at",
    "last_accessed_at",
)
_NUMBERS: Final = ("importance", "confidence", "access_count")
_MEMORY: Final = ("id", "content", "status", "created_at", "source", "metadata", *_TEXTS, *_NUMBERS)
_USAGE: Final = ("feedback_log", "search_logs")

ACTIVE: Final = "active"
LEFT: Final = {
    "superseded": "superseded memories (not taken)",
    "deleted": "deleted memories (not taken)",
}
OTHER: Final = "memories of another status (not taken)"
OBSERVED: Final = "observations in their memories"
RETRACTED: Final = "retracted observations (not taken)"
RELATIONS: Final = "relations of entities"
ENTITIES: Final = "entities"
HISTORY: Final = "earlier versions (not taken)"
USAGE: Final = "records of use (not taken)"
NOT_TAKEN: Final = "(of no memory that came, not taken)"


@dataclass(frozen=True, slots=True)
class MemX:
    """Implements `DatabaseSystem`."""

    name: str = field(default="memx", init=False)

    def knows(self, database: TableReader) -> bool:
        """Whether the tables that its description names are there."""
        return database.tables() >= _OWN

    def differs(self, database: TableReader) -> str | None:
        """Which columns are missing without which nothing can be read."""
        return missing_columns(database, _NEEDED)

    def items(self, database: TableReader, told: Told) -> Iterator[ForeignNote | ForeignMessage]:
        """Memories in the order in which they were stored, then observations of their own."""
        yield from _Reading(database, told).items()


@dataclass(slots=True)
class _Reading:
    """One database while it is read."""

    database: TableReader
    told: Told
    _related: Related = field(init=False)
    _entities: set[object] = field(default_factory=set[object])
    _relations: int = 0

    def __post_init__(self) -> None:
        self._related = Related(self.database, self.told)

    def items(self) -> Iterator[ForeignNote]:
        yield from self._memories()
        yield from self._observations()
        homeless = self.told.homeless
        for name, taken, table in (
            (ENTITIES, len(self._entities), "entities"),
            (RELATIONS, self._relations, "relations"),
        ):
            left = count_rows(self.database, self.told, table) - taken
            homeless[name] += taken
            homeless[f"{name} {NOT_TAKEN}"] += max(left, 0)
        homeless[HISTORY] += count_rows(self.database, self.told, "memory_history")
        homeless[USAGE] += sum(count_rows(self.database, self.told, each) for each in _USAGE)
        for name in [name for name, count in homeless.items() if not count]:
            del homeless[name]

    def _memories(self) -> Iterator[ForeignNote]:
        columns = present(self.database, "memories", _MEMORY)
        rows = table_rows(self.database, self.told, "memories", columns)
        read = (found for row in rows if (found := self._memory(row)) is not None)
        for batch in in_batches(read):
            wanted = [note.uid for note in batch]
            observed, related = self._observed(wanted), self._relation(wanted)
            for note in batch:
                more = {
                    "observations": list(observed.get(note.uid, ())),
                    "relations": list(related.get(note.uid, ())),
                }
                yield replace(note, metadata={**note.metadata, **stated(more)})

    def _memory(self, row: Row) -> ForeignNote | None:
        """A row as a note; None for one that is not shown, and, told, for one that is bad."""
        values = dict(zip(_MEMORY, row, strict=True))
        uid, text = text_of(values["id"]), text_of(values["content"])
        status = text_of(values["status"])
        if uid is None or status is None:
            lack = "a row without an id" if uid is None else f"{uid}: it has no status"
            self.told.pass_over(f"memories: {lack}")
            return None
        if status != ACTIVE:
            self.told.homeless[LEFT.get(status, OTHER)] += 1
            return None
        if text is None:
            self.told.pass_over(f"memory {uid}: its text is none")
            return None
        own = {
            **{name: text_of(values[name]) for name in _TEXTS},
            **{name: number(values[name]) for name in _NUMBERS},
            "metadata": json_of(values["metadata"]),
        }
        return ForeignNote(
            uid=uid,
            text=text,
            at=moment(values["created_at"]),
            source=text_of(values["source"]),
            metadata=stated(own),
            tier=text_of(values["tier"]),
        )

    def _observed(self, wanted: Sequence[str]) -> Mapping[str, Sequence[object]]:
        """Observations that were made of memories, by the memory."""
        until = self._columns("o", "observations", ("valid_from", "valid_until", "retracted_at"))
        rows = self._related.by_id(
            "observations",
            "o.source_memory_id",
            wanted,
            ("o.entity_id", "e.name", "o.content", *until),
            "observations AS o LEFT JOIN entities AS e ON e.id = o.entity_id",
        )
        names = ("entity", "content", "valid_from", "valid_until")
        found: dict[str, Sequence[object]] = {}
        for memory, each in rows.items():
            holding = [row for row in each if row[-1] is None]
            self._entities |= {row[0] for row in holding if row[1] is not None}
            self.told.homeless[OBSERVED] += len(holding)
            found[memory] = [_stated(names, row[1:-1]) for row in holding]
        return found

    def _relation(self, wanted: Sequence[str]) -> Mapping[str, Sequence[object]]:
        """Relations that were found in memories, by the memory."""
        more = self._columns("r", "relations", ("valid_from", "valid_until", "strength"))
        rows = self._related.by_id(
            "relations",
            "r.source_memory_id",
            wanted,
            ("r.from_entity", "r.to_entity", "a.name", "r.relation_type", "b.name", *more),
            "relations AS r LEFT JOIN entities AS a ON a.id = r.from_entity "
            "LEFT JOIN entities AS b ON b.id = r.to_entity",
        )
        names = ("from", "type", "to", "valid_from", "valid_until", "strength")
        found: dict[str, Sequence[object]] = {}
        for memory, each in rows.items():
            self._relations += len(each)
            for source, target, source_name, _type, target_name, *_more in each:
                self._entities |= {source} if source_name is not None else set()
                self._entities |= {target} if target_name is not None else set()
            found[memory] = [_stated(names, row[2:]) for row in each]
        return found

    def _observations(self) -> Iterator[ForeignNote]:
        """Observations that no memory which came holds."""
        names = (
            "id",
            "entity_id",
            "content",
            "source_memory_id",
            "recorded_at",
            "valid_from",
            "valid_until",
            "retracted_at",
            "confidence",
        )
        columns = present(self.database, "observations", names)
        rows = table_rows(self.database, self.told, "observations", columns)
        for batch in in_batches(rows):
            values: list[dict[str, object]] = [dict(zip(names, row, strict=True)) for row in batch]
            memories = {uid: None for each in values if (uid := text_of(each["source_memory_id"]))}
            states = self._related.by_id("memories", "id", list(memories), ("status",), "memories")
            entities = {uid: None for each in values if (uid := text_of(each["entity_id"]))}
            named = self._related.by_id("entities", "id", list(entities), ("name",), "entities")
            for each in values:
                memory, entity = text_of(each["source_memory_id"]), text_of(each["entity_id"])
                status, name = _first(states, memory), _first(named, entity)
                found = self._observation(each, memory, status, name)
                if found is not None:
                    if name is not None:
                        self._entities.add(entity)
                    yield found

    def _observation(
        self, values: Mapping[str, object], memory: str | None, status: str | None, name: str | None
    ) -> ForeignNote | None:
        if values["retracted_at"] is not None:
            self.told.homeless[RETRACTED] += 1
            return None
        if status is not None:
            if status != ACTIVE:
                self.told.homeless[f"observations {NOT_TAKEN}"] += 1
            return None
        uid, text = text_of(values["id"]), text_of(values["content"])
        if uid is None or text is None:
            lack = "a row without an id" if uid is None else f"{uid}: its text is none"
            self.told.pass_over(f"observations: {lack}")
            return None
        own = {
            "entity": name,
            "source_memory_id": memory,
            "valid_from": _value(values["valid_from"]),
            "valid_until": _value(values["valid_until"]),
            "confidence": number(values["confidence"]),
        }
        at = moment(values["recorded_at"])
        return ForeignNote(
            uid=f"observation:{uid}",
            text=text,
            at=at if at is not None else moment(values["valid_from"]),
            metadata=stated(own),
            sort="observation",
        )

    def _columns(self, alias: str, table: str, names: Sequence[str]) -> Sequence[str]:
        found = present(self.database, table, names)
        return [each if each == "NULL" else f"{alias}.{each}" for each in found]


def _first(found: Mapping[str, Sequence[Row]], uid: str | None) -> str | None:
    """The text in the one column of the first row of an id."""
    rows = found.get(uid) if uid is not None else None
    return text_of(rows[0][0]) if rows else None


def _stated(names: Sequence[str], row: Row) -> dict[str, object]:
    return stated({name: _value(value) for name, value in zip(names, row, strict=True)})


def _value(value: object) -> str | int | float | None:
    return text_of(value) if isinstance(value, str) else number(value)
