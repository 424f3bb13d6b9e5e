"""What the operations take and return, as JSON.

Names and shapes are those of Cloxy 5.1, so that its clients go on working; what is new is added
beside them.
"""

import re
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

MOST_CHARACTERS = 2_000_000
MOST_QUERY_CHARACTERS = 10_000

_WHOLE_NUMBERS: Final = (int, int | None)
# What the library lets pass in a number as text: `1_0` would be 10.
_NO_DIGITS: Final = re.compile(r"[\s_]")


class Input(BaseModel):
    """Base of all inputs; unknown fields are ignored, as 5.1 did."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _a_number_is_written_as_one(cls, value: object, info: ValidationInfo) -> object:
        """Take nothing else for a whole number: `true` would be the memory 1, or a count of 1."""
        field = cls.model_fields[info.field_name or ""]
        if field.annotation not in _WHOLE_NUMBERS:
            return value
        if isinstance(value, bool) or (isinstance(value, str) and _NO_DIGITS.search(value)):
            raise ValueError("Input should be a whole number, written in digits")
        return value


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
    """One result; `rank` is its place in the whole answer, from 1."""

    rank: int
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
        None,
        min_length=1,
        description="Only this folder, inside a watched one; the owner may name any folder.",
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
    passed_over: list[FileErrorOutput] = []


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
    dirs_missing: list[str]
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


class ForgetMemoryInput(MemoryIdInput):
    """One memory to forget."""

    dry_run: bool = Field(False, description="Only count.")


class StillHeldOutput(BaseModel):
    """Where forgotten text still is: a transcript, backup, export, or another session or memory."""

    kind: str
    path: str


class ErasedOutput(BaseModel):
    """How far forgotten text is gone from files.

    `pending` says that bytes of it are still in Cloxy's own files; it is finished behind.
    """

    pending: bool = False
    pending_reason: str | None = None
    still_in: list[StillHeldOutput] = []
    backups_rewritten: int = 0
    backups_removed: list[str] = []


class DeletedOutput(ErasedOutput):
    """What was deleted; copies of its text went with it."""

    deleted: int
    memories: int
    messages: int
    dry_run: bool = False


class ForgetInput(Input):
    """A source, a session or a project to forget: exactly one of them."""

    source_prefix: str | None = Field(
        None, max_length=4096, description="A source label; whole segments, and all below it."
    )
    session: str | None = Field(
        None, max_length=4096, description="A session, by the agent's own id of it."
    )
    project: str | None = Field(
        None, max_length=4096, description="A project: its path, or the name of its last folder."
    )
    dry_run: bool = Field(False, description="Only count.")
    expected: int | None = Field(
        None, ge=0, description="Delete only if there are exactly so many memories; else refuse."
    )


class ForgetOutput(ErasedOutput):
    """How many memories were deleted, or would be."""

    deleted: int
    source_prefix: str
    session: str | None = None
    project: str | None = None
    messages: int
    dry_run: bool


class ReindexOutput(BaseModel):
    """The rebuilt indexes."""

    status: str
    vector_index_size: int
    keyword_index_size: int
    indexes: dict[str, int]


class MemoryOutput(BaseModel):
    """One memory as it stands; `roles` and `authors` name whose turns are in it."""

    id: int
    uid: str
    content: str
    source: str
    project: str | None
    session_id: str | None
    title: str | None
    roles: list[str]
    authors: list[str]
    ts_start: str | None
    ts_end: str | None
    metadata: dict[str, Any]


class SessionInput(Input):
    """One conversation, or a stretch of it."""

    id: str = Field(min_length=1, max_length=4096, description="The agent's own id of it.")
    start: int = Field(
        0, ge=0, le=2**63 - 1, description="Where to begin: the `next` of the stretch before."
    )
    characters: int = Field(
        20_000, ge=1, le=1_000_000, description="About how much text; one memory at least."
    )


class SessionOutput(BaseModel):
    """A stretch of a conversation; `next` is where the following one begins."""

    id: str
    agent: str
    title: str | None
    project: str | None
    parent: str | None
    started_at: str | None
    ended_at: str | None
    memories: list[MemoryOutput]
    next: int | None


class StatusOutput(BaseModel):
    """How the server is (as `GET /health` says), and counts of the whole store."""

    health: dict[str, Any]
    stats: StatsOutput
