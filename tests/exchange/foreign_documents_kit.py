"""JSON exports of other memory systems, made of their databases as the systems make them."""

import io
import json
import sqlite3
from contextlib import closing

from cloxy_core.services.exchange.foreign_limits import LIMITS, ForeignTrouble
from cloxy_core.services.exchange.foreign_moving import MemoryReader


def rows(path, statement):
    """Rows of a database, as objects."""
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(statement)]


def mcp_export(path, machine="barge"):
    """What mcp-memory-service's exporter writes."""
    shown = "SELECT * FROM memories WHERE deleted_at IS NULL AND superseded_by IS NULL"
    return {
        "export_metadata": {
            "source_machine": machine,
            "export_timestamp": "2026-01-02T03:04:05.678",
            "total_memories": 1,
            "filter_tags": None,
            "include_embeddings": False,
            "exporter_version": "5.0.1",
        },
        "memories": [
            {
                "content": row["content"],
                "content_hash": row["content_hash"],
                "tags": [tag.strip() for tag in (row["tags"] or "").split(",") if tag.strip()],
                "created_at": row["created_at"],
                "updated_at": row["updated_at"],
                "memory_type": row["memory_type"],
                "metadata": json.loads(row["metadata"] or "{}"),
                "export_source": machine,
            }
            for row in rows(path, shown)
        ],
    }


def claude_mem_export(path, **more):
    """What claude-mem's script writes."""
    seen = "SELECT memory_session_id FROM {} WHERE memory_session_id = s.memory_session_id"
    watched = f"EXISTS ({seen.format('observations')} UNION {seen.format('session_summaries')})"
    return {
        "exportedAt": "2026-01-02T03:04:05.678Z",
        "exportedAtEpoch": 1_767_323_045_678,
        "query": "harbour",
        "observations": rows(path, "SELECT * FROM observations"),
        "sessions": rows(path, f"SELECT * FROM sdk_sessions s WHERE {watched}"),
        "summaries": rows(path, "SELECT * FROM session_summaries"),
        "prompts": rows(
            path,
            "SELECT up.*, s.project, s.memory_session_id, s.platform_source FROM user_prompts up"
            " JOIN sdk_sessions s ON up.session_db_id = s.id",
        ),
        **more,
    }


def exocortex_export(path):
    """What exocortex's export writes."""
    columns = "id, content, content_type, source, importance, parent_id, is_active, metadata"
    tags = rows(path, "SELECT memory_id, tag FROM memory_tags")
    return {
        "version": 1,
        "exported_at": "2026-01-02T03:04:05.678Z",
        "memories": [
            {
                **row,
                "metadata": json.loads(row["metadata"] or "null"),
                "tags": [tag["tag"] for tag in tags if tag["memory_id"] == row["id"]],
            }
            for row in rows(path, f"SELECT {columns}, created_at, updated_at FROM memories")
        ],
        "entities": rows(path, "SELECT id, name, type, created_at, updated_at FROM entities"),
        "memory_entities": rows(path, "SELECT * FROM memory_entities"),
        "settings": {"scoring.rrf_k": "60"},
    }


def read(value, limits=LIMITS):
    """The lines that a reader makes of a document, and its report.

    Args:
        value: bytes, or what they are made of.
        limits: caps.
    """
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    reader = MemoryReader({"sort": "document"}, limits=limits)
    lines = []
    try:
        for line in reader.lines(io.BytesIO(data)):
            lines.append(json.loads(line))
    except ForeignTrouble as error:
        reader.report.trouble, reader.report.hint = str(error), error.hint
    return lines, reader.report


def notes(value):
    """The notes of a document that can be read, by id."""
    lines, report = read(value)
    assert report.trouble is None
    return {line["uid"]: line for line in lines if line["kind"] == "note"}
