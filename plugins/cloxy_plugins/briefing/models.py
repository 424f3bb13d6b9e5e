"""What goes into a briefing and what comes out."""

from typing import Literal

from pydantic import BaseModel, Field


class BriefInput(BaseModel):
    """Whose beginning it is."""

    cwd: str = Field(min_length=1, max_length=4096, description="Working directory of the session.")
    budget: int = Field(
        2000, ge=300, le=9000, description="Characters of the block at most, its fence included."
    )


class BriefItem(BaseModel):
    """One line of the block."""

    id: int = Field(description="The memory that it comes from.")
    kind: Literal["note", "decision", "session"] = Field(
        description="A text that was to be remembered, a decision, or what was worked on last."
    )
    ts: str | None = Field(description="When, with the server's offset.")
    text: str = Field(description="What the line says, cut.")


class BriefOutput(BaseModel):
    """The block, and what it is made of."""

    project: str | None = Field(description="The project; null when the folder belongs to none.")
    text: str = Field(description="The block, fenced as data; empty when there is nothing to say.")
    items: list[BriefItem] = Field(description="Its lines.")
