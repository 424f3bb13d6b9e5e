"""HTTP connections with bounds: uvicorn's httptools protocol, made to give up on bad clients.

The parser hands a request to the application only when its head is complete, so whatever a
client does before that, the application cannot stop. These bounds can.
"""

import asyncio
import contextlib
import logging
import socket
from dataclasses import dataclass

from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

from cloxy_core.surfaces.http.boundary_replies import (
    BAD_REQUEST,
    HEAD_TIMEOUT,
    HEAD_TOO_LARGE,
    NOT_ORIGIN_FORM,
    URI_TOO_LONG,
    Refusal,
)

_log = logging.getLogger("cloxy.http")


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Bounds of one connection.

    Attributes:
        head_seconds: Time for a whole request head, from the connection or its first byte.
        write_seconds: How long a client may leave a reply unread.
        head_bytes: Largest request line and headers together, in bytes.
        target_bytes: Longest request target, in bytes.
        header_lines: Most header lines, trailers included.
    """

    head_seconds: float = 5.0
    write_seconds: float = 30.0
    head_bytes: int = 32_768
    target_bytes: int = 8_192
    header_lines: int = 100


def protocol_with(limits: ConnectionLimits) -> type["BoundedProtocol"]:
    """Return the protocol class for uvicorn with its own limits."""
    return type("BoundedProtocol", (BoundedProtocol,), {"limits": limits})


class BoundedProtocol(HttpToolsProtocol):
    """A connection that must send its heads soon, short and in origin form."""

    limits = ConnectionLimits()

    _head_timer: asyncio.TimerHandle | None = None
    _write_timer: asyncio.TimerHandle | None = None
    _refusal: Refusal = BAD_REQUEST
    _in_head = False
    _fed_bytes = 0
    _head_bytes = 0
    _header_lines = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as the base class does
        """Start the clock of the first head."""
        super().connection_made(transport)
        # asyncio sets this itself, but not on a listening socket passed as a descriptor,
        # which uvicorn opens as AF_UNIX; without it small replies wait for acknowledgements.
        with contextlib.suppress(OSError, AttributeError):
            sock = transport.get_extra_info("socket")
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._start_head_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop every clock."""
        self._stop_head_timer()
        self._stop_write_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Feed the parser; bound what it may collect before it reports anything."""
        super().data_received(data)
        if self._in_head:
            # A header is only reported when it is complete: count what went in as well.
            self._fed_bytes += len(data)
            if self._fed_bytes > self.limits.head_bytes and not self.transport.is_closing():
                self._refuse(HEAD_TOO_LARGE)
        if self._head_timer is None and (self._in_head or self._is_idle()):
            self._start_head_timer()

    def on_message_begin(self) -> None:
        """Open a new head."""
        super().on_message_begin()
        self._in_head = True
        self._fed_bytes = self._head_bytes = self._header_lines = 0

    def on_url(self, url: bytes) -> None:
        """Accept paths only, of bounded length.

        Raises:
            ValueError: The target is too long, or an absolute URL, an authority or `*`.
        """
        super().on_url(url)
        if len(self.url) > self.limits.target_bytes:
            self._reject(URI_TOO_LONG)
        self._count(len(url))
        # uvicorn throws the host of an absolute target away: no later check could see it.
        if not self.url.startswith(b"/"):
            self._reject(NOT_ORIGIN_FORM)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Collect a header.

        Raises:
            ValueError: There are too many, or they are too large.
        """
        self._header_lines += 1
        self._count(len(name) + len(value))
        if self._header_lines > self.limits.header_lines:
            self._reject(HEAD_TOO_LARGE)
        # A trailer would otherwise join the headers after they have been judged.
        if self._in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Close the head and hand the request on."""
        self._in_head = False
        self._stop_head_timer()
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        """Answer a request that cannot be parsed.

        Args:
            msg: uvicorn's own words, which are not used.
        """
        self._refuse(self._refusal)

    def pause_writing(self) -> None:
        """Start the clock of a client that does not read its reply."""
        super().pause_writing()
        if self._write_timer is None:
            self._write_timer = self.loop.call_later(self.limits.write_seconds, self._unread)

    def resume_writing(self) -> None:
        """Stop that clock."""
        self._stop_write_timer()
        super().resume_writing()

    def _unsupported_upgrade_warning(self) -> None:
        # The request is answered as plain HTTP, but the parser reads no second one after it.
        self.cycle.keep_alive = False

    def _is_idle(self) -> bool:
        # The base class declares the cycle as always there; before a first request it is not.
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is None or cycle.response_complete

    def _count(self, size: int) -> None:
        self._head_bytes += size
        if self._head_bytes > self.limits.head_bytes:
            self._reject(HEAD_TOO_LARGE)

    def _reject(self, refusal: Refusal) -> None:
        self._refusal = refusal
        raise ValueError(refusal.code)

    def _refuse(self, refusal: Refusal) -> None:
        _log.info("refused a connection: %s (%d)", refusal.code, refusal.status)
        # In the middle of another reply, words of our own would become part of it.
        if self._is_idle() or not self.cycle.response_started:
            body = refusal.body()
            lines = [STATUS_LINE[refusal.status]]
            headers = refusal.reply_headers(len(body), close=True)
            for name, value in [*self.server_state.default_headers, *headers]:
                lines += [name, b": ", value, b"\r\n"]
            self.transport.write(b"".join([*lines, b"\r\n", body]))
        self.transport.close()
        # Closing waits until the client has read; that wait has an end too.
        self._stop_head_timer()
        self._start_head_timer()

    def _start_head_timer(self) -> None:
        self._head_timer = self.loop.call_later(self.limits.head_seconds, self._late)

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _stop_write_timer(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None

    def _late(self) -> None:
        self._head_timer = None
        if self.transport.is_closing():
            self.transport.abort()
        elif self.flow.read_paused:
            # We stopped reading, behind a running request: the client is not to blame.
            self._start_head_timer()
        elif self._in_head:
            self._refuse(HEAD_TIMEOUT)
        else:
            self.transport.close()

    def _unread(self) -> None:
        self._write_timer = None
        self.transport.abort()
