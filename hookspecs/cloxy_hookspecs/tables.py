"""The core tables, for those who need SQL; imported by nobody else, since SQLModel is heavy.

They are declared here and created by numbered migrations; a test compares the two. All times
are integer milliseconds since the epoch, UTC. Ids are never reused.
"""

# SQLModel types `__tablename__` for its own use; pyright takes that for a rule for us.
# pyright: reportAssignmentType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false

from typing import Any

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    UniqueConstraint,
)
from sqlmodel import Field, SQLModel

CORE_METADATA = MetaData()
AUTOINCREMENT: dict[str, Any] = {"sqlite_autoincrement": True}


def _id() -> Any:  # noqa: ANN401 - what SQLModel's Field returns
    return Field(default=None, sa_column=Column("id", Integer, primary_key=True))


def _reference(name: str, target: str, *, nullable: bool = True, cascade: bool = False) -> Any:  # noqa: ANN401 - what SQLModel's Field returns
    rule = "CASCADE" if cascade else None
    return Field(
        default=None,
        sa_column=Column(name, Integer, ForeignKey(target, ondelete=rule), nullable=nullable),
    )


class CoreTable(SQLModel):
    """Base of the core tables; they share one metadata."""

    metadata = CORE_METADATA


class Project(CoreTable, table=True):
    """A working directory; `key` is its spelling made canonical, `path` what people see."""

    __tablename__ = "projects"
    __table_args__ = (UniqueConstraint("key"), AUTOINCREMENT)

    id: int | None = _id()
    key: str = Field(sa_column=Column("key", String, nullable=False))
    path: str = Field(sa_column=Column("path", String, nullable=False))


class Session(CoreTable, table=True):
    """One conversation of one agent; `key` is the agent's own id of it.

    `relation` is what it is to the session of `parent_key`: `subagent`, `fork` or `resume`.
    """

    __tablename__ = "sessions"
    __table_args__ = (UniqueConstraint("agent", "key"), AUTOINCREMENT)

    id: int | None = _id()
    agent: str = Field(sa_column=Column("agent", String, nullable=False))
    key: str = Field(sa_column=Column("key", String, nullable=False))
    parent_key: str | None = Field(default=None, sa_column=Column("parent_key", String))
    project_id: int | None = _reference("project_id", "projects.id")
    cwd: str | None = Field(default=None, sa_column=Column("cwd", String))
    branch: str | None = Field(default=None, sa_column=Column("branch", String))
    title: str | None = Field(default=None, sa_column=Column("title", String))
    title_rank: int = Field(default=0, sa_column=Column("title_rank", Integer, nullable=False))
    indexed_title: str | None = Field(default=None, sa_column=Column("indexed_title", String))
    program: bool = Field(default=False, sa_column=Column("program", Boolean, nullable=False))
    started_at: int | None = Field(default=None, sa_column=Column("started_at", Integer))
    ended_at: int | None = Field(default=None, sa_column=Column("ended_at", Integer))
    relation: str | None = Field(default=None, sa_column=Column("relation", String))


class Source(CoreTable, table=True):
    """A file that is read by offset, and what is needed to recognise it again.

    `head` is the hash of the first `head_len` bytes, `before_hash` that of the bytes before the
    offset; `parser_state` is the parser's own.
    """

    __tablename__ = "sources"
    __table_args__ = (UniqueConstraint("plugin", "uri"), AUTOINCREMENT)

    id: int | None = _id()
    plugin: str = Field(sa_column=Column("plugin", String, nullable=False))
    uri: str = Field(sa_column=Column("uri", String, nullable=False))
    parser: str = Field(sa_column=Column("parser", String, nullable=False))
    identity: str = Field(sa_column=Column("identity", String, nullable=False))
    byte_offset: int = Field(sa_column=Column("byte_offset", Integer, nullable=False))
    size: int = Field(sa_column=Column("size", Integer, nullable=False))
    mtime_ns: int = Field(sa_column=Column("mtime_ns", Integer, nullable=False))
    head: str = Field(default="", sa_column=Column("head", String, nullable=False))
    head_len: int = Field(default=0, sa_column=Column("head_len", Integer, nullable=False))
    before_hash: str = Field(default="", sa_column=Column("before_hash", String, nullable=False))
    parser_state: dict[str, Any] = Field(
        default_factory=dict, sa_column=Column("parser_state", JSON, nullable=False)
    )
    state: str = Field(default="watched", sa_column=Column("state", String, nullable=False))
    error: str | None = Field(default=None, sa_column=Column("error", String))
    records: int = Field(default=0, sa_column=Column("records", Integer, nullable=False))
    messages: int = Field(default=0, sa_column=Column("messages", Integer, nullable=False))
    bad_lines: int = Field(default=0, sa_column=Column("bad_lines", Integer, nullable=False))
    updated_at: int = Field(sa_column=Column("updated_at", Integer, nullable=False))


class Memory(CoreTable, table=True):
    """One searchable row; its text is in `content`, its passages are places in it."""

    __tablename__ = "memories"
    __table_args__ = (
        UniqueConstraint("uid"),
        Index("ix_memories_session", "session_id", "ordinal"),
        Index("ix_memories_source", "source"),
        Index("ix_memories_project", "project_id"),
        Index("ix_memories_hash", "content_hash"),
        AUTOINCREMENT,
    )

    id: int | None = _id()
    uid: str = Field(sa_column=Column("uid", String, nullable=False))
    origin: str = Field(sa_column=Column("origin", String, nullable=False))
    kind: str = Field(sa_column=Column("kind", String, nullable=False))
    tier: str = Field(sa_column=Column("tier", String, nullable=False))
    state: str = Field(default="active", sa_column=Column("state", String, nullable=False))
    immutable: bool = Field(sa_column=Column("immutable", Boolean, nullable=False))
    content: str = Field(sa_column=Column("content", String, nullable=False))
    content_hash: str = Field(sa_column=Column("content_hash", String, nullable=False))
    source: str = Field(sa_column=Column("source", String, nullable=False))
    project_id: int | None = _reference("project_id", "projects.id")
    session_id: int | None = _reference("session_id", "sessions.id")
    source_id: int | None = _reference("source_id", "sources.id")
    ordinal: int = Field(sa_column=Column("ordinal", Integer, nullable=False))
    open: bool = Field(default=False, sa_column=Column("open", Boolean, nullable=False))
    occurred_from: int | None = Field(default=None, sa_column=Column("occurred_from", Integer))
    occurred_to: int | None = Field(default=None, sa_column=Column("occurred_to", Integer))
    created_at: int = Field(sa_column=Column("created_at", Integer, nullable=False))
    updated_at: int = Field(sa_column=Column("updated_at", Integer, nullable=False))
    version: int = Field(default=1, sa_column=Column("version", Integer, nullable=False))
    extra: dict[str, Any] = Field(
        default_factory=dict, sa_column=Column("extra", JSON, nullable=False)
    )


class Passage(CoreTable, table=True):
    """The unit of the indexes: a message, or a part of a long one, inside a memory's content."""

    __tablename__ = "passages"
    __table_args__ = (
        UniqueConstraint("session_id", "message_uid", "part"),
        Index("ix_passages_memory", "memory_id", "ordinal"),
        Index("ix_passages_session", "session_id"),
        Index("ix_passages_uid", "message_uid"),
        Index("ix_passages_hash", "text_hash"),
        AUTOINCREMENT,
    )

    id: int | None = _id()
    memory_id: int = _reference("memory_id", "memories.id", nullable=False, cascade=True)
    session_id: int | None = _reference("session_id", "sessions.id")
    ordinal: int = Field(sa_column=Column("ordinal", Integer, nullable=False))
    part: int = Field(default=0, sa_column=Column("part", Integer, nullable=False))
    role: str = Field(sa_column=Column("role", String, nullable=False))
    author: str = Field(sa_column=Column("author", String, nullable=False))
    char_start: int = Field(sa_column=Column("char_start", Integer, nullable=False))
    char_end: int = Field(sa_column=Column("char_end", Integer, nullable=False))
    message_uid: str | None = Field(default=None, sa_column=Column("message_uid", String))
    occurred_at: int | None = Field(default=None, sa_column=Column("occurred_at", Integer))
    text_hash: str = Field(sa_column=Column("text_hash", String, nullable=False))


class EmbeddingSpaceRow(CoreTable, table=True):
    """A space that vectors were made in; questions are asked in the one that is active.

    `state` says what becomes of one that is not: `filling` will be the active one when every
    passage has a vector there, `dormant` stays as it is, `leaving` is being removed.
    """

    __tablename__ = "embedding_spaces"
    __table_args__ = (UniqueConstraint("fingerprint"), AUTOINCREMENT)

    id: int | None = _id()
    fingerprint: str = Field(sa_column=Column("fingerprint", String, nullable=False))
    model: str = Field(sa_column=Column("model", String, nullable=False))
    revision: str = Field(sa_column=Column("revision", String, nullable=False))
    dim: int = Field(sa_column=Column("dim", Integer, nullable=False))
    query_prefix: str = Field(sa_column=Column("query_prefix", String, nullable=False))
    passage_prefix: str = Field(sa_column=Column("passage_prefix", String, nullable=False))
    active: bool = Field(default=False, sa_column=Column("active", Boolean, nullable=False))
    created_at: int = Field(sa_column=Column("created_at", Integer, nullable=False))
    state: str = Field(
        default="dormant",
        sa_column=Column("state", String, server_default="dormant", nullable=False),
    )


class Embedding(CoreTable, table=True):
    """The vector of a passage: `float32` little endian, 4 bytes a dimension, unit length.

    `text_hash` is that of the passage when it was embedded.
    """

    __tablename__ = "embeddings"
    __table_args__ = (UniqueConstraint("passage_id", "space_id"),)

    id: int | None = _id()
    passage_id: int = _reference("passage_id", "passages.id", nullable=False, cascade=True)
    space_id: int = _reference("space_id", "embedding_spaces.id", nullable=False, cascade=True)
    text_hash: str = Field(sa_column=Column("text_hash", String, nullable=False))
    vector: bytes = Field(sa_column=Column("vector", LargeBinary, nullable=False))


class MemoryEvent(CoreTable, table=True):
    """One audited change; it never holds text."""

    __tablename__ = "memory_events"
    __table_args__ = (Index("ix_events_memory", "memory_id"), AUTOINCREMENT)

    id: int | None = _id()
    memory_id: int = Field(sa_column=Column("memory_id", Integer, nullable=False))
    op: str = Field(sa_column=Column("op", String, nullable=False))
    actor: str = Field(sa_column=Column("actor", String, nullable=False))
    reason: str | None = Field(default=None, sa_column=Column("reason", String))
    at: int = Field(sa_column=Column("at", Integer, nullable=False))


class OutboxEntry(CoreTable, table=True):
    """A change that indexes outside of SQL have still to apply."""

    __tablename__ = "index_outbox"
    __table_args__ = (AUTOINCREMENT,)

    seq: int | None = Field(default=None, sa_column=Column("seq", Integer, primary_key=True))
    passage_id: int = Field(sa_column=Column("passage_id", Integer, nullable=False))
    op: str = Field(sa_column=Column("op", String, nullable=False))
    at: int = Field(sa_column=Column("at", Integer, nullable=False))


class IndexCheckpoint(CoreTable, table=True):
    """How far an index has followed the outbox."""

    __tablename__ = "index_checkpoints"

    index: str = Field(sa_column=Column("index", String, primary_key=True))
    seq: int = Field(sa_column=Column("seq", Integer, nullable=False))


class Tombstone(CoreTable, table=True):
    """Something forgotten, as a keyed hash, so that it does not come back."""

    __tablename__ = "tombstones"

    scope: str = Field(sa_column=Column("scope", String, primary_key=True))
    key_hmac: bytes = Field(sa_column=Column("key_hmac", LargeBinary, primary_key=True))
    at: int = Field(sa_column=Column("at", Integer, nullable=False))


class DeadLetter(CoreTable, table=True):
    """Bytes of a source that could not be taken, and why."""

    __tablename__ = "dead_letters"
    __table_args__ = (UniqueConstraint("source_id", "byte_start"), AUTOINCREMENT)

    id: int | None = _id()
    source_id: int = _reference("source_id", "sources.id", nullable=False, cascade=True)
    byte_start: int = Field(sa_column=Column("byte_start", Integer, nullable=False))
    byte_end: int = Field(sa_column=Column("byte_end", Integer, nullable=False))
    reason: str = Field(sa_column=Column("reason", String, nullable=False))
    tries: int = Field(default=1, sa_column=Column("tries", Integer, nullable=False))
    at: int = Field(sa_column=Column("at", Integer, nullable=False))


class Counter(CoreTable, table=True):
    """A running count, for example of redactions by kind."""

    __tablename__ = "counters"

    key: str = Field(sa_column=Column("key", String, primary_key=True))
    value: float = Field(sa_column=Column("value", Float, nullable=False))


class ProjectRuleRow(CoreTable, table=True):
    """What holds for a folder and all below it: nothing is remembered, or not for ever."""

    __tablename__ = "project_rules"

    key: str = Field(sa_column=Column("key", String, primary_key=True))
    path: str = Field(sa_column=Column("path", String, nullable=False))
    ignored: bool = Field(sa_column=Column("ignored", Boolean, nullable=False))
    keep_days: int | None = Field(default=None, sa_column=Column("keep_days", Integer))
    at: int = Field(sa_column=Column("at", Integer, nullable=False))


class PassedOver(CoreTable, table=True):
    """A session of a file of which something was not taken because of a rule; never its text."""

    __tablename__ = "passed_over"
    __table_args__ = (Index("ix_passed_over_session", "session"),)

    agent: str = Field(sa_column=Column("agent", String, primary_key=True))
    session: str = Field(sa_column=Column("session", String, primary_key=True))
    why: str = Field(sa_column=Column("why", String, primary_key=True))
    source_id: int = Field(
        sa_column=Column(
            "source_id", Integer, ForeignKey("sources.id", ondelete="CASCADE"), primary_key=True
        )
    )
    rule: str = Field(sa_column=Column("rule", String, nullable=False))


class SchemaMigration(CoreTable, table=True):
    """A migration that ran."""

    __tablename__ = "schema_migrations"

    owner: str = Field(sa_column=Column("owner", String, primary_key=True))
    number: int = Field(sa_column=Column("number", Integer, primary_key=True))
    applied_at: int = Field(sa_column=Column("applied_at", Integer, nullable=False))


def _table(model: type[CoreTable]) -> Table:
    """The SQLAlchemy table of a model, typed."""
    return CORE_METADATA.tables[str(model.__tablename__)]


projects = _table(Project)
sessions = _table(Session)
sources = _table(Source)
memories = _table(Memory)
passages = _table(Passage)
embedding_spaces = _table(EmbeddingSpaceRow)
embeddings = _table(Embedding)
memory_events = _table(MemoryEvent)
index_outbox = _table(OutboxEntry)
index_checkpoints = _table(IndexCheckpoint)
tombstones = _table(Tombstone)
dead_letters = _table(DeadLetter)
counters = _table(Counter)
project_rules = _table(ProjectRuleRow)
passed_over = _table(PassedOver)
schema_migrations = _table(SchemaMigration)
