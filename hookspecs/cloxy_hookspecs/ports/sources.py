"""What sources there are, and how each is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """One source.

    Attributes:
        name: name of its record.
        agent: agent whose sessions these are.
        title: the agent's name, for people.
        plugin: plugin that brings it.
        enabled: whether it is read.
        why: why it is not, or what people should know of it.
        places: folders where it looks, with whether each exists.
        items: files, or conversations of a store.
        messages: messages stored from them.
        sessions: sessions stored of the agent.
        last_success: when a look at it last ended without a failure, milliseconds UTC.
        unknown: record types that were not understood since start, with counts.
        bad_lines: damaged lines passed over.
        drift: items with records but no message at all, at most twenty.
        failures: what could not be looked at, and why, at most twenty.
        passed_over: what is left out by rule, such as a link, and why, at most twenty.
        resume: command that goes on with a session, `{session}` standing for its key.
    """

    name: str
    agent: str
    title: str
    plugin: str
    enabled: bool
    why: str = ""
    places: tuple[tuple[str, bool], ...] = ()
    items: int = 0
    messages: int = 0
    sessions: int = 0
    last_success: int | None = None
    unknown: Mapping[str, int] = field(default_factory=dict[str, int])
    bad_lines: int = 0
    drift: tuple[str, ...] = ()
    failures: tuple[tuple[str, str], ...] = ()
    passed_over: tuple[tuple[str, str], ...] = ()
    resume: tuple[str, ...] = ()


class SourceCatalogue(Protocol):
    """Tells of every source that an enabled plugin brings."""

    async def sources(self) -> Sequence[SourceStatus]:
        """All sources, by agent."""
        ...
