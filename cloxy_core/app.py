"""The server: from settings to a listening socket, and back to a quiet end."""

import asyncio
import errno
import logging
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import replace
from types import FrameType

import uvicorn
from fastapi import FastAPI

from cloxy_core import __version__, core_plugin
from cloxy_core.core_settings import (
    ALLOWED_HOSTS,
    HOST,
    LOG_LEVEL,
    PLUGINS_DIR,
    PORT,
    WATCH,
    data_directory,
    load_settings,
    plugin_choice,
    record_switches,
    server_key,
)
from cloxy_core.engine import Engine
from cloxy_core.escaping import escape
from cloxy_core.identity import TOKEN_FILE, ensure_token
from cloxy_core.kernel.host import PluginHost, open_plugins
from cloxy_core.kernel.logging import PLUGINS, logging_to
from cloxy_core.kernel.settings import Settings
from cloxy_core.runtime.clock import SystemClock
from cloxy_core.runtime.lock import DataDirectoryLock, LockHolder, read_holder
from cloxy_core.runtime.memory import keep_less_memory
from cloxy_core.runtime.paths import DataDirectory, private_umask
from cloxy_core.runtime.workers import take_short_turns
from cloxy_core.services.exposure import check_exposure
from cloxy_core.services.health import ServerFacts
from cloxy_core.services.redaction import redact
from cloxy_core.services.web.network import SystemNetwork
from cloxy_core.surfaces.http.app import Lifespan as AppLifespan
from cloxy_core.surfaces.http.app import create_app
from cloxy_core.surfaces.http.boundary_policy import BoundaryPolicy
from cloxy_core.surfaces.http.endpoints import large_body_paths
from cloxy_core.surfaces.http.local_routes import LocalServer
from cloxy_core.surfaces.http.server import server_config
from cloxy_core.surfaces.mcp.endpoint import McpEndpoint, mount
from cloxy_hookspecs import CloxyError, ConfigError, DataDirectoryInUseError

BACKLOG = 512
SHUTDOWN_SECONDS = 3
STOPPING = (signal.SIGINT, signal.SIGTERM)
# Where programs of this machine reach a server that listens on all its addresses.
_FROM_HERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - the reverse of binding
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
    key = server_key(settings)
    check_exposure(settings[HOST], key)
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
            holder = _holder(settings, settings[PORT])
            try:
                lock.acquire(holder)
            except DataDirectoryInUseError as error:
                if not _is_there(read_holder(paths.lock), holder):
                    raise
                print(escape(f"{error.message}; nothing to do"), file=sys.stderr)
                return 0
            listening = listen(settings[HOST], settings[PORT])
            lock.describe(_holder(settings, listening.getsockname()[1]))
            policy = _policy(settings, listening, key, _owner_token(paths))
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


def _owner_token(paths: DataDirectory) -> str:
    """The token of the data directory, made if there is none; its lock must be held.

    Raises:
        ConfigError: it cannot be read or written.
    """
    try:
        return ensure_token(paths.data)
    except OSError as error:
        raise ConfigError(
            f"{paths.data / TOKEN_FILE} cannot be read or written: {error.strerror or error}",
            hint="remove what stands at that place, and start again",
        ) from error


def _policy(
    settings: Settings, listening: socket.socket, key: str | None, token: str
) -> BoundaryPolicy:
    try:
        return BoundaryPolicy(
            host=settings[HOST],
            port=listening.getsockname()[1],
            api_key=key,
            owner_token=token,
            allowed_hosts=settings[ALLOWED_HOSTS],
        )
    except ValueError as error:
        raise ConfigError(str(error)) from error


def _is_there(found: LockHolder | None, wanted: LockHolder) -> bool:
    """Whether the very server that is wanted runs already, at the same address."""
    return found is not None and bool(wanted.url) and found.url == wanted.url


def _holder(settings: Settings, port: int) -> LockHolder:
    host = _FROM_HERE.get(settings[HOST], settings[HOST])
    url = _url(host, port) if port else ""
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
    with _noted() as warnings:
        engine = Engine(plugins, paths, lock, network=SystemNetwork(port=policy.port))
    engine.warnings = tuple(warnings)
    refusals: list[CloxyError] = []

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        try:
            await _start(engine, refusals)
            _greet(policy, engine)
            warming = asyncio.create_task(mcp.warm(), name="mcp warming")
            try:
                yield
            finally:
                warming.cancel()
        finally:
            await engine.close()

    def stop() -> None:
        server.should_exit = True

    policy = replace(
        policy, large_body_paths=policy.large_body_paths | large_body_paths(engine.endpoints)
    )
    app = application(engine, policy, lifespan, stop)
    mcp: McpEndpoint = app.state.mcp
    config = server_config(app, policy)
    config.timeout_graceful_shutdown = SHUTDOWN_SECONDS
    server = _Server(config, mcp.close)
    try:
        asyncio.run(_serve(server, listening))
    except SystemExit:
        # The web server's way to end when the start failed; it says nothing on the terminal.
        if not refusals:
            raise
    if refusals:
        raise refusals[0]
    return 0 if server.started else 1


def application(
    engine: Engine, policy: BoundaryPolicy, lifespan: AppLifespan, stop: Callable[[], None]
) -> FastAPI:
    """Everything that the server answers; it belongs behind the boundary.

    Args:
        engine: the parts of the server.
        policy: where it listens, and its secrets.
        lifespan: what runs beside the requests.
        stop: tells the server to end; returns at once.
    """
    engine.health.server = ServerFacts(
        policy.host,
        policy.port,
        policy.api_key is not None,
        os.getpid(),
        logs=str(engine.paths.logs),
        watches=engine.host.settings[WATCH],
    )
    token = policy.owner_token
    local = None if token is None else LocalServer(token, stop)
    app = create_app(engine.operations, engine.health.report, lifespan, local, engine.endpoints)
    app.state.mcp = McpEndpoint(engine.operations, policy.max_body, engine.paths.data)
    # Also what is forgotten by nobody's request, as what a rule keeps for some days only.
    engine.memories.eraser.listeners.append(app.state.mcp.drop_answers)
    mount(app, app.state.mcp)
    return app


async def _start(engine: Engine, refusals: list[CloxyError]) -> None:
    """Start the engine, and keep the reason if it refuses."""
    try:
        await engine.start()
    except CloxyError as error:
        refusals.append(error)
        raise


class _Server(uvicorn.Server):
    """A server for which being told to stop is a good end: the first signal ends it, with 0."""

    def __init__(self, config: uvicorn.Config, hang_up: Callable[[], Awaitable[None]]) -> None:
        """Serve.

        Args:
            config: how.
            hang_up: ends replies that would never end by themselves.
        """
        super().__init__(config)
        self._hang_up = hang_up

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the endless replies, then wait for the others."""
        await self._hang_up()
        await super().shutdown(sockets)

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


@contextmanager
def _noted() -> Iterator[Sequence[str]]:
    """What plugins warn of meanwhile: whoever starts the server reads the terminal, not the log."""
    noting = _Noting(logging.WARNING)
    logger = logging.getLogger(PLUGINS)
    logger.addHandler(noting)
    try:
        yield noting.messages
    finally:
        logger.removeHandler(noting)


class _Noting(logging.Handler):
    """Keeps messages."""

    def __init__(self, level: int) -> None:
        super().__init__(level)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


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
    # Paths and the words of plugins may hold anything; a terminal would obey it.
    print("\n".join(map(escape, lines)), file=sys.stderr, flush=True)
