"""Ports of this machine that stay free for as long as a test needs them.

A port that was found free and let go is given to the next program that asks for any: other tests
ask all the time. One that is held is refused to whoever connects, is given to nobody, and can be
had by a server that asks for it by its number with `SO_REUSEADDR`, as servers do.
"""

import contextlib
import socket
import sys


def hold_port():
    """A socket that keeps a port; close it when the port is no longer needed."""
    held = socket.socket()
    try:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", 0))
    except OSError:
        held.close()
        raise
    return held


@contextlib.contextmanager
def held_port():
    """The number of a port that is kept in the block."""
    with hold_port() as held:
        port = held.getsockname()[1]
        if sys.platform != "linux":
            held.close()  # elsewhere it would be refused to the server, too
        yield port
