"""The database of mcp-memory-service (backend `sqlite_vec`).

Confirmed in its sources was the table `memories` as made by versions up to 10.30: content,
content_hash, comma-separated tags, memory_type, metadata in JSON, times in seconds and as ISO 8601;
since 8.64 `deleted_at`, since 10.30 `parent_id`, `version`, `confidence`, `last_accessed` and
`superseded_by`; and the table `memory_graph` (source_hash, target_hash, similarity,
connection_types, relationship_type) since 9.0. What it keeps in Cloudflare, Milvus or another
service is not in the file.
"""

from collections.abc import Iterator
from typing import Final

from cloxy_core.services.exchange.foreign_limits import ForeignDamage
from cloxy_core.services.exchange.foreign_memories import ForeignNote, TableReader, Told
from cloxy_core.services.exchange.foreign_records import Record, records
from cloxy_core.services.exchange.foreign_rows import present
from cloxy_core.services.exchange.foreign_values import (
    json_list,
    json_object,
    json_of,
    moment,
    number,
    stated,
    text_of,
    whole,
)

_SHAPE: Final = frozenset({"content_hash", "content", "memory_type", "metadata", "tags"})
_COLUMNS: Final = (
    *("id", "content_hash", "content", "tags", "memory_type", "metadata"),
    *("created_at", "created_at_iso", "updated_at", "updated_at_iso", "deleted_at"),
    *("parent_id", "version", "confidence", "last_accessed", "superseded_by"),
)
_LINK_COLUMNS: Final = (
    *("target_hash", "relationship_type", "similarity", "connection_types", "metadata"),
)
_MOST_LINKS: Final = 100
"""Links that are kept of one memory; it finds them by itself, and one may have thousands."""


class McpMemoryService:
    """Reads it; see `DatabaseSystem`."""

    name = "mcp-memory-service"

    def knows(self, database: TableReader) -> bool:
        """Whether it has the table, and keeps vectors, settings or texts beside it as it does."""
        beside = {"memory_embeddings", "memory_content_fts", "memory_graph", "metadata"}
        return database.columns("memories") >= _SHAPE and bool(beside & database.tables())

    def differs(self, database: TableReader) -> str | None:
        """Whether a column is missing without which nothing can be told."""
        if not database.columns("memories") & {"created_at", "created_at_iso"}:
            return "its table memories holds no times"
        return None

    def items(self, database: TableReader, told: Told) -> Iterator[ForeignNote]:
        """All memories that it would still find."""
        has_links = {"source_hash", "target_hash"} <= database.columns("memory_graph")
        for record in records(database, told, "memories", _COLUMNS):
            if record["deleted_at"] is not None:
                told.homeless["deleted memories (left out)"] += 1
                continue
            if text_of(record["superseded_by"]) is not None:
                told.homeless["versions that a newer one replaced (left out)"] += 1
                continue
            text = text_of(record["content"])
            if text is None:
                told.pass_over(f"memories: row {record['id']} holds no text")
                continue
            key = text_of(record["content_hash"])
            links = _links(database, key, told) if has_links and key is not None else []
            yield _note(record, text, links, told)


def _note(record: Record, text: str, links: list[object], told: Told) -> ForeignNote:
    tags = _tags(record["tags"])
    extra = json_object(record["metadata"])
    for words, value in (("tags", tags), ("types of memories", text_of(record["memory_type"]))):
        if value:
            told.homeless[words] += 1
    if links:
        told.homeless["links between memories"] += len(links)
    at = moment(record["created_at"])
    return ForeignNote(
        uid=text_of(record["content_hash"]) or f"row:{record['id']}",
        text=text,
        at=at if at is not None else moment(record["created_at_iso"]),
        metadata=stated(
            {
                "tags": tags,
                "memory_type": text_of(record["memory_type"]),
                "metadata": extra or json_of(record["metadata"]),
                "content_hash": text_of(record["content_hash"]),
                "updated_at": text_of(record["updated_at_iso"]) or number(record["updated_at"]),
                "parent_id": text_of(record["parent_id"]),
                "version": whole(record["version"]),
                "confidence": number(record["confidence"]),
                "last_accessed": number(record["last_accessed"]),
                "memory_graph": links,
            }
        ),
    )


def _tags(value: object) -> list[object]:
    """Its tags: as it writes them, with commas, or as a list in JSON."""
    listed = json_list(value)
    parts = listed if listed else (text_of(value) or "").split(",")
    return [each.strip() for each in parts if isinstance(each, str) and each.strip(" []")]


def _links(database: TableReader, key: str, told: Told) -> list[object]:
    columns = ", ".join(present(database, "memory_graph", _LINK_COLUMNS))
    statement = f"SELECT {columns} FROM memory_graph WHERE source_hash = ? LIMIT ?"  # noqa: S608 - names of ours
    try:
        rows = list(database.rows(statement, (key, _MOST_LINKS + 1)))
    except ForeignDamage:
        told.pass_over(f"memory_graph: links of {key[:16]} are damaged")
        return []
    if len(rows) > _MOST_LINKS:
        told.homeless[f"links of memories with more than {_MOST_LINKS} (left out)"] += 1
    return [
        stated(
            {
                "target_hash": text_of(row[0]),
                "relationship_type": text_of(row[1]),
                "similarity": number(row[2]),
                "connection_types": json_of(row[3]),
                "metadata": json_of(row[4]),
            }
        )
        for row in rows[:_MOST_LINKS]
    ]
