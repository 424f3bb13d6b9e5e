"""Memories as values, and the policy of their origin."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["working", "episodic", "semantic", "procedural", "reference"]
Tier = Literal["core", "working", "peripheral"]
State = Literal["active", "archived", "superseded", "deleted"]


@dataclass(frozen=True, slots=True)
class OriginPolicy:
    """How memories of one origin are treated.

    Attributes:
        name: the origin (`transcript`, `note`, …).
        kind: default sort of knowledge.
        tier: default presence.
        immutable: whether no job and no decider may change the content.
        deduplicates: whether an exact copy is refused when it is written.
    """

    name: str
    kind: Kind
    tier: Tier
    immutable: bool
    deduplicates: bool


@dataclass(frozen=True, slots=True)
class Draft:
    """A text to be remembered, not yet stored.

    Attributes:
        text: verbatim text.
        origin: name of an origin policy.
        source: source label.
        project: project path or name; None for none.
        metadata: JSON-ready facts.
    """

    text: str
    origin: str
    source: str
    project: str | None = None
    metadata: Mapping[str, object] = field(default_factory=dict[str, object])


@dataclass(frozen=True, slots=True)
class Stored:
    """What became of a draft.

    Attributes:
        ids: memory ids, one a chunk, in order; the id of the existing row for a duplicate.
        added: how many of them are new.
    """

    ids: tuple[int, ...]
    added: int


@dataclass(frozen=True, slots=True)
class StillHeld:
    """Where what was forgotten still is, and was not to be changed.

    Attributes:
        kind: `transcript` for an agent's own log; `backup` and `export` for what a person made;
            `session` for another session of the memory that says the same, such as a fork;
            `memory` for a note that does.
        path: where it is; the agent's own id of a session, the id of a memory.
    """

    kind: Literal["transcript", "backup", "export", "session", "memory"]
    path: str


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What a forget removed.

    Attributes:
        memories: memories removed, copies in other sessions included.
        messages: messages that can no longer come back.
        pending: why bytes of it are still in Cloxy's own files, in words; None when none are. It
            is finished behind, after a restart too.
        still_in: files that still hold it.
        backups_rewritten: backups made by Cloxy itself from which it was taken.
        backups_removed: such backups that had to be removed, since it could not be taken out.
    """

    memories: int
    messages: int
    pending: str | None = None
    still_in: tuple[StillHeld, ...] = ()
    backups_rewritten: int = 0
    backups_removed: tuple[str, ...] = ()
