"""Cloxy in this process, on a folder of its own, as tests need it."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import cached_property
from logging import Logger
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar, cast

import pluggy
from sqlalchemy import Connection

from cloxy_core import core_plugin
from cloxy_core.core_settings import WATCH_DIRS, load_settings, plugin_choice, record_switches
from cloxy_core.engine import Engine
from cloxy_core.kernel.context import HostParts
from cloxy_core.kernel.discovery import describe
from cloxy_core.kernel.host import PluginHost
from cloxy_core.kernel.loader import load_plugins
from cloxy_core.kernel.manager import create_manager, register_plugin
from cloxy_core.kernel.plugin_state import CORE, PluginChoice, PluginDescription
from cloxy_core.kernel.records import record_name
from cloxy_core.kernel.registry import Registry
from cloxy_core.runtime.paths import DataDirectory
from cloxy_core.testing.fakes import SettableClock
from cloxy_hookspecs import HostContext, Network, Paths, SettingsView, StorePort
from cloxy_hookspecs.context import Clock
from cloxy_hookspecs.seats import SETTINGS, Seat

T = TypeVar("T")

CONTEXT_NAME = "author"


class App:
    """A server without HTTP, opened when it is first needed.

    Its own parts run by the machine's clock; what `context` hands out runs by the given one.
    """

    def __init__(
        self,
        folder: Path,
        *,
        plugins: Mapping[str, object] | None = None,
        settings: Mapping[str, str] | None = None,
        clock: Clock | None = None,
        network: Network | None = None,
    ) -> None:
        """Open nothing yet.

        Args:
            folder: gets the data directory, and the folder of session logs that is watched
                unless a setting says otherwise.
            plugins: plugins that are not installed, by name.
            settings: texts of settings by dotted name; with an empty `watch.dirs` every source
                looks where its agent keeps its logs, by the environment of the process.
            clock: the time that `context` tells.
            network: names and addresses of the web; the machine's when None.
        """
        self.folder = folder
        self.clock = clock or SettableClock()
        self.context = LazyContext(self._open_context)
        self._plugins = dict(plugins or {})
        self._settings = dict(settings or {})
        self._network = network
        self._runner: asyncio.Runner | None = None
        self._engine: Engine | None = None
        self._manager: pluggy.PluginManager | None = None

    def __enter__(self) -> "App":
        """The application itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it, and end its event loop."""
        try:
            self.stop()
        finally:
            if self._runner is not None:
                self._runner.close()
                self._runner = None

    @property
    def engine(self) -> Engine:
        """The parts of the server, put together when first asked for."""
        if self._engine is None:
            data = DataDirectory.open(self.folder / "data")
            self._engine = Engine(self._host(), data, network=self._network)
        return self._engine

    @property
    def data(self) -> Path:
        """The data directory."""
        return self.folder / "data"

    def start(self) -> None:
        """Do what a starting server does."""
        self.do(self.engine.start())

    def stop(self) -> None:
        """Close the server; the next use opens it again on the same data."""
        if self._engine is not None:
            engine, self._engine = self._engine, None
            self.context.forget()
            self.do(engine.close())

    def do(self, work: Awaitable[T]) -> T:
        """Run something to its end on the application's event loop, and return its value."""
        if self._runner is None:
            self._runner = asyncio.Runner()
        return self._runner.run(_awaited(work))

    def read(self, work: Callable[[Connection], T]) -> T:
        """Run work in one read transaction."""
        return self.do(self.engine.store.read(work))

    def write(self, work: Callable[[Connection], T]) -> T:
        """Run work in one write transaction."""
        return self.do(self.engine.store.write(work))

    def owner(self, seat: Seat[Any], record: object) -> tuple[str, object] | None:
        """Name and object of the loaded plugin that yields such a record, or None.

        Records are made anew by every call of a hook, so they are compared by kind and name.
        """
        wanted = (type(record), record_name(record))
        caller: pluggy.HookCaller = getattr(self._loaded.hook, seat.hook)
        for implementation in caller.get_hookimpls():
            for yielded in cast("Iterable[object]", implementation.function()):
                if (type(yielded), record_name(yielded)) == wanted:
                    return implementation.plugin_name, implementation.plugin
        return None

    @property
    def _loaded(self) -> pluggy.PluginManager:
        if self._manager is None:
            self._host()
        assert self._manager is not None
        return self._manager

    def _host(self) -> PluginHost:
        """The plugins: Cloxy's own, those installed, and those given."""
        logs = self.folder / "logs"
        logs.mkdir(parents=True, exist_ok=True)
        environment = {
            "CLOXY_DATA_DIR": str(self.data),
            "CLOXY_WATCH": "0",
        }
        if self._settings.get(WATCH_DIRS.name) != "":
            environment["CLOXY_WATCH_DIRS"] = str(logs)
        settings = load_settings(environment, self._settings)
        manager = create_manager()
        register_plugin(manager, CORE, core_plugin)
        found = load_plugins(manager, _described(plugin_choice(settings), tuple(sys.path)))
        for name, plugin in self._plugins.items():
            if not manager.is_registered(plugin):
                register_plugin(manager, name, plugin)
        registry = Registry(
            manager,
            settings,
            switches=record_switches(settings),
            first_party=[plugin.name for plugin in found if plugin.first_party],
        )
        settings.declare(registry.all(SETTINGS))
        host = PluginHost(settings, registry, found, ())
        host.check()
        self._manager = manager
        return host

    def _open_context(self) -> HostContext:
        engine = self.engine
        parts = HostParts(
            engine.host.settings,
            engine.store,
            self.clock,
            engine.paths,
            engine.workers,
            engine.services,
        )
        return parts.context(CONTEXT_NAME)


class LazyContext:
    """A host context that opens the application when it is first asked for something.

    Most factories ask for nothing, and their tests then need no database.
    """

    def __init__(self, open_context: Callable[[], HostContext]) -> None:
        self._open_context = open_context

    @property
    def settings(self) -> SettingsView:
        """Values of settings."""
        return self._context.settings

    @property
    def store(self) -> StorePort:
        """The database."""
        return self._context.store

    @property
    def clock(self) -> Clock:
        """The time."""
        return self._context.clock

    @property
    def paths(self) -> Paths:
        """Directories."""
        return self._context.paths

    @property
    def log(self) -> Logger:
        """The logger of the plugin under test."""
        return self._context.log

    def service(self, port: type[T]) -> T:
        """The implementation of a port.

        Raises:
            ServiceMissingError: nobody implements it.
        """
        return self._context.service(port)

    def maybe(self, port: type[T]) -> T | None:
        """The implementation of a port, or None."""
        return self._context.maybe(port)

    def blocking(self, work: Callable[[], T]) -> Awaitable[T]:
        """Run blocking work on an `io` thread."""
        return self._context.blocking(work)

    def forget(self) -> None:
        """Open anew at the next use."""
        vars(self).pop("_context", None)

    @cached_property
    def _context(self) -> HostContext:
        return self._open_context()


_DESCRIBED: dict[tuple[object, ...], tuple[PluginDescription, ...]] = {}


def _described(choice: PluginChoice, path: tuple[str, ...]) -> tuple[PluginDescription, ...]:
    """Installed plugins, looked up once: reading their metadata costs more than most tests."""
    key = (choice.disabled, choice.only, tuple(sorted(choice.pins.items())), path)
    if key not in _DESCRIBED:
        _DESCRIBED[key] = tuple(describe(choice))
    return _DESCRIBED[key]


async def _awaited(work: Awaitable[T]) -> T:
    return await work
