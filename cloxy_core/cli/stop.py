"""`cloxy stop`: end the server of this machine."""

import os

import click

from cloxy_core.cli import output
from cloxy_core.client_config import data_directory, resolve_local
from cloxy_core.launching import stop_server


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print what was stopped as JSON.")
def stop(as_json: bool) -> int:
    """Stop the server of the data directory, and wait for its end.

    An installed service is stopped by the service manager, and starts again at the next login.
    Exits with 0 when no server runs afterwards.
    """
    data_dir = data_directory(os.environ).absolute()
    config = resolve_local(os.environ, data_dir)
    for warning in config.warnings:
        output.warn(warning)
    stopped = stop_server(config, data_dir)
    if as_json:
        output.print_json(
            {
                "stopped": stopped is not None,
                "url": None if stopped is None else stopped.url,
                "pid": None if stopped is None else stopped.pid,
                "service": None if stopped is None else stopped.service,
            }
        )
        return 0
    if stopped is None:
        output.print_line(output.escape(f"no server of {data_dir} runs"))
        return 0
    process = "" if stopped.pid is None else f" (process {stopped.pid})"
    what = f"the server at {stopped.url}{process}" if stopped.url else f"the server{process}"
    output.print_line(output.escape(f"stopped {what}"))
    if stopped.service is not None:
        output.print_line(
            output.escape(f"it was {stopped.service}, and starts again at the next login")
        )
    return 0
