"""`cloxy mcp`: what an editor starts."""

import os
import sys
from dataclasses import replace

import click

from cloxy_core.cli import output
from cloxy_core.client_config import ClientError, data_directory, resolve_client
from cloxy_core.relay.running import run_relay
from cloxy_core.relay.streams import claim


@click.command()
@click.option(
    "--toolsets",
    metavar="NAMES",
    help="Toolsets that the editor sees, separated by commas (else CLOXY_MCP_TOOLSETS).",
)
def mcp(toolsets: str | None) -> int:
    """Speak MCP on the standard streams, for an editor that starts this command.

    It asks the server that all editors share, and starts it in the background if none runs on
    this machine (CLOXY_AUTOSTART=0 switches that off). It ends when its input does.
    """
    config = resolve_client(os.environ, data_directory(os.environ))
    for warning in config.warnings:
        output.warn(warning)
    if toolsets is not None:
        names = tuple(name.strip() for name in toolsets.split(",") if name.strip())
        config = replace(config, toolsets=names)
    try:
        wire = claim()
    except OSError as error:
        raise ClientError(
            "the standard streams are closed", code="streams", hint="an editor starts this command"
        ) from error
    if os.isatty(wire.source):
        say("waiting for MCP messages, which an editor sends; `cloxy connect` sets one up")
    run_relay(wire, config, os.environ, say)
    return 0


def say(text: str) -> None:
    """Tell a person something, in the editor's log."""
    output.print_line(output.escape(f"cloxy: {text}"), error=True)
    if sys.stderr is not None:
        sys.stderr.flush()
