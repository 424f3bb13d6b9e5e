"""A question on its way to memories.

Times are integer milliseconds since the epoch, UTC. Scores have the unit that the docstring
says; higher is better everywhere.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from typing import Literal

from cloxy_hookspecs.types.ingest import Author, Role
from cloxy_hookspecs.types.vectors import Float32Vector

Mode = Literal["hybrid", "dense", "keyword"]
Group = Literal["memory", "passage"]
Order = Literal["relevance", "newest"]


@dataclass(frozen=True, slots=True)
class Window:
    """A span of time, half open: `since <= t < until`; None means unbounded."""

    since: int | None = None
    until: int | None = None


@dataclass(frozen=True, slots=True)
class Filters:
    """What the caller demands; nothing outside of it is returned.

    Attributes:
        project: a path (with a slash: that path or below) or a word (a whole path component).
        window: when it was said; items without a time are outside every bounded window.
        source: prefix of the source label, whole segments.
        roles: any of these; empty means all.
        authors: any of these; empty means all but `own`, which has to be asked for by name.
        subagents: whether what sub-agents said counts too, when `authors` is empty.
    """

    project: str | None = None
    window: Window = Window()
    source: str | None = None
    roles: tuple[Role, ...] = ()
    authors: tuple[Author, ...] = ()
    subagents: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """One question, validated.

    Attributes:
        text: as asked.
        top_k: results wanted, of the chosen group.
        mode: which kinds of channel may answer.
        filters: hard conditions.
        now: the asker's present.
        zone: the asker's time zone, for words such as "yesterday".
        group: what counts as one result.
        recency_weight: 0..1 as the caller gave it; None leaves it to the fuser's default.
        search_text: soft; the text to search for, without words that were understood otherwise.
        window: soft; a span of time that the text speaks of.
        window_firm: soft; whether the asker surely means when it was said ("yesterday"), not when
            it happened.
        browse: soft; whether the text asks for that span and for nothing else.
        literals: soft; compound literals of the text (`--no-verify`, `a.b:80`), verbatim.
        order: soft; "newest" when the text asks for the latest.
        rerank: whether a reranker reads the best again; None leaves it to the settings.
    """

    text: str
    top_k: int
    now: int
    mode: Mode = "hybrid"
    filters: Filters = Filters()
    zone: tzinfo = UTC
    group: Group = "memory"
    recency_weight: float | None = None
    search_text: str = ""
    window: Window | None = None
    window_firm: bool = False
    browse: bool = False
    literals: tuple[str, ...] = ()
    order: Order = "relevance"
    rerank: bool | None = None


@dataclass(frozen=True, slots=True)
class Probe:
    """What a channel is asked.

    Attributes:
        text: words to search for.
        literals: compound literals, verbatim.
        filters: hard conditions, a soft window already merged in; `authors` is resolved, so
            that a channel need not know about `subagents`.
        vector: the question embedded; None when there is no vector of it.
    """

    text: str
    literals: tuple[str, ...]
    filters: Filters
    vector: Float32Vector | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """One passage found by one channel; score in the channel's own unit, higher is better."""

    passage_id: int
    score: float


@dataclass(frozen=True, slots=True)
class Found:
    """What one channel answers.

    Attributes:
        hits: best first, every passage once.
        notes: things that the asker should know (a time limit that was reached).
    """

    hits: Sequence[Hit] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Scored:
    """One passage after fusion.

    Attributes:
        passage_id: the passage.
        score: fused score.
        parts: what it is made of, by channel (normalised share of each).
    """

    passage_id: int
    score: float
    parts: Mapping[str, float] = field(default_factory=dict[str, float])


@dataclass(frozen=True, slots=True)
class CandidateBatch:
    """Candidates as columns, each of length n, memory columns repeated per passage.

    Attributes:
        ids: passage ids.
        base: fused scores.
        texts: verbatim text of each passage.
        headers: header under which each passage is indexed.
        occurred_at: when it was said; None when unknown.
        age_days: days before the query's present, never negative; None when unknown.
        roles: role of each passage.
        authors: author of each passage.
    """

    ids: Sequence[int]
    base: Sequence[float]
    texts: Sequence[str]
    headers: Sequence[str]
    occurred_at: Sequence[int | None]
    age_days: Sequence[float | None]
    roles: Sequence[Role]
    authors: Sequence[Author]


@dataclass(frozen=True, slots=True)
class IndexRow:
    """A passage as an index sees it.

    Attributes:
        passage_id: the passage.
        header: `[date · project · title]` and who spoke; indexed with the text, not part of it.
        text: verbatim text.
        before: end of the preceding passage of the session, at most 150 characters.
        after: start of the following passage, at most 150 characters.
    """

    passage_id: int
    header: str
    text: str
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class IndexChange:
    """One change to an index: a row to put (insert or replace), or a passage to remove."""

    passage_id: int
    row: IndexRow | None


@dataclass(frozen=True, slots=True)
class PassageHit:
    """A passage of a result, with its place and why it was found.

    Attributes:
        id: passage id.
        text: verbatim text.
        role: whose turn it was.
        author: who wrote it.
        at: when it was said.
        char_start: character offset in the memory's content.
        char_end: character offset after it.
        score: final score.
        parts: what the score is made of, by name.
    """

    id: int
    text: str
    role: Role
    author: Author
    at: int | None
    char_start: int
    char_end: int
    score: float
    parts: Mapping[str, float] = field(default_factory=dict[str, float])


@dataclass(frozen=True, slots=True)
class RecallHit:
    """One result.

    Attributes:
        id: memory id.
        uid: stable id of the memory.
        content: the memory's text, without header.
        header: `[date · project · title]`, or empty.
        source: source label.
        project: project path; None when it has none.
        session: session key; None when it has none.
        sessions: keys of all sessions that hold the same text, the first owner first.
        at_from: when its first message was said.
        at_to: when its last message was said.
        metadata: further facts.
        score: final score; only the order means something.
        similarity: cosine of the best passage and the question; None when it is not known.
        keyword_rank: 1-based rank in the keyword channel; None when it was not found there.
        recency: recency factor that was applied, 0..1.
        passages: best passages first.
    """

    id: int
    uid: str
    content: str
    header: str
    source: str
    project: str | None
    session: str | None
    sessions: tuple[str, ...]
    at_from: int | None
    at_to: int | None
    metadata: Mapping[str, object]
    score: float
    similarity: float | None
    keyword_rank: int | None
    recency: float
    passages: tuple[PassageHit, ...]


@dataclass(frozen=True, slots=True)
class Recall:
    """The answer.

    Attributes:
        query: the question with its soft fields filled in.
        hits: best first.
        searched: memories that the filters left to search in.
        channels: channels that answered.
        notes: things that the asker should know (a channel that could not answer, a time limit
            that was reached).
    """

    query: Query
    hits: tuple[RecallHit, ...]
    searched: int
    channels: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
