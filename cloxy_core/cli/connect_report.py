"""What `cloxy connect` was asked for, and what it has to tell."""

from dataclasses import dataclass, field
from pathlib import Path

from cloxy_core.connect.client import Client
from cloxy_core.connect.plan import Place, Step
from cloxy_core.connect.showing import summary


@dataclass(frozen=True, slots=True)
class Options:
    """What was asked for at the command line."""

    clients: tuple[str, ...]
    undo: bool
    http: bool
    name: str
    replace: bool
    project: Path | None


@dataclass(slots=True)
class Report:
    """One client's file: what is to be done, and how it went.

    Attributes:
        client: the client.
        step: the plan; None when there is an error.
        error: why it cannot be done, in words; None when it can.
        written: whether it was done.
        extra_notes: more for a person to know.
    """

    client: Client
    place: Place | None
    step: Step | None = None
    error: str | None = None
    written: bool = False
    extra_notes: tuple[str, ...] = ()
    lines: list[str] = field(default_factory=list)

    @property
    def title(self) -> str:
        """The client's name."""
        return self.client.title

    @property
    def path(self) -> str:
        """The file; empty when there is none."""
        return "" if self.place is None else str(self.place.path)

    @property
    def pending(self) -> bool:
        """Whether something is to be written."""
        return self.step is not None and self.step.changes and not self.written

    @property
    def summary(self) -> str:
        """What is to be done, in words."""
        return "" if self.step is None else summary(self.step)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know."""
        return (*(self.step.notes if self.step else ()), *self.extra_notes)

    @property
    def next_step(self) -> str:
        """What a person does so that the client sees the change."""
        return self.client.next_step

    @property
    def check(self) -> str:
        """How a person sees that it worked."""
        return self.client.check

    def as_object(self) -> dict[str, object]:
        """For `--json`."""
        return {
            "client": self.client.key,
            "title": self.title,
            "scope": None if self.place is None else self.place.scope,
            "path": self.path or None,
            "action": None if self.step is None else str(self.step.action),
            "written": self.written,
            "change": self.lines,
            "notes": list(self.notes),
            "error": self.error,
            "next_step": self.next_step,
            "documentation": self.client.documentation,
            "looked_up": self.client.looked_up,
        }


@dataclass(frozen=True, slots=True)
class State:
    """A client and how it stands, for `--list`."""

    key: str
    title: str
    sign: str | None
    state: str
    path: str

    def as_object(self) -> dict[str, object]:
        """For `--json`."""
        return {
            "client": self.key,
            "title": self.title,
            "found_by": self.sign,
            "connected": self.state,
            "path": self.path or None,
        }


@dataclass(frozen=True, slots=True)
class Snippet:
    """What belongs into a client's file, for `--print`."""

    client: Client
    where: str
    text: str
    notes: tuple[str, ...]

    @property
    def title(self) -> str:
        """The client's name."""
        return self.client.title

    def as_object(self) -> dict[str, object]:
        """For `--json`."""
        return {
            "client": self.client.key,
            "title": self.title,
            "path": self.where,
            "text": self.text,
            "notes": list(self.notes),
            "documentation": self.client.documentation,
            "looked_up": self.client.looked_up,
        }
