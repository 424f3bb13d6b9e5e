"""Expanders, indexes, fusers and signals: the stages of a recall."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from cloxy_hookspecs.context import HostContext
from cloxy_hookspecs.providers.base import Provider
from cloxy_hookspecs.types.recall import (
    CandidateBatch,
    Found,
    Hit,
    IndexChange,
    IndexRow,
    Probe,
    Query,
    Scored,
)

if TYPE_CHECKING:
    from sqlalchemy import Connection


class Expander(Protocol):
    """Reads more out of a question. Runs on the loop."""

    async def expand(self, query: Query) -> Query:
        """The query with soft fields filled in; the hard ones stay as they are."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpanderProvider(Provider):
    """An expander; lower `order` runs first."""

    order: int
    create: Callable[[HostContext], Expander]


class Index(Protocol):
    """A channel over passages. `search` runs on a reader thread."""

    def search(self, connection: "Connection", probe: Probe, limit: int) -> Found:
        """Passages that answer the probe, within the probe's filters.

        Args:
            connection: a read transaction.
            probe: what is asked.
            limit: most hits to return.
        """
        ...

    def count(self, connection: "Connection") -> int:
        """Passages in the index."""
        ...


class CommitIndex(Index, Protocol):
    """An index kept in SQL, changed inside the transaction that changes the rows."""

    def apply_in(self, connection: "Connection", changes: Sequence[IndexChange]) -> None:
        """Apply changes in order; applying them twice equals once. Writer thread."""
        ...

    def clear_in(self, connection: "Connection") -> None:
        """Remove everything; a rebuild follows with `apply_in`. Writer thread."""
        ...

    def scrub_in(self, connection: "Connection") -> None:
        """Make removed text unreadable in the index's own bytes. Writer thread."""
        ...


class AfterIndex(Index, Protocol):
    """An index outside the transaction, fed in order from the outbox after commit."""

    def apply(self, changes: Sequence[IndexChange], sequence: int) -> None:
        """Apply changes up to outbox number `sequence`; repeatable."""
        ...

    def checkpoint(self) -> int:
        """Last outbox number that was applied and would survive a restart; 0 for none."""
        ...

    def rebuild(self, rows: Iterable[IndexRow], sequence: int) -> None:
        """Start over from all rows, which stand for the outbox up to `sequence`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitIndexProvider(Provider):
    """An index that is written in the transaction of the rows.

    Attributes:
        channel: what it contributes to a recall, for example `keyword`.
        weight: its share in the fusion.
        create: makes the index.
    """

    channel: str
    weight: float
    create: Callable[[HostContext], CommitIndex]


@dataclass(frozen=True, slots=True, kw_only=True)
class AfterIndexProvider(Provider):
    """An index that is fed from the outbox; attributes as in `CommitIndexProvider`."""

    channel: str
    weight: float
    create: Callable[[HostContext], AfterIndex]


IndexProvider = CommitIndexProvider | AfterIndexProvider


class Fuser(Protocol):
    """Makes one list of several. Pure; runs on a reader thread."""

    @property
    def default_recency_weight(self) -> float:
        """Weight of the signal `recency` when the query gives none."""
        ...

    @property
    def adjustments(self) -> Collection[str] | None:
        """What may move its scores afterwards; None for everything.

        Names of signals, `window` (a soft window goes ahead) and `newest` (order of time).
        """
        ...

    def fuse(
        self, lists: Mapping[str, Sequence[Hit]], weights: Mapping[str, float]
    ) -> Sequence[Scored]:
        """Fuse ranked lists by channel, best first; empty lists give an empty list."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class FuserProvider(Provider):
    """A way to fuse channels."""

    create: Callable[[HostContext], Fuser]


class Signal(Protocol):
    """A property of candidates that moves their score. Pure; runs on a reader thread."""

    def values(self, batch: CandidateBatch, query: Query) -> Sequence[float]:
        """One value in 0..1 a candidate, in the batch's order."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalProvider(Provider):
    """A signal and how it acts.

    Attributes:
        order: lower runs first.
        mode: `multiply`: score x (1 + weight x value); `tilt`: score x (1 - weight + weight x
            value); `add`: score + weight x value.
        weight: how strongly; for the signal named `recency` the query's own weight wins.
        create: makes the signal.
    """

    order: int
    mode: Literal["multiply", "tilt", "add"]
    weight: float
    create: Callable[[HostContext], Signal]
