"""Which clients are on this machine, and how that shows."""

import os

from cloxy_core.connect.client import Client
from cloxy_core.connect.commands import Commands
from cloxy_core.connect.machine import Machine


def sign_of(client: Client, machine: Machine, commands: Commands) -> str | None:
    """What shows that a client is here, a path; None when nothing does.

    Raises:
        ConnectError: the home directory is not known.
    """
    for path in client.signs(machine):
        if os.path.lexists(path):
            return str(path)
    for name in client.programs:
        found = commands.find(name)
        if found is not None:
            return found
    return None
