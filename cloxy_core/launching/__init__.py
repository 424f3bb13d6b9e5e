"""Starting a server in the background, once, however many want it; and stopping it."""

from cloxy_core.launching.launching import (
    LaunchError,
    Running,
    answering,
    ensure_server,
    running_at,
)
from cloxy_core.launching.stopping import Stopped, stop_server

__all__ = [
    "LaunchError",
    "Running",
    "Stopped",
    "answering",
    "ensure_server",
    "running_at",
    "stop_server",
]
