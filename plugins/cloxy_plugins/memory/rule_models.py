"""What the operations on rules of projects take and return."""

from pydantic import BaseModel, Field

from cloxy_plugins.memory.models import Input

MOST_DAYS = 36_500


class RuleOutput(BaseModel):
    """What holds for a project and all below it."""

    project: str
    ignored: bool
    keep_days: int | None


class RulesOutput(BaseModel):
    """All rules, by path."""

    rules: list[RuleOutput]


class IgnoreInput(Input):
    """A project of which nothing is to be remembered."""

    project: str = Field(max_length=4096, description="Its path, or the name of its last folder.")
    remove: bool = Field(False, description="Remember it again.")
    forget: bool = Field(False, description="Also forget what is stored of it.")


class IgnoreOutput(BaseModel):
    """Whether it is ignored now, and how many memories of it were deleted."""

    project: str
    ignored: bool
    deleted: int = 0
    pending: bool = False


class RetentionInput(Input):
    """How long what is said in a project is kept."""

    project: str = Field(max_length=4096, description="Its path, or the name of its last folder.")
    days: int | None = Field(None, ge=1, le=MOST_DAYS, description="Days; null for ever.")


class ExpireInput(Input):
    """Whether to remove what is too old now, or only to count it."""

    dry_run: bool = Field(True, description="Only count.")


class ExpiredOutput(BaseModel):
    """How much of a project is too old."""

    project: str
    messages: int


class ExpireOutput(BaseModel):
    """What was removed, or would be."""

    dry_run: bool
    expired: list[ExpiredOutput]
