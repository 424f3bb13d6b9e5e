"""Running the relay until the client leaves."""

import os
import signal
import threading
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Final

from cloxy_core.client_config import ClientConfig
from cloxy_core.relay.endpoint import Endpoint
from cloxy_core.relay.relay import GRACE_SECONDS, MAX_LINE, Relay
from cloxy_core.relay.streams import Wire, Writer, lines

_WATCH_SECONDS: Final = 1.0


def run_relay(
    wire: Wire, config: ClientConfig, environ: Mapping[str, str], say: Callable[[str], None]
) -> None:
    """Carry messages until the client closes its end, dies, or a signal asks for the end.

    Args:
        wire: the client's ends.
        config: where the server is.
        environ: environment variables, for a server that is started.
        say: tells a person something.
    """
    writer = Writer(wire.target)
    relay = Relay(Endpoint(config, environ, say), writer.write, say)
    read_all = threading.Event()
    told = _stop_at_signals()
    threading.Thread(target=_read, args=(wire, relay, read_all), daemon=True).start()
    parent = os.getppid()
    while not (read_all.wait(_WATCH_SECONDS) or told.is_set() or writer.broken.is_set()):
        # A client that was killed may leave its pipes open in the hands of another child.
        if os.name == "posix" and os.getppid() != parent:
            break
    is_waited_for = read_all.is_set() and not (told.is_set() or writer.broken.is_set())
    relay.close(grace=GRACE_SECONDS if is_waited_for else 0.0)


def _read(wire: Wire, relay: Relay, read_all: threading.Event) -> None:
    try:
        for line in lines(wire.source, MAX_LINE):
            relay.take(line)
    finally:
        read_all.set()


def _stop_at_signals() -> threading.Event:
    told = threading.Event()

    def note(_number: int, _frame: FrameType | None) -> None:
        told.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, note)
    return told
