"""Refuses every connection and name look-up that would leave this machine, and notes it.

Code under test may swallow the error, so each refusal is also written to the file that
`TEST_NETWORK_LOG` names; the test during which a line appears there fails.
"""

import functools
import ipaddress
import os
import socket
import traceback
from pathlib import Path

LOG_VARIABLE = "TEST_NETWORK_LOG"


class NetworkRefusedError(PermissionError):
    """Something tried to leave the machine."""


def install():
    """Replace the ways out of this process; calling it again changes nothing."""
    if getattr(socket, "_cloxy_guarded", False):
        return
    socket._cloxy_guarded = True
    for name, place in (("connect", 0), ("connect_ex", 0), ("sendto", -1), ("sendmsg", 3)):
        _guard_method(name, place)
    for name in ("getaddrinfo", "gethostbyname", "gethostbyname_ex"):
        _guard_look_up(name)


def is_local_address(address):
    """Whether a socket address stays on this machine; paths of Unix sockets do."""
    if not isinstance(address, tuple):
        return True
    return _is_loopback(address[0])


def _is_loopback(host):
    if host in {"", "localhost"}:
        return True
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False


def is_local_name(host):
    """Whether looking up a name needs no name server."""
    if host is None:
        return True
    text = host.decode("ascii", "replace") if isinstance(host, bytes) else host
    if text in {"", "localhost", socket.gethostname()}:
        return True
    try:
        ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    return True


def _guard_method(name, place):
    original = getattr(socket.socket, name)

    @functools.wraps(original)
    def guarded(self, *arguments):
        address = arguments[place] if -1 <= place < len(arguments) else None
        if not is_local_address(address):
            _refuse(f"{name} to {address!r}")
        return original(self, *arguments)

    setattr(socket.socket, name, guarded)


def _guard_look_up(name):
    original = getattr(socket, name)

    @functools.wraps(original)
    def guarded(host, *arguments, **named):
        if not is_local_name(host):
            _refuse(f"{name} of {host!r}")
        return original(host, *arguments, **named)

    setattr(socket, name, guarded)


def _refuse(what):
    log = os.environ.get(LOG_VARIABLE)
    if log:
        caller = traceback.extract_stack(limit=4)[0]
        with Path(log).open("a", encoding="utf-8") as file:
            file.write(f"{what} (process {os.getpid()}, {caller.filename}:{caller.lineno})\n")
    raise NetworkRefusedError(f"the tests may not leave this machine: {what}")
