"""All that a plugin's factory may ask of the host."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from logging import Logger
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from cloxy_hookspecs.types.recall import Filters
from cloxy_hookspecs.types.settings import Setting

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection

T = TypeVar("T")


class Clock(Protocol):
    """The time, replaceable in tests."""

    def now(self) -> datetime:
        """The present, aware, UTC."""
        ...

    def now_ms(self) -> int:
        """The present in integer milliseconds since the epoch."""
        ...


class Paths(Protocol):
    """Where things lie."""

    @property
    def data(self) -> Path:
        """The data directory (mode 0700)."""
        ...

    def plugin(self, name: str) -> Path:
        """A directory of the plugin's own inside the data directory, made on first use."""
        ...


class SettingsView(Protocol):
    """Values of declared settings."""

    def __getitem__(self, setting: Setting[T]) -> T:
        """The value of a setting, typed as declared."""
        ...


class StorePort(Protocol):
    """The database, one writer and several readers.

    Work is a function of a SQLAlchemy connection; it must be short: no model, no network, no
    file and no awaiting inside. The connection is valid only during the call.
    """

    async def read(self, work: Callable[["Connection"], T]) -> T:
        """Run `work` on a reader thread in one read transaction, and return its value."""
        ...

    async def write(self, work: Callable[["Connection"], T], *, durable: bool = False) -> T:
        """Run `work` on the writer thread in one `BEGIN IMMEDIATE` transaction.

        Args:
            work: the transaction; an exception rolls everything back and is raised here.
            durable: whether the commit must survive a power loss (`synchronous=FULL`).

        Raises:
            StoreBusyError: too much is already waiting.
            StoreFullError: the disk is full; nothing was changed.
        """
        ...

    def filter_clause(
        self, connection: "Connection", filters: Filters
    ) -> "Sequence[ColumnElement[bool]]":
        """Conditions over the `passages` and `memories` tables, to be joined with AND.

        Empty when the filters let everything pass. Only active memories count in every case,
        which the caller gets for free: inactive memories have no passages in any index.
        """
        ...


class HostContext(Protocol):
    """What the host offers to the factory of one plugin's record."""

    @property
    def settings(self) -> SettingsView:
        """Values of settings, of the core and of this plugin."""
        ...

    @property
    def store(self) -> StorePort:
        """The database."""
        ...

    @property
    def clock(self) -> Clock:
        """The time."""
        ...

    @property
    def paths(self) -> Paths:
        """Directories."""
        ...

    @property
    def log(self) -> Logger:
        """This plugin's logger; secrets are masked."""
        ...

    def service(self, port: type[T]) -> T:
        """The provider of a port.

        Raises:
            ServiceMissingError: no enabled plugin provides it.
        """
        ...

    def maybe(self, port: type[T]) -> T | None:
        """The provider of a port, or None."""
        ...

    def blocking(self, work: Callable[[], T]) -> Awaitable[T]:
        """Run blocking work on an `io` thread."""
        ...
