"""`cloxy reembed`: make all vectors anew, with the model that the settings name."""

import asyncio
import os
from typing import TYPE_CHECKING

import click

from cloxy_core.cli import fields, output
from cloxy_core.cli.reembed_progress import FillProgress
from cloxy_core.cli.reembed_server import AtServer
from cloxy_core.client import Client, UnreachableError
from cloxy_core.client_config import ClientConfig, data_directory, resolve_client
from cloxy_core.runtime.lock_file import LOCK_FILE, is_held
from cloxy_core.runtime.wording import counted

if TYPE_CHECKING:
    from cloxy_core.cli.reembed_run import Outcome

INTERRUPTED = 130


@click.command()
@click.option("--status", "action", flag_value="status", help="Show how far it is; change nothing.")
@click.option("--cancel", "action", flag_value="cancel", help="Stop, and remove what was made.")
@click.option(
    "--drop-old",
    "action",
    flag_value="drop_old",
    help="Remove vectors of former models that are kept and not used.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
def reembed(action: str | None, as_json: bool) -> int:
    """Make the vectors of all passages with the model that is set now.

    Needed after a change of the model, its dimension or a prefix. Questions are answered from the
    vectors that are there until all new ones are made; then those answer, and the former ones are
    removed. A running server does it behind everything else: put the model into config.toml before,
    which it reads again. Without a server the command does it itself. What was interrupted, even by
    a power cut, goes on where it was. Exits with 1 when a passage could not be embedded.
    """
    action = action or "start"
    config = _server()
    if config is not None:
        try:
            return AtServer(Client(config), as_json=as_json).run(action, os.environ)
        except UnreachableError:
            if config.data_dir is None:
                raise
            # It is starting or ending, or listens elsewhere: the lock says who has the data.
    return _here(action, as_json=as_json)


def _server() -> ClientConfig | None:
    """Where the server is; None when none has the data directory of this machine."""
    data_dir = data_directory(os.environ).absolute()
    config = resolve_client(os.environ, data_dir)
    for warning in config.warnings:
        output.warn(warning)
    is_stopped = config.data_dir is not None and not is_held(data_dir / LOCK_FILE)
    return None if is_stopped else config


def _here(action: str, *, as_json: bool) -> int:
    """Work on the data directory without a server."""
    # As `cloxy start` does; the engine is imported only when it is going to run.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from cloxy_core.cli.reembed_run import as_object, drop, run, spaces
    from cloxy_core.cli.reembed_text import show_spaces

    if action == "status":
        found = spaces(os.environ)
        if as_json:
            output.print_json({"state": "stopped", "spaces": found})
        else:
            output.print_line("no server runs, and nothing is being embedded")
            show_spaces(found)
        return 0
    if action != "start":
        dropped = asyncio.run(drop(os.environ, dormant=action == "drop_old"))
        _tell_dropped(action, dropped, as_json=as_json)
        return 0
    with FillProgress() as progress:
        try:
            outcome = asyncio.run(run(os.environ, progress))
        except KeyboardInterrupt:
            progress.clear()
            output.print_line(f"stopped: {progress.reached()}.", error=True)
            output.print_line(
                "Nothing is lost: run `cloxy reembed` again, or start the server, and it goes on."
                " Until then the former vectors answer.",
                error=True,
            )
            return INTERRUPTED
    if as_json:
        output.print_json(as_object(outcome))
    else:
        _show(outcome)
    return 1 if outcome.failed else 0


def _tell_dropped(action: str, dropped: int, *, as_json: bool) -> None:
    if as_json:
        output.print_json(
            {"dropped": dropped} if action == "drop_old" else {"cancelled": bool(dropped)}
        )
    elif action == "drop_old":
        output.print_line(
            f"vectors of {dropped} former models were removed"
            if dropped
            else "there were no vectors of former models"
        )
    else:
        output.print_line(
            "the half-made vectors were removed" if dropped else "there was nothing to cancel"
        )


def _show(outcome: "Outcome") -> None:
    model, count = output.escape(outcome.model), outcome.embedded
    if count:
        output.print_line(
            f"{counted(count, 'passage')} embedded in {fields.duration(outcome.seconds)}"
        )
    output.print_line(f"vectors of {model}: {outcome.vectors:,}")
    if outcome.failed:
        output.print_line(f"failed: {output.escape(outcome.reason or '')}", error=True)
