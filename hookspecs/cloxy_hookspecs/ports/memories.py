"""Reading, writing and forgetting memories."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from cloxy_hookspecs.types.memory import Draft, Forgotten, Stored


@dataclass(frozen=True, slots=True)
class ProjectSummary:
    """One project: its path, how much there is of it, and when (milliseconds UTC)."""

    project: str
    memories: int
    sessions: int
    first_seen: int | None
    last_seen: int | None


@dataclass(frozen=True, slots=True)
class MemoryStats:
    """Counts of the whole store.

    Attributes:
        memories: active memories.
        passages: active passages.
        indexes: passages by index channel.
        sources: memories by first segment of the source label.
        redactions: secrets replaced since the database was made, by kind.
        embedded: passages with a vector in the active space.
        embed_model: model of the active space; empty when nothing was ever embedded.
    """

    memories: int
    passages: int
    indexes: Mapping[str, int]
    sources: Mapping[str, int]
    redactions: Mapping[str, int]
    embedded: int
    embed_model: str


class MemoryReader(Protocol):
    """Reads memories."""

    async def projects(self) -> Sequence[ProjectSummary]:
        """All projects, last seen first."""
        ...

    async def stats(self) -> MemoryStats:
        """Counts of the whole store."""
        ...

    async def total(self) -> int:
        """How many active memories there are."""
        ...


class MemoryWriter(Protocol):
    """Writes and forgets memories."""

    async def remember(self, draft: Draft) -> Stored:
        """Redact, chunk, store and index a text, durably.

        Raises:
            InputError: nothing is left to store after redaction and stripping.
        """
        ...

    async def forget(self, memory_id: int, *, dry_run: bool = False) -> Forgotten:
        """Remove a memory and every copy of its text, for good.

        Args:
            memory_id: the memory.
            dry_run: only count.

        Raises:
            NotFoundError: no such memory.
        """
        ...

    async def forget_source(self, prefix: str, *, dry_run: bool = False) -> Forgotten:
        """Remove the memories whose source label begins with these whole segments, for good.

        Args:
            prefix: `a:b` matches `a:b` and `a:b:c`, not `a:bc`.
            dry_run: only count.

        Raises:
            InputError: the prefix is empty.
        """
        ...

    async def forget_session(self, session: str, *, dry_run: bool = False) -> Forgotten:
        """Remove a session, by the agent's own id of it, for good.

        Raises:
            NotFoundError: no such session.
        """
        ...

    async def forget_project(
        self, project: str, *, dry_run: bool = False, missing_ok: bool = False
    ) -> Forgotten:
        """Remove a project, for good: a path with all below it, or the name of one last folder.

        Args:
            project: the project.
            dry_run: only count.
            missing_ok: whether it is well when there is none.

        Raises:
            NotFoundError: no such project.
            InputError: several are called so; the words name them.
        """
        ...

    async def reindex(self) -> Mapping[str, int]:
        """Rebuild every index from the rows; passages by channel."""
        ...
