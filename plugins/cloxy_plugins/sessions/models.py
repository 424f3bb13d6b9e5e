"""What the operations take and return, as JSON."""

import re
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

MOST_SESSIONS: Final = 500
MOST_MESSAGES: Final = 1_000
MOST_CHARACTERS: Final = 1_000_000

_WHOLE_NUMBERS: Final = (int, int | None)
# What the library lets pass in a number as text: `1_0` would be 10.
_NO_DIGITS: Final = re.compile(r"[\s_]")


class Input(BaseModel):
    """Base of all inputs; unknown fields are ignored."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _a_number_is_written_as_one(cls, value: object, info: ValidationInfo) -> object:
        """Take nothing else for a whole number, such as `true` for 1."""
        field = cls.model_fields[info.field_name or ""]
        if field.annotation not in _WHOLE_NUMBERS:
            return value
        if isinstance(value, bool) or (isinstance(value, str) and _NO_DIGITS.search(value)):
            raise ValueError("Input should be a whole number, written in digits")
        return value


class Choice(Input):
    """Which sessions are wanted."""

    words: str | None = Field(
        None, max_length=1_000, description="Words that all stand in the title, in any order."
    )
    project: str | None = Field(
        None,
        max_length=4096,
        description="A path (that folder or below) or the name of one folder of it.",
    )
    agent: str | None = Field(
        None, max_length=200, description="Name of the agent, such as claude-code or codex."
    )
    since: str | None = Field(
        None,
        max_length=200,
        description="Not before: a date, an instant, or words such as 'last week'.",
    )
    until: str | None = Field(
        None, max_length=200, description="Not after; a date includes its whole day."
    )
    all: bool = Field(
        False, description="Include sessions of sub-agents and of programs that spoke for a person."
    )
    limit: int = Field(50, ge=1, le=MOST_SESSIONS, description="Most sessions that are shown.")


class SessionsInput(Choice):
    """Which sessions are wanted, and where to go on."""

    tz: str | None = Field(
        None, max_length=64, description="The reader's time zone, as in Europe/Berlin or +02:00."
    )
    cursor: str | None = Field(
        None, max_length=400, description="The `next` of the answer before, with the same filters."
    )


class ListedOutput(BaseModel):
    """One session of a list; `relation` is what it is to its parent."""

    id: str
    agent: str
    title: str | None
    project: str | None
    branch: str | None
    parent: str | None
    relation: str | None
    program: bool
    started_at: str | None
    ended_at: str | None
    messages: int


class SessionsOutput(BaseModel):
    """Sessions, the newest first; `next` leads to the following ones, null after the last."""

    sessions: list[ListedOutput]
    next: str | None


class SessionArguments(Input):
    """A session, and where in it to begin."""

    key: str = Field(
        min_length=1,
        max_length=4096,
        description="The agent's own id of it, or the beginning of it: 6 characters or more.",
    )
    agent: str | None = Field(
        None, max_length=200, description="Name of the agent, where several have such an id."
    )
    around: int | None = Field(
        None,
        ge=1,
        le=2**63 - 1,
        description="Id of a memory: begin shortly before the place where it was said.",
    )
    start: int = Field(
        1, ge=1, le=2**63 - 1, description="Number of the message to begin with, from 1."
    )


class SessionInput(SessionArguments):
    """A session, where in it to begin, and how much of it is wanted."""

    rest: str | None = Field(
        None,
        max_length=4096,
        description="What follows in the id behind its first slash, as with sub-agents.",
    )
    limit: int = Field(200, ge=1, le=MOST_MESSAGES, description="Most messages that are shown.")
    characters: int = Field(
        100_000,
        ge=1,
        le=MOST_CHARACTERS,
        description="About how much text; one message at least, and whole.",
    )
    own: bool = Field(
        True, description="Include the text of what Cloxy's own model answered; not for a model."
    )


class MessageOutput(BaseModel):
    """One message, verbatim.

    `approximate` says that the time is not its own but one near it, `damaged` that its text is no
    longer what was stored and is therefore left out, `withheld` that it is Cloxy's own model's and
    was not asked for.
    """

    number: int
    role: str
    author: str
    at: str | None
    approximate: bool
    model: str | None
    text: str
    damaged: bool
    withheld: bool
    memories: list[int]


class ChildOutput(BaseModel):
    """A session that grew out of another."""

    id: str
    relation: str | None
    title: str | None
    started_at: str | None


class ResumeOutput(BaseModel):
    """The command that goes on with a session; `line` is it for a shell, in its folder."""

    arguments: list[str]
    folder: str | None
    line: str


class SessionOutput(BaseModel):
    """A stretch of a session.

    `here` is the number of the message that was asked for by its memory, `next` that of the
    message after this stretch; null when there is none.
    """

    id: str
    agent: str
    title: str | None
    project: str | None
    cwd: str | None
    branch: str | None
    parent: str | None
    relation: str | None
    program: bool
    started_at: str | None
    ended_at: str | None
    children: list[ChildOutput]
    resume: ResumeOutput | None
    total: int
    messages: list[MessageOutput]
    here: int | None
    next: int | None
