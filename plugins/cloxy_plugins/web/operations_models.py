"""What the operations on pages take and return, as JSON.

Names and shapes are those of Cloxy 5.1, so that its clients go on working; what is new is added
beside them.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

MOST_URL = 8_192
MOST_PATTERN = 1_000
MOST_CLAIM = 4_000
MOST_PAGES = 8
MOST_MATCHES = 1_000

Agreement = Literal["same", "different", "absent"]
Url = Annotated[str, Field(min_length=1, max_length=MOST_URL)]


class Input(BaseModel):
    """Base of all inputs; unknown fields are ignored, as 5.1 did."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)


class PageInput(Input):
    """A page."""

    url: Url = Field(description="Address of a page of the public web, http or https.")
    mode: str = Field("clean", description="clean, markdown, raw or extract.")
    selector: str | None = Field(
        None, max_length=MOST_URL, description="CSS selector; mode extract needs one."
    )


class FetchInput(PageInput):
    """A page, and what to do with it."""

    headers: dict[str, str] | None = Field(
        None, description="Headers to send along; never to another origin."
    )
    remember: bool = Field(False, description="Keep the text as a memory, with its source.")
    project: str | None = Field(
        None, max_length=4096, description="Project of that memory, when there is one."
    )


class Kept(BaseModel):
    """What became of a page that was to be remembered; `ids` names known memories, too."""

    ids: list[int]
    added: int
    source: str


class FetchOutput(BaseModel):
    """A page."""

    url: str
    final_url: str
    status: int
    mode: str
    from_cache: bool
    fetched_at: str
    content: str
    length: int | None = Field(
        None, exclude_if=lambda value: value is None, description="Characters; not for mode raw."
    )
    matches: int | None = Field(
        None, exclude_if=lambda value: value is None, description="Elements found; mode extract."
    )
    elements: list[str] | None = Field(
        None, exclude_if=lambda value: value is None, description="Their texts; mode extract."
    )
    title: str
    media_type: str
    charset: str
    truncated: bool
    flags: list[str]
    removed: dict[str, int]
    notes: list[str]
    sha256: str
    remembered: Kept | None = Field(None, exclude_if=lambda value: value is None)


class ReadOutput(BaseModel):
    """A page in parts that join to its text."""

    url: str
    final_url: str
    title: str
    length: int
    fetched_at: str
    truncated: bool
    flags: list[str]
    notes: list[str]
    parts: list[str]


class SearchInput(Input):
    """Something to look for in a page."""

    url: Url = Field(description="Address of a page of the public web, http or https.")
    pattern: str = Field(
        min_length=1,
        max_length=MOST_PATTERN,
        description="What to find in a line; upper and lower case count as the same.",
    )
    regex: bool = Field(False, description="Whether it is a regular expression.")
    offset: int = Field(0, ge=0, le=10_000_000, description="Lines that match to pass over.")
    limit: int = Field(MOST_MATCHES, ge=1, le=MOST_MATCHES, description="Most lines shown.")


class LineMatch(BaseModel):
    """A line that matches, counted from 0, with two lines on either side."""

    line: int
    context: str


class SearchOutput(BaseModel):
    """Lines that match; `next_offset` tells where the next ones begin."""

    url: str
    pattern: str
    matches: list[LineMatch]
    total_matches: int
    next_offset: int | None
    final_url: str
    from_cache: bool
    fetched_at: str
    searched: Literal["clean", "raw"]
    truncated: bool
    flags: list[str]
    notes: list[str]


class VerifyInput(Input):
    """A claim, and pages that may speak of it."""

    url: Url | None = Field(None, description="A page.")
    urls: list[Url] | None = Field(
        None, min_length=1, max_length=MOST_PAGES, description="Several pages, instead of `url`."
    )
    claim: str = Field(min_length=1, max_length=MOST_CLAIM, description="What is claimed.")
    top_k: int = Field(3, ge=1, le=50, description="Most passages shown, of all pages together.")


class Compared(BaseModel):
    """A number, date or version of the claim, and what a passage has of the kind."""

    claim: str
    status: Agreement
    page: list[str]


class PassageMatch(BaseModel):
    """A passage that may speak of the claim; no verdict."""

    passage: str
    similarity: float | None
    chunk_index: int
    position_pct: float
    quote: str
    start: int
    end: int
    url: str
    overlap: float
    figures: list[Compared]
    mismatch: bool


class Failure(BaseModel):
    """Why one of several pages could not be read."""

    code: str
    message: str
    hint: str | None


class VerifiedPage(BaseModel):
    """One page of several."""

    url: str
    final_url: str | None
    from_cache: bool | None
    fetched_at: str | None
    chunks: int
    best_similarity: float | None
    truncated: bool
    flags: list[str]
    note: str | None
    error: Failure | None


class VerifyOutput(BaseModel):
    """Passages nearest to the claim, best first; fields of one page are null for several."""

    url: str | None
    final_url: str | None
    claim: str
    from_cache: bool | None
    fetched_at: str | None
    matches: list[PassageMatch]
    total_chunks_searched: int
    best_similarity: float | None
    note: str | None = Field(None, exclude_if=lambda value: value is None)
    pages: list[VerifiedPage]
