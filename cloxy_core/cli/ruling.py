"""Rules of projects, set by the server that runs, or in the data directory when none does."""

import os
from collections.abc import Mapping

from cloxy_core.cli.server import connect
from cloxy_core.client import UnreachableError
from cloxy_core.client_config import is_loopback


def as_path(project: str) -> str:
    """A path made absolute, since the server's working directory is not ours; a name as it is."""
    if project.startswith(("~", "./", "../")) or project in {".", ".."}:
        return os.path.abspath(os.path.expanduser(project))  # noqa: PTH100, PTH111 - no links resolved
    return project


def ask(
    method: str, path: str, body: Mapping[str, object] | None, operation: str
) -> Mapping[str, object]:
    """The answer of an operation.

    Args:
        method: HTTP method.
        path: of its route.
        body: what it is given.
        operation: its name, for when no server of this machine runs.

    Raises:
        ClientError: the server refuses, or one of another machine is not there.
        CloxyError: the operation refuses, or the data directory is in use.
    """
    client = connect()
    try:
        return client.request(method, path, body, seconds=None)
    except UnreachableError:
        if not is_loopback(client.url):
            raise
    from cloxy_core.cli.stopped import run_stopped

    return run_stopped(operation, body or {})
