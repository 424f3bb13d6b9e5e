"""The server without a terminal: what a service manager runs.

`python -P -m cloxy_core.cli.background [NAME=VALUE…]`: variables may be arguments, because a
scheduled task of Windows has no environment of its own.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from cloxy_core.cli.main import main
from cloxy_core.client_config import data_directory
from cloxy_core.os_service.launch_log import redirect_streams
from cloxy_core.runtime.lock_file import LOCK_FILE, is_held, read_holder


def run(arguments: Sequence[str]) -> None:
    """Set the variables, send the streams to the launch log, and be the server."""
    for argument in arguments:
        name, equals, value = argument.partition("=")
        if equals:
            os.environ[name] = value
    os.umask(0o077)
    data_dir = data_directory(os.environ).absolute()
    redirect_streams(data_dir)
    other = _serving(data_dir)
    if other is not None:
        # A good end: with a bad one the service manager would try again and again.
        print(f"{other}; nothing to do", file=sys.stderr)
        sys.exit(0)
    main(["start"])


def _serving(data_dir: Path) -> str | None:
    """The server that has the data directory already, in words; None when none has.

    What only repairs or restores it has no address, and is worth a second try.
    """
    lock = data_dir / LOCK_FILE
    if sys.platform == "win32" or not is_held(lock):
        return None
    holder = read_holder(lock)
    if holder is None or not holder.url:
        return None
    return (
        f"Cloxy {holder.version} (process {holder.pid}) serves {data_dir} at {holder.url} already"
    )


if __name__ == "__main__":
    run(sys.argv[1:])
