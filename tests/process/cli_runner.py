"""Runs the real `cloxy` program as a child process."""

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(sys.executable).with_name("cloxy")


def run_cloxy(*arguments, url=None, seconds=120, **environment):
    """Run to the end; output as bytes, because encodings are what some tests are about."""
    return subprocess.run(
        [PROGRAM, *arguments],
        env=child_environment(url, environment),
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=seconds,
    )


def child_environment(url, extra):
    child = {**os.environ, **extra}
    if url is not None:
        child["CLOXY_URL"] = url
    return child
