"""`cloxy ingest`: read the session logs now, and say how it goes."""

import os
import sys
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path

import click

from cloxy_core.cli import fields, output
from cloxy_core.cli.progress import IngestProgress
from cloxy_core.cli.server import connect
from cloxy_core.runtime.wording import counted


@click.command()
@click.argument("directory", metavar="[DIR]", required=False)
@click.option("--force", is_flag=True, help="Read every file from its start, known or not.")
@click.option("--json", "as_json", is_flag=True, help="Print the server's report as JSON.")
def ingest(directory: str | None, force: bool, as_json: bool) -> int:
    """Read the session logs now instead of at the watcher's next look.

    Without DIR all watched folders are read. DIR may be any folder on the machine of the server,
    which is then read once; links below it are never followed. Exits with 1 when a file could not
    be read.
    """
    client = connect()
    body: dict[str, object] = {"force": force}
    if directory is not None:
        # The server's working directory is not ours.
        body["convo_dir"] = os.path.abspath(Path(directory).expanduser())  # noqa: PTH100 - no links resolved
    watched = output.is_terminal(sys.stderr)
    with IngestProgress(client) if watched else nullcontext():
        # A folder that is not watched is read only for who owns the memory.
        report = client.request(
            "POST", "/ingest_convos", body, seconds=None, as_owner=directory is not None
        )
    if as_json:
        output.print_json(report)
    else:
        _show(report)
    return 1 if fields.items(report, "errors") else 0


def _show(report: Mapping[str, object]) -> None:
    found, processed = fields.count(report, "files_found"), fields.count(report, "files_processed")
    stored = fields.count(report, "chunks_stored")
    output.print_line(
        f"{counted(found, 'file')} found, {processed:,} with something new,"
        f" {counted(stored, 'memory', 'memories')} added"
    )
    for name, words in (
        ("chunks_duplicate", "messages were known already"),
        ("bad_lines", "damaged lines were passed over"),
    ):
        if fields.count(report, name):
            output.print_line(f"{fields.count(report, name):,} {words}")
    for failure in fields.items(report, "errors"):
        output.print_line(f"failed: {output.escape(_in_words(failure))}", error=True)
    for passed in fields.items(report, "passed_over"):
        output.print_line(f"note: {output.escape(_in_words(passed))}", error=True)
    for file in fields.items(report, "drift"):
        output.print_line(f"drift: {output.escape(file)} has records but no message", error=True)


def _in_words(failure: object) -> str:
    if isinstance(failure, dict):
        return f"{fields.text(failure, 'file')}: {fields.text(failure, 'error')}"
    return str(failure)
