"""Makes the objects behind records, each once, and closes them in reverse order."""

import asyncio
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from threading import RLock
from typing import Any, Protocol, TypeVar, cast

from cloxy_core.kernel.containment import Failure, contained, describe_error
from cloxy_core.kernel.plugin_state import PluginState, Problem, Problems
from cloxy_core.kernel.services import Services
from cloxy_hookspecs.context import HostContext
from cloxy_hookspecs.errors import (
    CloxyError,
    MissingExtraError,
    PluginError,
    ServiceMissingError,
)

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

CLOSE_SECONDS = 2.0
"""How long a single object may take to close."""


class Creating(Protocol[T_co]):
    """A record that makes something."""

    @property
    def name(self) -> str:
        """Name of the record."""
        ...

    @property
    def extra(self) -> str | None:
        """Extra that brings its dependencies."""
        ...

    @property
    def requires(self) -> tuple[type, ...]:
        """Ports that must be there."""
        ...

    @property
    def create(self) -> Callable[[HostContext], T_co]:
        """Makes it."""
        ...


@dataclass(frozen=True, slots=True)
class _Made:
    record: object
    plugin: str
    value: Any


@dataclass(frozen=True, slots=True)
class _NotMade:
    record: object
    error: PluginError


class Lifespan:
    """The objects that plugins made, from their first use to the end of the server."""

    def __init__(
        self,
        owner: Callable[[object], str],
        context: Callable[[str], HostContext],
        services: Services,
        problems: Problems,
    ) -> None:
        """Make nothing yet.

        Args:
            owner: names the plugin of a record.
            context: the context of a plugin, by its name.
            services: ports that records may require.
            problems: gets what could not be made or closed.
        """
        self._owner = owner
        self._context = context
        self._services = services
        self._problems = problems
        # By identity: equal records of two plugins are two records.
        self._outcomes: dict[int, _Made | _NotMade] = {}
        self._closed = False
        self._lock = RLock()

    def create(self, record: Creating[T]) -> T:
        """What a record makes, the same object every time.

        Raises:
            PluginError: it could not be made; named, noted once, and not tried again. Its cause
                is what the plugin raised.
            RuntimeError: the lifespan is over.
        """
        with self._lock:
            outcome = self._outcomes.get(id(record))
            if outcome is None:
                if self._closed:
                    raise RuntimeError("the server is shutting down")
                outcome = self._outcomes[id(record)] = self._make(record)
        if isinstance(outcome, _NotMade):
            raise outcome.error
        return cast("T", outcome.value)

    def create_all(self, records: Iterable[Creating[T]]) -> tuple[tuple[str, T], ...]:
        """Name and object of every record that could be made, in order; the others are noted."""
        made: list[tuple[str, T]] = []
        for record in records:
            try:
                made.append((record.name, self.create(record)))
            except PluginError:
                continue
        return tuple(made)

    async def aclose(self) -> None:
        """Close what was made, last first; one that fails does not keep the rest open.

        An object is closed by its `aclose()`, which has two seconds, else by its `close()`, if
        it has one. Cancelling this still closes everything.
        """
        with self._lock:
            self._closed = True
            made = [each for each in self._outcomes.values() if isinstance(each, _Made)]
            self._outcomes.clear()
        cancelled: asyncio.CancelledError | None = None
        for each in reversed(made):
            try:
                await self._close(each)
            except asyncio.CancelledError as error:
                cancelled = error
        if cancelled is not None:
            raise cancelled

    def _make(self, record: Creating[Any]) -> _Made | _NotMade:
        plugin = self._owner(record)
        made = contained(lambda: self._make_unguarded(record, plugin))
        if not isinstance(made, Failure):
            return _Made(record, plugin, made.value)
        error = _as_plugin_error(made, plugin, record)
        is_extra = isinstance(error, MissingExtraError)
        state = PluginState.MISSING_EXTRA if is_extra else PluginState.FAILED
        self._problems.add(Problem(plugin, record.name, str(error), state))
        return _NotMade(record, error)

    def _make_unguarded(self, record: Creating[T], plugin: str) -> T:
        missing = [port.__name__ for port in record.requires if not self._services.has(port)]
        if missing:
            raise ServiceMissingError(
                f"{record.name!r} of {plugin} is off: nothing enabled provides "
                + ", ".join(missing)
            )
        return record.create(self._context(plugin))

    async def _close(self, made: _Made) -> None:
        close = getattr(made.value, "aclose", None) or getattr(made.value, "close", None)
        if not callable(close):
            return
        closed = contained(close)
        error = closed.error if isinstance(closed, Failure) else None
        if not isinstance(closed, Failure) and inspect.isawaitable(closed.value):
            try:
                async with asyncio.timeout(CLOSE_SECONDS):
                    await closed.value
            except asyncio.CancelledError as raised:
                if _is_cancelled():
                    raise
                error = raised
            except (Exception, SystemExit) as raised:
                error = raised
        if error is not None:
            words = f"closing failed: {describe_error(error)}"
            self._problems.add(Problem(made.plugin, type(made.value).__name__, words))


def _is_cancelled() -> bool:
    """Whether this task is being cancelled, rather than something that it awaits."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _as_plugin_error(failure: Failure, plugin: str, record: Creating[Any]) -> PluginError:
    error = failure.error
    if isinstance(error, PluginError):
        return error
    if isinstance(error, ModuleNotFoundError) and record.extra:
        wrapped: PluginError = MissingExtraError(
            f"{record.name!r} of {plugin} needs the module {error.name!r}",
            hint=f"pip install 'cloxy[{record.extra}]'",
        )
    else:
        words = str(error) if isinstance(error, CloxyError) else failure.words
        wrapped = PluginError(f"{record.name!r} of {plugin} could not be made: {words}")
    wrapped.__cause__ = error
    return wrapped
