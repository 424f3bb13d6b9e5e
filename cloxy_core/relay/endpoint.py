"""The MCP endpoint of the server, which is started when it is not there."""

import contextlib
import http.client
import socket
import threading
import time
from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import quote

from cloxy_core import __version__
from cloxy_core.client import UnreachableError
from cloxy_core.client.connection import Connection, open_connection
from cloxy_core.client_config import ClientConfig, ClientError
from cloxy_core.launching import ensure_server
from cloxy_core.launching.mcp_use import note_use

PATH: Final = "/mcp"
# The server sends a sign of life into a stream long before.
SILENCE_SECONDS: Final = 600.0
_REPEAT_SECONDS: Final = 5.0


class Exchange:
    """One request over a connection of its own, which another thread may cut off."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._link: Connection | None = None
        self._response: http.client.HTTPResponse | None = None
        self.is_cut = False
        self.sent = threading.Event()

    def open(
        self,
        link: Connection,
        method: str,
        target: str,
        headers: Mapping[str, str | bytes],
        body: bytes | None,
        seconds: float,
    ) -> http.client.HTTPResponse:
        """Send the request and read the head of its answer.

        Raises:
            OSError: the connection broke, or was cut off.
            http.client.HTTPException: what came is no HTTP.
        """
        with self._lock:
            self._link = link
            if self.is_cut:
                raise ConnectionAbortedError
            self._socket = link.http.sock
        link.http.sock.settimeout(seconds)
        link.http.request(method, target, body=body, headers=headers)
        self.sent.set()
        self._response = link.http.getresponse()
        return self._response

    def cut_off(self) -> None:
        """End it: whoever reads its answer gets an error or its end."""
        with self._lock:
            self.is_cut = True
            self.sent.set()
            if self._socket is not None:
                # Not the method of a TLS socket, which takes away what the reader still uses.
                with contextlib.suppress(OSError):
                    socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def close(self) -> None:
        """Give the connection back to the system; nobody waits for it to be sent any more."""
        with self._lock:
            self._socket = None
        self.sent.set()
        with contextlib.suppress(OSError):
            if self._response is not None:
                self._response.close()
            if self._link is not None:
                self._link.http.close()
        self._response = self._link = None


class Endpoint:
    """Where messages go."""

    def __init__(
        self, config: ClientConfig, environ: Mapping[str, str], say: Callable[[str], None]
    ) -> None:
        """Know an endpoint; nothing is connected yet.

        Args:
            config: address, key and toolsets.
            environ: environment variables, for a server that is started.
            say: tells a person something.
        """
        chosen = quote(",".join(config.toolsets), safe=",")
        self.target = PATH + (f"?toolsets={chosen}" if chosen else "")
        self.url = config.url
        self._config = config
        self._environ = environ
        self._say = say
        self._starting = threading.Lock()
        self._failure: tuple[float, ClientError] | None = None
        self._version: str | None = None

    def send(
        self,
        exchange: Exchange,
        method: str,
        headers: Mapping[str, str],
        body: bytes | None = None,
        *,
        may_start: bool = True,
        seconds: float = SILENCE_SECONDS,
    ) -> http.client.HTTPResponse:
        """Send one request; the answer's head is there when this returns.

        Args:
            exchange: carries it.
            method: HTTP method.
            headers: those of the message.
            body: the message.
            may_start: whether a server is started when none answers.
            seconds: longest silence of the server.

        Raises:
            ClientError: no server answers, or it is not ours.
            OSError: the connection broke, or was cut off.
            http.client.HTTPException: what came is no HTTP.
        """
        link = self._connect(may_start=may_start)
        sent: dict[str, str | bytes] = {**link.headers, "Connection": "close", **headers}
        sent["Accept"] = "application/json, text/event-stream"
        if body is not None:
            sent["Content-Type"] = "application/json"
        return exchange.open(link, method, link.base + self.target, sent, body, seconds)

    def _connect(self, *, may_start: bool) -> Connection:
        try:
            link = open_connection(self._config)
        except UnreachableError:
            if not (may_start and self._config.autostart):
                raise
            self._start()
            link = open_connection(self._config)
        self._compare(link.version)
        return link

    def _start(self) -> None:
        """Have a server started; requests that wait for it together share its failure."""
        with self._starting:
            if self._failure is not None and self._failure[0] > time.monotonic() - _REPEAT_SECONDS:
                raise self._failure[1]
            if self._config.data_dir is not None:
                note_use(self._config.data_dir)
            try:
                running = ensure_server(self._config, self._environ)
            except ClientError as error:
                self._failure = (time.monotonic(), error)
                raise
            self._failure = None
        if running.started:
            self._say(f"started the server at {running.url}; `cloxy stop` ends it")

    def _compare(self, version: str | None) -> None:
        """Say once that the server is of another version."""
        if version in {None, __version__, self._version}:
            return
        self._version = version
        self._say(
            f"the server at {self.url} is Cloxy {version}, this is {__version__}: "
            "run `cloxy stop`, then `cloxy start -d`, to have the same"
        )
