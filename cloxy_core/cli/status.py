"""`cloxy status`: what the server holds, and whether it is well."""

from collections.abc import Mapping

import click

from cloxy_core.cli import output
from cloxy_core.cli.server import connect
from cloxy_core.cli.status_report import StatusReport
from cloxy_core.cli.status_text import status_lines
from cloxy_core.client import Client, UnreachableError
from cloxy_core.client_config import ClientError

SECONDS = 15.0


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def status(as_json: bool) -> int:
    """Show memories, watcher, indexes, checks and warnings.

    Exits with 0 when all is well, 1 when something is wrong and 2 when no server answers.
    """
    client = connect()
    report = _collect(client)
    if as_json:
        output.print_json(report.as_json())
    else:
        for line in status_lines(report):
            output.print_line(line)
    for problem in report.problems():
        output.print_line(f"cloxy: unhealthy: {output.escape(problem)}", error=True)
    return 1 if report.problems() else 0


def _collect(client: Client) -> StatusReport:
    """Ask for all three answers; one that fails is reported and does not hide the others."""
    failures: dict[str, ClientError] = {}
    answers: dict[str, Mapping[str, object]] = {}
    for path in ("/health", "/memory_stats", "/ingest_status"):
        try:
            answers[path] = client.request("GET", path, seconds=SECONDS)
        except UnreachableError:
            raise
        except ClientError as error:
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
    )
