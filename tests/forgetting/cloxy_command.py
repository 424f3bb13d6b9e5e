"""Running `cloxy` as a person would, against a server of a test."""

import os
import subprocess

from server.live_server import PROGRAM


def cloxy(server, *arguments, **more):
    """The finished command."""
    return subprocess.run(
        [PROGRAM, *arguments],
        env={**os.environ, **server.settings, "CLOXY_URL": server.url},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        **more,
    )
