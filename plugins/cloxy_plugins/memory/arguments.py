"""What tools and prompts take: fewer and plainer than what the REST endpoints do."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from cloxy_plugins.memory.models import (
    MOST_CHARACTERS,
    MOST_QUERY_CHARACTERS,
    Input,
)

DECISIONS = 8
"""Memories that a prompt is given."""

LAST = "what was done last, what was decided and why, what is open, what comes next"

_PROJECT = "A path (that folder and all below it) or the name of one folder of it."


class RecallArguments(Input):
    """A question to memory."""

    query: str = Field(
        max_length=MOST_QUERY_CHARACTERS,
        description="What to look for, in the words of the person; names and identifiers help.",
    )
    top_k: int = Field(5, ge=1, le=100, description="Most memories that are shown.")
    project: str | None = Field(None, max_length=4096, description=_PROJECT)
    since: str | None = Field(
        None,
        max_length=200,
        description="Not before: a date, an instant, or words such as 'last week'.",
    )
    until: str | None = Field(
        None, max_length=200, description="Not after; a date includes its whole day."
    )
    mode: Literal["hybrid", "dense", "keyword"] = Field(
        "hybrid", description="By words and meaning, by meaning only, or by words only."
    )


class RememberArguments(Input):
    """Something to remember."""

    text: str = Field(
        min_length=1,
        max_length=MOST_CHARACTERS,
        description="Whole sentences that make sense without this conversation.",
    )
    source: str = Field("mcp", max_length=4096, description="A label to find or forget it by.")
    project: str | None = Field(
        None, max_length=4096, description="Path of the project that it is about."
    )


class ForgetArguments(Input):
    """A memory to forget."""

    memory_id: int = Field(ge=1, le=2**63 - 1, description="The id that `recall` shows.")


class ForgetSourceArguments(Input):
    """A source to forget, in two steps."""

    source_prefix: str = Field(
        min_length=1,
        max_length=4096,
        description="A source label; those that go on after a colon are meant too.",
    )
    confirm_count: int | None = Field(
        None,
        ge=0,
        description="Leave it out to have only counted what would go. To delete, give that count.",
    )


class DecisionArguments(Input):
    """What a decision was about."""

    topic: str = Field(min_length=1, max_length=1000, description="What the decision was about.")
    project: str | None = Field(None, max_length=4096, description="Only in this project.")


class ResumeArguments(Input):
    """A project to go on with."""

    project: str = Field(
        min_length=1, max_length=4096, description="Path of the project, or its folder's name."
    )


def to_memory_id(given: ForgetArguments) -> Mapping[str, object]:
    """Fields of the operation that forgets one memory."""
    return {"id": given.memory_id}


def to_forget_source(given: ForgetSourceArguments) -> Mapping[str, object]:
    """Fields of the operation that forgets a source: without a count it only counts."""
    return {
        "source_prefix": given.source_prefix,
        "dry_run": given.confirm_count is None,
        "expected": given.confirm_count,
    }


def to_decision(given: DecisionArguments) -> Mapping[str, object]:
    """Fields of `recall` that find what was decided."""
    return {
        "query": f"what did we decide about {given.topic}",
        "project": given.project or None,
        "top_k": DECISIONS,
    }


def to_resume(given: ResumeArguments) -> Mapping[str, object]:
    """Fields of `recall` that find where a project stands."""
    return {"query": LAST, "project": given.project, "top_k": DECISIONS, "recency_weight": 0.8}


def ask_decision(given: DecisionArguments) -> str:
    """The person's question."""
    where = f" in the project {one_line(given.project)}" if given.project else ""
    return (
        f"What did we decide about {one_line(given.topic)}{where}? Tell the decision, its reason "
        "and its date, from the memories below; say so if they do not answer it, and ask `recall` "
        "with other words before you give up."
    )


def ask_resume(given: ResumeArguments) -> str:
    """The person's question."""
    return (
        f"Let us go on with the project {one_line(given.project)}. From the memories below, tell "
        "me in a few lines where we stopped, what was decided and what is open, with dates; then "
        "suggest the next step. Ask `recall` for whatever is missing."
    )


def one_line(text: str) -> str:
    """A text without line breaks and doubled spaces."""
    return " ".join(text.split())
