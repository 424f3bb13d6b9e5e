"""Databases of other memory systems, made here to the schemas that these have."""

import json
import sqlite3
from contextlib import closing

from cloxy_core.services.exchange.foreign_limits import ForeignTrouble
from cloxy_core.services.exchange.foreign_moving import MemoryReader

EXOCORTEX = """
CREATE TABLE memories (
  id TEXT PRIMARY KEY, content TEXT NOT NULL, content_type TEXT NOT NULL DEFAULT 'text',
  source TEXT NOT NULL DEFAULT 'manual', source_uri TEXT, provider TEXT, model_id TEXT,
  model_name TEXT, agent TEXT, session_id TEXT, conversation_id TEXT, embedding BLOB,
  content_hash TEXT, is_indexed INTEGER NOT NULL DEFAULT 1, is_metadata INTEGER NOT NULL DEFAULT 0,
  importance REAL NOT NULL DEFAULT 0.5, access_count INTEGER NOT NULL DEFAULT 0,
  last_accessed_at TEXT, parent_id TEXT REFERENCES memories(id) ON DELETE CASCADE,
  is_active INTEGER NOT NULL DEFAULT 1, tier TEXT NOT NULL DEFAULT 'episodic',
  created_at TEXT NOT NULL DEFAULT (datetime('now')),
  updated_at TEXT NOT NULL DEFAULT (datetime('now')), superseded_by TEXT, chunk_index INTEGER,
  metadata TEXT, useful_count INTEGER NOT NULL DEFAULT 0, valence REAL NOT NULL DEFAULT 0,
  expires_at TEXT, namespace TEXT, embedding_model TEXT, keywords TEXT, quality_score REAL);
CREATE UNIQUE INDEX idx_active_hash ON memories(coalesce(namespace, ''), content_type, content_hash)
  WHERE is_active = 1 AND parent_id IS NULL AND content_hash IS NOT NULL;
CREATE TABLE memory_tags (memory_id TEXT NOT NULL, tag TEXT NOT NULL,
  PRIMARY KEY (memory_id, tag));
CREATE TABLE entities (id TEXT PRIMARY KEY, name TEXT NOT NULL,
  type TEXT NOT NULL DEFAULT 'concept', aliases TEXT NOT NULL DEFAULT '[]',
  metadata TEXT NOT NULL DEFAULT '{}', created_at TEXT, updated_at TEXT);
CREATE TABLE entity_tags (entity_id TEXT, tag TEXT, PRIMARY KEY (entity_id, tag));
CREATE TABLE memory_entities (memory_id TEXT NOT NULL, entity_id TEXT NOT NULL,
  relevance REAL NOT NULL DEFAULT 1, PRIMARY KEY (memory_id, entity_id));
CREATE TABLE entity_relationships (id TEXT PRIMARY KEY, source_entity_id TEXT NOT NULL,
  target_entity_id TEXT NOT NULL, relationship TEXT NOT NULL, confidence REAL DEFAULT 0.7,
  memory_id TEXT, created_at TEXT, context TEXT);
CREATE TABLE memory_links (source_id TEXT, target_id TEXT, link_type TEXT DEFAULT 'related',
  strength REAL DEFAULT 0.5, created_at TEXT, PRIMARY KEY (source_id, target_id));
CREATE TABLE access_log (id INTEGER PRIMARY KEY AUTOINCREMENT, memory_id TEXT, query TEXT,
  accessed_at TEXT);
CREATE TABLE consolidations (id TEXT PRIMARY KEY, summary_id TEXT, source_ids TEXT, strategy TEXT,
  memories_merged INTEGER, created_at TEXT);
CREATE TABLE contradictions (id TEXT PRIMARY KEY, memory_a_id TEXT, memory_b_id TEXT,
  description TEXT, status TEXT DEFAULT 'pending', resolution TEXT, created_at TEXT,
  updated_at TEXT);
CREATE TABLE goals (id TEXT PRIMARY KEY, title TEXT NOT NULL, description TEXT,
  status TEXT DEFAULT 'active', priority TEXT DEFAULT 'medium', deadline TEXT, metadata TEXT,
  created_at TEXT, updated_at TEXT, completed_at TEXT, embedding BLOB);
CREATE TABLE predictions (id TEXT PRIMARY KEY, claim TEXT NOT NULL, confidence REAL, domain TEXT,
  status TEXT DEFAULT 'open', resolution TEXT, resolution_notes TEXT, resolution_memory_id TEXT,
  source TEXT, goal_id TEXT, deadline TEXT, metadata TEXT, created_at TEXT, updated_at TEXT,
  resolved_at TEXT);
CREATE TABLE facts (id TEXT PRIMARY KEY, subject TEXT COLLATE NOCASE, predicate TEXT,
  object TEXT COLLATE NOCASE, memory_id TEXT, confidence REAL DEFAULT 0.7, created_at TEXT);
CREATE TABLE search_misses (id INTEGER PRIMARY KEY, query TEXT, result_count INTEGER,
  max_score REAL, filters TEXT, created_at TEXT);
CREATE TABLE query_outcomes (id INTEGER PRIMARY KEY, query_hash TEXT, query TEXT,
  search_count INTEGER, result_count_avg REAL, feedback_count INTEGER, last_queried_at TEXT,
  created_at TEXT);
CREATE TABLE co_retrievals (id INTEGER PRIMARY KEY, query_hash TEXT, memory_ids TEXT,
  result_count INTEGER, created_at TEXT);
CREATE TABLE retrieval_regression_baselines (query TEXT PRIMARY KEY, top_ids TEXT, created_at TEXT,
  updated_at TEXT);
CREATE TABLE retrieval_regression_runs (id INTEGER PRIMARY KEY, run_group_id TEXT, query TEXT,
  baseline_ids TEXT, current_ids TEXT, overlap_at_10 REAL, avg_rank_shift REAL, exact_order INTEGER,
  alert INTEGER, created_at TEXT);
CREATE TABLE observability_counters (key TEXT PRIMARY KEY, value INTEGER, updated_at TEXT);
CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE agent_tasks (id TEXT PRIMARY KEY, title TEXT, description TEXT, assignee TEXT,
  created_by TEXT, status TEXT, priority TEXT, goal_id TEXT, parent_task_id TEXT,
  dependencies TEXT, result TEXT, metadata TEXT, created_at TEXT, updated_at TEXT,
  assigned_at TEXT, started_at TEXT, completed_at TEXT, deadline TEXT);
CREATE TABLE agent_diary (id TEXT PRIMARY KEY, agent TEXT, entry TEXT, topic TEXT DEFAULT 'general',
  created_at TEXT);
CREATE TABLE job_outcomes (id INTEGER PRIMARY KEY, job_name TEXT, success INTEGER,
  duration_ms INTEGER, error TEXT, created_at TEXT);
CREATE VIRTUAL TABLE memories_fts USING fts5(content, keywords, content='memories',
  content_rowid='rowid', tokenize='porter unicode61');
CREATE TRIGGER memories_ai AFTER INSERT ON memories WHEN new.is_indexed = 1 BEGIN
  INSERT INTO memories_fts(rowid, content, keywords) VALUES (new.rowid, new.content, new.keywords);
END;
"""

MEMX = """
CREATE TABLE memories (id TEXT PRIMARY KEY, agent_id TEXT, content TEXT, content_hash TEXT,
  category TEXT, tier TEXT, importance REAL, confidence REAL, access_count INTEGER,
  created_at TEXT, updated_at TEXT, last_accessed_at TEXT, source TEXT, status TEXT,
  superseded_by TEXT, metadata TEXT);
CREATE TABLE memory_history (id TEXT PRIMARY KEY, memory_id TEXT, action TEXT, old_content TEXT,
  new_content TEXT, reason TEXT, actor TEXT, created_at TEXT);
CREATE TABLE embedding_cache (model TEXT, content_hash TEXT, dims INTEGER, vector BLOB,
  created_at TEXT, last_used_at TEXT, PRIMARY KEY (model, content_hash));
CREATE TABLE entities (id TEXT PRIMARY KEY, agent_id TEXT, name TEXT, type TEXT,
  canonical_name TEXT, aliases TEXT, created_at TEXT, UNIQUE (agent_id, type, canonical_name));
CREATE TABLE observations (id TEXT PRIMARY KEY, entity_id TEXT, content TEXT, valid_from TEXT,
  valid_until TEXT, recorded_at TEXT, retracted_at TEXT, source_memory_id TEXT, confidence REAL);
CREATE TABLE relations (id TEXT PRIMARY KEY, from_entity TEXT, relation_type TEXT, to_entity TEXT,
  valid_from TEXT, valid_until TEXT, recorded_at TEXT, retracted_at TEXT, source_memory_id TEXT,
  strength REAL);
CREATE TABLE feedback_log (id TEXT PRIMARY KEY, search_id TEXT, memory_id TEXT, feedback_type TEXT,
  delta REAL, source TEXT, created_at TEXT);
CREATE TABLE search_logs (id TEXT PRIMARY KEY, session_id TEXT, query TEXT, query_hash TEXT,
  result_ids TEXT, top_score REAL, result_count INTEGER, channels TEXT, latency_ms REAL,
  created_at TEXT);
CREATE VIRTUAL TABLE memories_fts USING fts5(content, tokenize='unicode61');
"""

MORNING = "2026-03-01 08:00:00.500"
MORNING_ISO = "2026-03-01T08:00:00.500Z"


class Database:
    """A database file that is filled row by row."""

    def __init__(self, file, schema, wal=False):
        self.file = file
        with closing(sqlite3.connect(file)) as connection:
            if wal:
                connection.execute("PRAGMA journal_mode=WAL")
            connection.executescript(schema)

    def add(self, table, **values):
        """Insert a row; dicts and lists become JSON."""
        cells = {
            name: json.dumps(value) if isinstance(value, dict | list) else value
            for name, value in values.items()
        }
        names, marks = ", ".join(cells), ", ".join("?" * len(cells))
        self.run(f"INSERT INTO {table} ({names}) VALUES ({marks})", *cells.values())
        return self

    def run(self, statement, *parameters):
        with closing(sqlite3.connect(self.file)) as connection:
            connection.execute(statement, parameters)
            connection.commit()
        return self


class ExocortexDatabase(Database):
    """One of exocortex."""

    def __init__(self, file, **more):
        super().__init__(file, EXOCORTEX, **more)

    def memory(self, uid, content, created_at=MORNING, **more):
        return self.add(
            "memories",
            **{"id": uid, "content": content, "created_at": created_at, "updated_at": created_at}
            | more,
        )


class MemxDatabase(Database):
    """One of memX."""

    def __init__(self, file, **more):
        super().__init__(file, MEMX, **more)

    def memory(self, uid, content, **more):
        values = {"id": uid, "content": content, "created_at": MORNING_ISO, "status": "active"}
        return self.add("memories", **values | {"tier": "working", "agent_id": "default"} | more)


def read(place, temporary):
    """What the reader makes of a file or folder here, in this process: lines by kind, and report.

    Trouble is told in the report, as the process that reads does.
    """
    sort = "folder" if place.is_dir() else "database"
    reader = MemoryReader({"sort": sort, "path": str(place), "temporary": str(temporary)})
    lines = []
    try:
        for line in reader.lines(None):
            lines.append(json.loads(line))
    except ForeignTrouble as error:
        reader.report.trouble, reader.report.hint = str(error), error.hint
    return lines, reader.report


def notes(place, temporary):
    """Notes by id, without the name of the system before it."""
    lines, report = read(place, temporary)
    assert report.trouble is None
    found = [line for line in lines if line["kind"] == "note"]
    return {line["uid"].partition(":")[2]: line for line in found}
