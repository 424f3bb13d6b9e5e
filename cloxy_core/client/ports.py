"""Another port, to be named where one is taken."""

import socket
from typing import Final

_TRIES: Final = 20


def free_port_after(port: int) -> int | None:
    """A port above this one that nobody has at this moment; None when none was found."""
    for candidate in range(port + 1, min(port + 1 + _TRIES, 65_536)):
        with socket.socket() as trial:
            try:
                trial.bind(("127.0.0.1", candidate))
            except OSError:
                continue
            return candidate
    return None


def another_port(port: int) -> str:
    """Words for what to set CLOXY_PORT to."""
    free = free_port_after(port)
    return "CLOXY_PORT to a free port" + ("" if free is None else f", such as {free}")
