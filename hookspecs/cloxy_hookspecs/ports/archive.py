"""Reading what is stored as it stands: one memory, or a conversation from its beginning."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class StoredMemory:
    """One memory as it stands; times are milliseconds UTC.

    Attributes:
        id: memory id.
        uid: stable id.
        content: its text.
        source: source label.
        project: project path; None when it has none.
        session: key of its session; None when it has none.
        title: title of the session.
        roles: whose turns are in it, in the order they come, each once.
        authors: who wrote them, in that order too.
        at_from: when its first message was said.
        at_to: when its last message was said.
        metadata: further facts.
    """

    id: int
    uid: str
    content: str
    source: str
    project: str | None
    session: str | None
    title: str | None
    roles: tuple[str, ...]
    authors: tuple[str, ...]
    at_from: int | None
    at_to: int | None
    metadata: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class StoredSession:
    """A stretch of one conversation; times are milliseconds UTC.

    Attributes:
        key: the agent's own id of it.
        agent: the agent.
        title: title, if it has one.
        project: project path, if it has one.
        parent: key of the session that it is a part of, as with sub-agents.
        started_at: when its first message was said.
        ended_at: when its last message was said.
        memories: its memories in order.
        next: where the next stretch begins; None when this is the last.
    """

    key: str
    agent: str
    title: str | None
    project: str | None
    parent: str | None
    started_at: int | None
    ended_at: int | None
    memories: tuple[StoredMemory, ...]
    next: int | None


class ArchiveReader(Protocol):
    """Reads what is stored as it stands."""

    async def memory(self, memory_id: int) -> StoredMemory:
        """One memory.

        Raises:
            NotFoundError: no such memory.
            IntegrityError: its text is not what was stored.
        """
        ...

    async def session(self, key: str, *, start: int, characters: int) -> StoredSession:
        """A stretch of a conversation.

        Args:
            key: the agent's own id of the session; of several agents' the newest is read.
            start: where to begin: 0, or the `next` of the stretch before.
            characters: about how much text; one memory at least.

        Raises:
            NotFoundError: no such session.
        """
        ...
