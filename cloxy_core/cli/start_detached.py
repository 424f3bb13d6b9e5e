"""`cloxy start -d`: the server in the background."""

import os
from dataclasses import replace

import click

from cloxy_core.cli import output
from cloxy_core.client_config import data_directory, resolve_local
from cloxy_core.launching import ensure_server, running_at
from cloxy_core.os_service.launch_log import launch_log


def start_in_background(host: str | None, port: int | None, *, as_json: bool) -> int:
    """Start the server unless it runs, wait for its first answer, and say where it is.

    Raises:
        ClientError: it cannot be started; the message says what to do.
        UsageError: a free port was asked for, which nobody would find.
    """
    if port == 0:
        raise click.UsageError("-d needs a port that clients can find, not 0")
    data_dir = data_directory(os.environ).absolute()
    config = resolve_local(os.environ, data_dir, host, port)
    for warning in config.warnings:
        output.warn(warning)
    url = None if port is not None else running_at(data_dir)
    running = ensure_server(replace(config, url=url or config.url), os.environ, host=host)
    log = launch_log(data_dir)
    if as_json:
        output.print_json(
            {
                "url": running.url,
                "pid": running.pid,
                "version": running.version,
                "started": running.started,
                "log": str(log),
            }
        )
        return 0
    process = "" if running.pid is None else f" (process {running.pid})"
    state = "runs" if running.started else "already runs"
    output.print_line(output.escape(f"Cloxy {running.version} {state} at {running.url}{process}"))
    output.print_line(output.escape(f"log in {log}"))
    if running.started:
        output.print_line("stop it with `cloxy stop`")
    return 0
