"""`cloxy status`: what the server holds, and whether it is well."""

import os
from collections.abc import Mapping
from pathlib import Path

import click

from cloxy_core.cli import output
from cloxy_core.cli.status_absence import Absence, absence_of
from cloxy_core.cli.status_report import StatusReport
from cloxy_core.cli.status_service import ServiceState, service_state
from cloxy_core.cli.status_text import status_lines
from cloxy_core.client import Client, UnreachableError
from cloxy_core.client.verification import NotOurServerError
from cloxy_core.client_config import ClientConfig, ClientError, data_directory, resolve_client

SECONDS = 15.0


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="Print only what is wrong.")
def status(as_json: bool, quiet: bool) -> int:
    """Show memories, watcher, indexes, checks and warnings; and process, log and service.

    Exits with 0 when all is well, 1 when something is wrong, 2 when no server runs, 3 when
    something else answers there (another program, an older Cloxy, the server of another data
    directory), and 4 when the server is there but does not answer (it is starting, or stuck).
    """
    data_dir = data_directory(os.environ).absolute()
    config = resolve_client(os.environ, data_dir)
    for warning in config.warnings:
        output.warn(warning)
    service = None if quiet or config.data_dir is None else service_state(data_dir)
    try:
        report = _collect(Client(config), service)
    except ClientError as error:
        return _tell_absence(absence_of(error, config), config, data_dir, service, as_json)
    if as_json:
        output.print_json(report.as_json())
    elif not quiet:
        for line in status_lines(report):
            output.print_line(line)
    for problem in report.problems():
        output.print_line(f"cloxy: unhealthy: {output.escape(problem)}", error=True)
    return 1 if report.problems() else 0


def _collect(client: Client, service: ServiceState | None) -> StatusReport:
    """Ask for all three answers; one that fails is reported and does not hide the others.

    Raises:
        ClientError: there is no server of ours to ask, or it answers nothing in time.
    """
    failures: dict[str, ClientError] = {}
    answers: dict[str, Mapping[str, object]] = {}
    for path in ("/health", "/memory_stats", "/ingest_status"):
        try:
            answers[path] = client.request("GET", path, seconds=SECONDS)
        except (UnreachableError, NotOurServerError):
            raise
        except ClientError as error:
            if path == "/health" and error.status is None:
                raise  # no answer at all, or none of Cloxy
            failures[path] = error
            # An unhealthy server says so in the body of its refusal.
            if error.body is not None and "status" in error.body:
                answers[path] = error.body
    return StatusReport(
        url=client.url,
        health=answers.get("/health", {}),
        stats=answers.get("/memory_stats", {}),
        ingest=answers.get("/ingest_status", {}),
        failures=failures,
        service=service,
    )


def _tell_absence(
    absence: Absence,
    config: ClientConfig,
    data_dir: Path,
    service: ServiceState | None,
    as_json: bool,
) -> int:
    """Say why there is no status, and where to look; the exit code."""
    logs = None if config.data_dir is None else data_dir / "logs"
    if as_json:
        output.print_json(
            {
                "url": config.url,
                "state": absence.state,
                "healthy": False,
                "problems": [output.in_words(absence.error)],
                "pid": absence.pid,
                "logs": None if logs is None else str(logs),
                "service": None if service is None else service.as_json(None),
            }
        )
    output.fail(absence.error)
    if not as_json and service is not None and service.installed:
        output.print_line(f"  service  {output.escape(service.in_words(None))}", error=True)
    if not as_json and logs is not None and logs.is_dir():
        output.print_line(f"  logs     {output.escape(logs)}", error=True)
    return absence.exit_code
