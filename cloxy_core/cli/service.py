"""`cloxy install-service` and `cloxy uninstall-service`: the server at every login."""

import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from cloxy_core.cli import fields, output
from cloxy_core.client import Client, UnreachableError
from cloxy_core.client_config import ClientError, data_directory, resolve_local
from cloxy_core.os_service.boundary import Machine, ServiceError
from cloxy_core.os_service.installed import installed
from cloxy_core.os_service.installing import Change, install, uninstall
from cloxy_core.os_service.launch_log import launch_log
from cloxy_core.os_service.planning import DATA_DIR, Plan, parse_variables, plan

_ANSWER_SECONDS = 10.0
_DONE = {
    "installed": "installed and started",
    "changed": "written anew and started again",
    "unchanged": "is installed like this already; nothing was done",
}


@click.command("install-service")
@click.option(
    "--env",
    "variables",
    multiple=True,
    metavar="NAME=VALUE",
    help="A CLOXY_* variable for the service; NAME= takes one away again. May be repeated.",
)
@click.option(
    "--print", "only_print", is_flag=True, help="Show what would be done, and do nothing."
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def install_service(variables: tuple[str, ...], only_print: bool, as_json: bool) -> int:
    """Start the server at every login, and again when it fails.

    It becomes a launchd agent on macOS, a systemd user unit on Linux, and a scheduled task on
    Windows. It reads config.toml in the data directory as every server does. Called again, it
    keeps the variables of the first time, and starts the service anew only if something changed.
    """
    machine, data_dir = Machine.here(), _data_dir()
    wanted = plan(data_dir, parse_variables(variables), machine)
    if only_print:
        _print_plan(wanted, as_json)
        return 0
    # What a shell sets here is easily taken for what the service will have.
    for name in _left_behind(os.environ, wanted.wanted.environment):
        output.warn(f"{name} is set here, but the service will not have it; see --env")
    if installed(data_dir, machine) is None:
        _refuse_beside_another(data_dir)
    change = install(wanted, machine)
    if as_json:
        output.print_json({**_as_json(wanted), "state": change.state, **_aside(change)})
        return 0
    output.print_line(f"{output.escape(wanted.manager.words)} {_described(change)}")
    _tell_aside(change)
    output.print_line(f"  definition  {output.escape(change.definition)}")
    output.print_line(f"  log         {output.escape(data_dir / 'logs' / 'cloxy.log')}")
    output.print_line(f"  at start    {output.escape(launch_log(data_dir))}")
    output.print_line(wanted.manager.advice())
    output.print_line("`cloxy status` shows how it is, `cloxy uninstall-service` removes it.")
    return 0


@click.command("uninstall-service")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def uninstall_service(as_json: bool) -> int:
    """Stop the service and remove it; the memory stays."""
    machine, data_dir = Machine.here(), _data_dir()
    change = uninstall(data_dir, machine)
    if as_json:
        state = "absent" if change is None else change.state
        name = None if change is None else change.name
        aside = {"aside": None} if change is None else _aside(change)
        output.print_json({"state": state, "name": name, "data_dir": str(data_dir), **aside})
        return 0
    if change is None:
        output.print_line(f"no service is installed for {output.escape(data_dir)}")
        return 0
    output.print_line(f"{output.escape(change.name)} stopped and removed")
    _tell_aside(change)
    output.print_line(f"The memory, its settings and logs stay in {output.escape(data_dir)}.")
    return 0


def _data_dir() -> Path:
    return Path(os.path.abspath(data_directory(os.environ)))  # noqa: PTH100 - links stay


def _left_behind(environ: Mapping[str, str], given: Mapping[str, str]) -> Sequence[str]:
    """Variables of this shell that a server started here would have, and the service will not."""
    known = {DATA_DIR, "CLOXY_URL", *given}
    return sorted(n for n in environ if n.startswith("CLOXY_") and environ[n] and n not in known)


def _refuse_beside_another(data_dir: Path) -> None:
    """A service cannot start while another server has its data directory.

    Raises:
        ServiceError: a server of this data directory runs.
    """
    client = Client(resolve_local(os.environ, data_dir))
    try:
        health = client.request("GET", "/health", seconds=_ANSWER_SECONDS)
    except UnreachableError:
        return
    except ClientError as error:
        output.warn(f"{output.in_words(error)} (the service may find its port taken)")
        return
    pid = fields.text(health, "pid")
    raise ServiceError(
        f"a server runs already at {client.url}{f' (process {pid})' if pid else ''}",
        hint="stop it with `cloxy stop`, then install the service",
    )


def _print_plan(wanted: Plan, as_json: bool) -> None:
    if as_json:
        output.print_json({**_as_json(wanted), "state": "shown"})
        return
    output.print_line(f"# {output.escape(wanted.path)}")
    text = wanted.manager.describe(wanted.definition)
    output.print_line(output.escape(text, lines=True).rstrip("\n"))
    output.print_line("# then")
    for command in _commands(wanted):
        output.print_line(output.escape(shlex.join(command)))


def _as_json(wanted: Plan) -> dict[str, object]:
    return {
        "kind": wanted.manager.platform,
        "name": wanted.wanted.name,
        "definition": str(wanted.path),
        "text": wanted.manager.describe(wanted.definition),
        "program": list(wanted.wanted.program),
        "environment": dict(wanted.wanted.environment),
        "commands": [list(command) for command in _commands(wanted)],
        "logs": str(wanted.wanted.data_dir / "logs"),
    }


def _commands(wanted: Plan) -> Sequence[Sequence[str]]:
    return [step.command for step in wanted.steps()]


def _described(change: Change) -> str:
    return f"{output.escape(change.name)} {_DONE[change.state]}"


def _aside(change: Change) -> dict[str, object]:
    return {"aside": None if change.aside is None else str(change.aside)}


def _tell_aside(change: Change) -> None:
    if change.aside is not None:
        output.warn(
            f"the definition was not as Cloxy wrote it; the former one is kept as {change.aside}, "
            "look there for settings (a key, folders) that the new one does not have"
        )
