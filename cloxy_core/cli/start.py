"""`cloxy start`: the server in the foreground."""

import os

import click

from cloxy_core.cli import output


@click.command()
@click.option("--host", metavar="ADDRESS", help="Address to listen on (else CLOXY_HOST).")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help="Port to listen on (else CLOXY_PORT); 0 takes a free one.",
)
def start(host: str | None, port: int | None) -> int:
    """Run the server in this terminal until it is interrupted."""
    # Pydantic would import every installed package that offers it a plugin; ours need none.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # The whole engine: imported when it is going to run, and for no other command.
    from cloxy_core.app import serve
    from cloxy_hookspecs import CloxyError

    try:
        return serve(host=host, port=port)
    except CloxyError as error:
        output.fail(error)
        return 1
