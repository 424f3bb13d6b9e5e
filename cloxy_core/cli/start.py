"""`cloxy start`: the server, in this terminal or in the background."""

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
@click.option("-d", "--detach", is_flag=True, help="In the background, until `cloxy stop`.")
@click.option("--json", "as_json", is_flag=True, help="With -d: print where it is as JSON.")
def start(host: str | None, port: int | None, detach: bool, as_json: bool) -> int:
    """Run the server in this terminal until it is interrupted, or in the background.

    With -d it exits with 0 when the server answers, also when it ran already.
    """
    if detach:
        from cloxy_core.cli.start_detached import start_in_background

        return start_in_background(host, port, as_json=as_json)
    if as_json:
        raise click.UsageError("--json goes with -d")
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
