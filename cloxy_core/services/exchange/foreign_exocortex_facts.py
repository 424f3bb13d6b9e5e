"""What exocortex knows of its memories in tables of their own: tags, entities, links, facts."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from cloxy_core.services.exchange.foreign_memories import Row, TableReader, Told
from cloxy_core.services.exchange.foreign_related import Related
from cloxy_core.services.exchange.foreign_rows import count_rows, present
from cloxy_core.services.exchange.foreign_values import json_list, number, stated, text_of

NOT_TAKEN: Final = "(of no memory that came, not taken)"


@dataclass(slots=True)
class Facts:
    """Looks up what is known of some memories, and says at last what was of none of them.

    Attributes:
        database: where it lies.
        told: is told of what has no place of its own.
    """

    database: TableReader
    told: Told
    _related: Related = field(init=False)
    _taken: Counter[str] = field(default_factory=Counter[str])
    _entities: set[object] = field(default_factory=set[object])
    _contradictions: set[object] = field(default_factory=set[object])

    def __post_init__(self) -> None:
        """Prepare."""
        self._related = Related(self.database, self.told)

    def of(self, wanted: Sequence[str]) -> Mapping[str, dict[str, object]]:
        """What is known of memories, by id, under names of their metadata."""
        found: dict[str, dict[str, object]] = {each: {} for each in wanted}
        for name, by_memory in (
            ("tags", self._tags(wanted)),
            ("entities", self._named(wanted)),
            ("links", self._links(wanted)),
            ("facts", self._facts(wanted)),
            ("relations", self._relations(wanted)),
            ("contradictions", self._contradicted(wanted)),
            ("consolidations", self._consolidated(wanted)),
        ):
            for memory, values in by_memory.items():
                if values:
                    found[memory][name] = values
        return found

    def tell(self) -> None:
        """Say how much has no place of its own here, and how much belongs to nothing."""
        self._taken["entities"] = len(self._entities)
        self._taken["contradictions"] = len(self._contradictions)
        for name, table in _TABLES.items():
            taken = self._taken[name]
            left = count_rows(self.database, self.told, table) - taken
            if taken:
                self.told.homeless[name] += taken
            if left > 0:
                self.told.homeless[f"{name} {NOT_TAKEN}"] += left

    def _look(
        self, table: str, column: str, wanted: Sequence[str], columns: Sequence[str]
    ) -> Mapping[str, Sequence[Row]]:
        columns = present(self.database, table, columns)
        return self._related.by_id(table, column, wanted, columns, table)

    def _tags(self, wanted: Sequence[str]) -> Mapping[str, Sequence[object]]:
        rows = self._look("memory_tags", "memory_id", wanted, ("tag",))
        return self._counted("tags", {m: _texts(each) for m, each in rows.items()})

    def _named(self, wanted: Sequence[str]) -> Mapping[str, Sequence[object]]:
        (kind,) = present(self.database, "entities", ("type",))
        rows = self._related.by_id(
            "memory_entities",
            "m.memory_id",
            wanted,
            ("m.entity_id", "e.name", "NULL" if kind == "NULL" else "e.type"),
            "memory_entities AS m JOIN entities AS e ON e.id = m.entity_id",
        )
        found: dict[str, Sequence[object]] = {}
        for memory, each in rows.items():
            named = [row for row in each if text_of(row[1])]
            self._entities |= {row[0] for row in named}
            found[memory] = [_stated(("name", "type"), row[1:]) for row in named]
        return found

    def _links(self, wanted: Sequence[str]) -> Mapping[str, Sequence[object]]:
        names = ("target_id", "link_type", "strength")
        return self._objects("links between memories", "memory_links", "source_id", wanted, names)

    def _facts(self, wanted: Sequence[str]) -> Mapping[str, Sequence[object]]:
        names = ("subject", "predicate", "object", "confidence")
        return self._objects("facts", "facts", "memory_id", wanted, names)

    def _relations(self, wanted: Sequence[str]) -> Mapping[str, Sequence[object]]:
        table = "entity_relationships"
        (context,) = present(self.database, table, ("context",))
        names = ("source", "relationship", "target", "confidence", "context")
        rows = self._related.by_id(
            table,
            "r.memory_id",
            wanted,
            (
                "a.name",
                "r.relationship",
                "b.name",
                "r.confidence",
                "NULL" if context == "NULL" else "r.context",
            ),
            f"{table} AS r LEFT JOIN entities AS a ON a.id = r.source_entity_id "
            "LEFT JOIN entities AS b ON b.id = r.target_entity_id",
        )
        found = {m: [_stated(names, row) for row in each] for m, each in rows.items()}
        return self._counted("relations of entities", found)

    def _contradicted(self, wanted: Sequence[str]) -> Mapping[str, Sequence[object]]:
        found: dict[str, list[object]] = {}
        names = ("with", "description", "status", "resolution")
        for own, other in (("memory_a_id", "memory_b_id"), ("memory_b_id", "memory_a_id")):
            columns = ("id", other, *names[1:])
            for memory, rows in self._look("contradictions", own, wanted, columns).items():
                self._contradictions |= {row[0] for row in rows}
                found.setdefault(memory, []).extend(_stated(names, row[1:]) for row in rows)
        return found

    def _consolidated(self, wanted: Sequence[str]) -> Mapping[str, Sequence[object]]:
        rows = self._look("consolidations", "summary_id", wanted, ("source_ids", "strategy"))
        found = {
            memory: [
                stated({"source_ids": json_list(row[0]), "strategy": text_of(row[1])})
                for row in each
            ]
            for memory, each in rows.items()
        }
        return self._counted("consolidations", found)

    def _objects(
        self, told: str, table: str, column: str, wanted: Sequence[str], names: Sequence[str]
    ) -> Mapping[str, Sequence[object]]:
        rows = self._look(table, column, wanted, names)
        found = {m: [_stated(names, row) for row in each] for m, each in rows.items()}
        return self._counted(told, found)

    def _counted(
        self, name: str, found: Mapping[str, Sequence[object]]
    ) -> Mapping[str, Sequence[object]]:
        self._taken[name] += sum(map(len, found.values()))
        return found


_TABLES: Final = {
    "tags": "memory_tags",
    "entities": "entities",
    "links between memories": "memory_links",
    "facts": "facts",
    "relations of entities": "entity_relationships",
    "contradictions": "contradictions",
    "consolidations": "consolidations",
}


def _texts(rows: Sequence[Row]) -> Sequence[str]:
    return [text for row in rows if (text := text_of(row[0]))]


def _stated(names: Sequence[str], row: Row) -> dict[str, object]:
    values = {
        name: text_of(value) if isinstance(value, str) else number(value)
        for name, value in zip(names, row, strict=True)
    }
    return stated(values)
