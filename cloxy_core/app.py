"""The server: from settings to a listening socket, and back to a quiet end."""

import asyncio
import errno
import logging
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager
from types import FrameType

import uvicorn
from fastapi import FastAPI

from cloxy_core import __version__, core_plugin
from cloxy_core.core_settings import (
    ALLOWED_HOSTS,
    API_KEY,
    HOST,
    LOG_LEVEL,
    PLUGINS_DIR,
    PORT,
    WATCH,
    data_directory,
    load_settings,
    plugin_choice,
    record_switches,
)
from cloxy_core.engine import Engine
from cloxy_core.kernel.host import PluginHost, open_plugins
from cloxy_core.kernel.logging import logging_to
from cloxy_core.kernel.settings import Settings
from cloxy_core.runtime.clock import SystemClock
from cloxy_core.runtime.lock import DataDirectoryLock, LockHolder
from cloxy_core.runtime.memory import keep_less_memory
from cloxy_core.runtime.paths import DataDirectory, private_umask
from cloxy_core.runtime.workers import take_short_turns
from cloxy_core.services.health import HealthService, ServerFacts
from cloxy_core.services.redaction import redact
from cloxy_core.surfaces.http.app import create_app
from cloxy_core.surfaces.http.boundary_policy import BoundaryPolicy
from cloxy_core.surfaces.http.exposure import check_exposure
from cloxy_core.surfaces.http.server import server_config
from cloxy_hookspecs import CloxyError, ConfigError

BACKLOG = 512
SHUTDOWN_SECONDS = 3
STOPPING = (signal.SIGINT, signal.SIGTERM)
_ADDRESS_HINT = "set CLOXY_HOST (or --host) to an address of this machine, such as 127.0.0.1"
_LISTEN_HINTS = {
    errno.EADDRINUSE: "another program has the port; stop it, "
    "or set CLOXY_PORT (or --port) to another",
    errno.EACCES: "set CLOXY_PORT (or --port) to a port above 1023",
}


def open_host(settings: Settings) -> PluginHost:
    """Load the plugins that the settings want, and check every setting.

    Raises:
        CloxyError: a setting cannot be used, or a required plugin is missing.
    """
    host = open_plugins(
        settings,
        plugin_choice(settings),
        core=core_plugin,
        switches=record_switches(settings),
        folder=settings[PLUGINS_DIR],
    )
    host.check()
    return host


def serve(
    *, host: str | None = None, port: int | None = None, environ: Mapping[str, str] | None = None
) -> int:
    """Run the server until it is told to stop.

    Args:
        host: address to listen on, instead of the setting.
        port: port to listen on, instead of the setting; 0 takes a free one.
        environ: environment variables; by default those of this process.

    Returns:
        Exit code.

    Raises:
        CloxyError: it cannot start; the message says what to do.
    """
    private_umask()
    take_short_turns()
    keep_less_memory()
    given = {"server.host": host or "", "server.port": "" if port is None else str(port)}
    settings = load_settings(os.environ if environ is None else environ, given)
    check_exposure(settings[HOST], settings[API_KEY])
    plugins = open_host(settings)
    paths = DataDirectory.open(data_directory(settings))
    with (
        logging_to(paths.logs, level=settings[LOG_LEVEL], mask=lambda t: redact(t).text) as handler,
        _uvicorn_logs_to(handler),
    ):
        lock = DataDirectoryLock(paths.lock)
        listening = None
        try:
            # The lock first: whoever starts a second server is told where the first one is.
            lock.acquire(_holder(settings))
            listening = listen(settings[HOST], settings[PORT])
            policy = _policy(settings, listening)
            return _run(plugins, paths, lock, listening, policy)
        finally:
            if listening is not None:
                listening.close()
            lock.release()


@contextmanager
def _uvicorn_logs_to(handler: logging.Handler) -> Iterator[None]:
    """Let the web server's own lines go to our log instead of the terminal."""
    logger = logging.getLogger("uvicorn")
    logger.addHandler(handler)
    logger.propagate = False
    try:
        yield
    finally:
        logger.propagate = True
        logger.removeHandler(handler)


def listen(host: str, port: int) -> socket.socket:
    """A listening socket.

    Raises:
        ConfigError: the address cannot be had; the message says why and what to do.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with ExitStack() as undo:
        try:
            listening = undo.enter_context(socket.socket(family, socket.SOCK_STREAM))
            if os.name == "posix":
                listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind((host, port))
            listening.listen(BACKLOG)
        except OSError as error:
            raise ConfigError(
                f"cannot listen on {host}:{port}: {error.strerror or error}",
                hint=_LISTEN_HINTS.get(error.errno or 0, _ADDRESS_HINT),
            ) from error
        undo.pop_all()
    return listening


def _policy(settings: Settings, listening: socket.socket) -> BoundaryPolicy:
    try:
        return BoundaryPolicy(
            host=settings[HOST],
            port=listening.getsockname()[1],
            api_key=settings[API_KEY],
            allowed_hosts=settings[ALLOWED_HOSTS],
        )
    except ValueError as error:
        raise ConfigError(str(error)) from error


def _holder(settings: Settings) -> LockHolder:
    port = settings[PORT]
    url = _url(settings[HOST], port) if port else ""
    return LockHolder(os.getpid(), __version__, url, SystemClock().now_ms())


def _url(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _run(
    plugins: PluginHost,
    paths: DataDirectory,
    lock: DataDirectoryLock,
    listening: socket.socket,
    policy: BoundaryPolicy,
) -> int:
    engine = Engine(plugins, paths, lock)
    facts = ServerFacts(policy.host, policy.port, policy.api_key is not None, os.getpid())
    health = HealthService(
        engine.store,
        engine.memories,
        engine.ingest,
        engine.embedding,
        engine.indexing,
        engine.checks,
        engine.clock,
        facts,
        engine.problems(),
    )

    refusals: list[CloxyError] = []

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        try:
            await _start(engine, refusals)
            _greet(policy, engine)
            yield
        finally:
            await engine.close()

    app = create_app(engine.operations, health.report, lifespan)
    config = server_config(app, policy)
    config.timeout_graceful_shutdown = SHUTDOWN_SECONDS
    server = _Server(config)
    try:
        asyncio.run(_serve(server, listening))
    except SystemExit:
        # The web server's way to end when the start failed; it says nothing on the terminal.
        if not refusals:
            raise
    if refusals:
        raise refusals[0]
    return 0 if server.started else 1


async def _start(engine: Engine, refusals: list[CloxyError]) -> None:
    """Start the engine, and keep the reason if it refuses."""
    try:
        await engine.start()
    except CloxyError as error:
        refusals.append(error)
        raise


class _Server(uvicorn.Server):
    """A server for which being told to stop is a good end: the first signal ends it, with 0."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop at the first signal, at once at the second."""
        before = {number: signal.signal(number, self._told) for number in STOPPING}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _told(self, number: int, _frame: FrameType | None) -> None:
        if self.should_exit:
            # Whoever asks twice does not want to wait; a kill loses nothing that was committed.
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        self.should_exit = True


async def _serve(server: uvicorn.Server, listening: socket.socket) -> None:
    await server.serve(sockets=[listening])


def _greet(policy: BoundaryPolicy, engine: Engine) -> None:
    """Say where the server is, once it answers."""
    watched = ", ".join(str(root) for root in engine.ingest.roots()) or "nothing"
    if not engine.host.settings[WATCH]:
        watched = "nothing, because watch.enabled is off"
    lines = [
        f"Cloxy {__version__} at {_url(policy.host, policy.port)}",
        f"memory in {engine.paths.database}",
        f"watching {watched}",
        "stop with Ctrl-C",
    ]
    lines += [f"warning: {problem}" for problem in engine.problems()]
    print("\n".join(lines), file=sys.stderr, flush=True)
