"""What `GET /sources` returns."""

from pydantic import BaseModel, Field


class PlaceOutput(BaseModel):
    """A folder where a source looks."""

    path: str
    exists: bool


class SourceFailureOutput(BaseModel):
    """Something that a source could not look at."""

    place: str
    reason: str


class SourceOutput(BaseModel):
    """One kind of session log, and how it stands."""

    name: str = Field(description="Name of the part, as in providers.disabled.")
    agent: str = Field(description="Agent whose sessions these are.")
    title: str = Field(description="The agent's name, for people.")
    plugin: str = Field(description="Plugin that brings it.")
    enabled: bool = Field(description="Whether it is read.")
    found: bool = Field(description="Whether one of its folders exists.")
    why: str = Field(description="Why it is not read, or what is to be known of it.")
    places: list[PlaceOutput] = Field(description="Folders where it looks.")
    items: int = Field(description="Files, or conversations of a store, that are followed.")
    messages: int = Field(description="Messages stored from them.")
    sessions: int = Field(description="Sessions stored of the agent.")
    last_success: str | None = Field(description="When a look at it last ended well.")
    unknown: dict[str, int] = Field(
        description="Record types that were not understood since start, with counts."
    )
    bad_lines: int = Field(description="Damaged lines passed over.")
    drift: list[str] = Field(description="Items with records but no message; at most twenty.")
    failures: list[SourceFailureOutput] = Field(
        description="What could not be looked at; at most twenty."
    )
    passed_over: list[SourceFailureOutput] = Field(
        description="What is left out by rule, such as links; at most twenty."
    )
    resume: list[str] = Field(
        description="Command that goes on with a session; {session} stands for its id."
    )


class SourcesOutput(BaseModel):
    """All sources, by agent."""

    sources: list[SourceOutput]
