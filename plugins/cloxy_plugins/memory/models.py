"""What the operations take and return, as JSON.

Names and shapes are those of Cloxy 5.1, so that its clients go on working; what is new is added
beside them.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

MOST_CHARACTERS = 2_000_000
MOST_QUERY_CHARACTERS = 10_000


class Input(BaseModel):
    """Base of all inputs; unknown fields are ignored, as 5.1 did."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)


class Nothing(Input):
    """An operation that takes nothing."""


class RecallInput(Input):
    """A question."""

    query: str = Field(max_length=MOST_QUERY_CHARACTERS, description="What to look for.")
    top_k: int = Field(5, ge=1, le=100, description="Most results.")
    mode: str = Field("hybrid", description="hybrid, dense or keyword.")
    project: str | None = Field(
        None,
        max_length=4096,
        description="A path (that folder or below) or the name of one folder of it.",
    )
    since: str | int | float | None = Field(
        None, description="Not before: a date, an instant, or words such as 'last week'."
    )
    until: str | int | float | None = Field(
        None, description="Not after; a date includes its whole day."
    )
    tz: str | None = Field(
        None, max_length=64, description="The reader's time zone, as in Europe/Berlin or +02:00."
    )
    source: str | None = Field(None, max_length=4096, description="Source label or its start.")
    role: str | None = Field(None, description="user, assistant, summary or note.")
    group: Literal["memory", "passage"] = Field("memory", description="What one result is.")
    subagents: bool = Field(False, description="Include what sub-agents said.")
    recency_weight: float | None = Field(
        None, ge=0, le=1, description="How much newer counts more; by default the product's own."
    )
    rerank: bool | None = Field(
        None, description="Whether a reranker reads the best again; by default as set."
    )


class PassageOutput(BaseModel):
    """A passage of a result and why it was found."""

    id: int
    text: str
    role: str
    author: str
    ts: str | None
    char_start: int
    char_end: int
    score: float
    parts: dict[str, float]


class HitOutput(BaseModel):
    """One result."""

    id: int
    uid: str
    content: str
    header: str
    source: str
    project: str | None
    session_id: str | None
    sessions: list[str]
    ts_start: str | None
    ts_end: str | None
    metadata: dict[str, Any]
    score: float
    similarity: float | None
    keyword_rank: int | None
    recency: float
    rerank_score: float | None
    passages: list[PassageOutput]


class RecallOutput(BaseModel):
    """The answer; an empty list of results means that nothing relevant was found."""

    results: list[HitOutput]
    query: str
    mode: str
    searched: int
    channels: list[str]
    notes: list[str]


class IngestTextInput(Input):
    """A text to remember."""

    text: str = Field(min_length=1, max_length=MOST_CHARACTERS)
    source: str = Field("manual", max_length=4096)
    project: str | None = Field(None, max_length=4096)
    metadata: dict[str, Any] | None = None


class IngestTextOutput(BaseModel):
    """What was stored; `ids` names existing memories for exact copies."""

    chunks_stored: int
    total_chunks: int
    ids: list[int]


class IngestConvosInput(Input):
    """A pass over the session logs."""

    convo_dir: str | None = Field(
        None, min_length=1, description="Only this folder, inside a watched one."
    )
    force: bool = Field(False, description="Read every file from its start.")


class FileErrorOutput(BaseModel):
    """A file that could not be read."""

    file: str
    error: str


class IngestConvosOutput(BaseModel):
    """What a pass did."""

    files_found: int
    files_processed: int
    files_skipped: int
    chunks_stored: int
    chunks_duplicate: int
    messages_added: int
    bad_lines: int
    seconds: float
    errors: list[FileErrorOutput]
    drift: list[str]


class ProjectOutput(BaseModel):
    """One project."""

    project: str
    chunks: int
    sessions: int
    first_seen: str | None
    last_seen: str | None


class ProjectsOutput(BaseModel):
    """All projects, last seen first."""

    projects: list[ProjectOutput]


class IngestStatusOutput(BaseModel):
    """What the watcher is doing."""

    running: bool
    dirs: list[str]
    interval: float
    scans: int
    scanning: bool
    current_file: str | None
    files_this_scan: int
    files_total: int
    chunks_this_scan: int
    last_scan_at: str | None
    last_scan_seconds: float | None
    last_result: IngestConvosOutput | None
    chunks_stored_total: int
    last_error: str | None
    files_tracked: int
    events: bool
    bad_lines: int
    drift: list[str]
    warnings: list[str]
    unknown_records: dict[str, int]


class StatsOutput(BaseModel):
    """Counts of the whole store."""

    total_memories: int
    with_embeddings: int
    vector_index_size: int
    keyword_index_size: int
    passages: int
    indexes: dict[str, int]
    sources: dict[str, int]
    redactions: dict[str, int]
    embed_model: str
    db_path: str
    vector_engine: str
    keyword_engine: str
    cache_size: int
    uptime: int


class MemoryIdInput(Input):
    """One memory."""

    id: int = Field(ge=1, le=2**63 - 1)


class DeletedOutput(BaseModel):
    """What was deleted; copies of its text went with it."""

    deleted: int
    memories: int
    messages: int


class ForgetInput(Input):
    """A source to forget."""

    source_prefix: str = Field(max_length=4096)
    dry_run: bool = Field(False, description="Only count.")


class ForgetOutput(BaseModel):
    """How many memories were deleted, or would be."""

    deleted: int
    source_prefix: str
    messages: int
    dry_run: bool


class ReindexOutput(BaseModel):
    """The rebuilt indexes."""

    status: str
    vector_index_size: int
    keyword_index_size: int
    indexes: dict[str, int]
