"""`cloxy export` and `cloxy import`: a memory as a file, and back."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from cloxy_core.cli import output
from cloxy_core.cli.progress_line import CountLine
from cloxy_core.runtime.wording import counted

if TYPE_CHECKING:
    from cloxy_core.services.exchange.arriving import Summary

STREAM = "-"
_SHOWN = 20
"""Damaged lines that are named; of the others only the number is told."""

_LEFT = {"forgotten": "forgotten", "empty": "empty", "ruled_out": "kept out by rules of projects"}
"""What was not taken, and how it is said."""


@click.command()
@click.argument("file", default=STREAM)
@click.option("--project", help="Only this folder and below, or the folders of this name.")
@click.option("--since", help="Not before this date, instant or phrase, such as 'last week'.")
@click.option("--until", help="Not after this date (its whole day counts), instant or phrase.")
@click.option("--source", help="Only sources whose label begins with this.")
@click.option("--force", is_flag=True, help="Replace FILE if there is one.")
@click.option("--json", "as_json", is_flag=True, help="Print what was written as JSON.")
def export(
    file: str,
    project: str | None,
    since: str | None,
    until: str | None,
    source: str | None,
    force: bool,
    as_json: bool,
) -> int:
    """Write the memory to FILE, or to standard output, as JSON Lines.

    Secrets were taken out when it was stored; everything else that was said is in it, so keep the
    file as you keep the memory. Works while the server runs. A message is whole or not in it.
    """
    if file == STREAM and as_json:
        raise click.UsageError("--json needs a FILE, since standard output is the export itself")
    from cloxy_core.cli.export_run import Wanted, run

    wanted = Wanted(project, since, until, source)
    with CountLine("exporting", "of") as progress:
        counts = run(os.environ, wanted, None if file == STREAM else file, force, progress)
    if file == STREAM:
        return 0
    if as_json:
        output.print_json({"file": file, **counts})
    else:
        said = ", ".join(counted(counts[f"{one}s"], one) for one in ("session", "message", "note"))
        output.print_line(f"{output.escape(file)}: {said}")
    return 0


@click.command(name="import")
@click.argument("file", metavar="PATH")
@click.option("--dry-run", is_flag=True, help="Say what would come, and write nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
def import_(file: str, dry_run: bool, as_json: bool) -> int:
    """Take in PATH, a file which `cloxy export` wrote; - is standard input.

    PATH may also be what ChatGPT or Claude.ai sent as an export: the zip, or conversations.json; or
    what another memory system keeps: its SQLite database, its folder, or the JSON file it exports.

    The server must be stopped, unless with --dry-run. What is there already is not doubled, and
    what was forgotten here stays forgotten. Exits with 1 when a line could not be taken or the
    file is cut.
    """
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from cloxy_core.cli.import_run import run

    name = "standard input" if file == STREAM else file
    complaints = _Complaints(name)
    with CountLine("reading line") as progress:
        complaints.progress = progress
        summary = run(
            os.environ,
            None if file == STREAM else file,
            progress.count,
            complaints.tell,
            dry_run=dry_run,
        )
    complaints.finish()
    if summary.cut is not None:
        output.print_line(f"{output.escape(name)}: {summary.cut}", error=True)
    if as_json:
        output.print_json({"file": file, "dry_run": dry_run, **summary.as_object()})
    else:
        _show(summary, dry_run=dry_run)
    return 0 if summary.fine else 1


class _Complaints:
    """Says what is wrong with lines, of the first ones."""

    def __init__(self, name: str) -> None:
        self.progress: CountLine | None = None
        self._name = output.escape(name)
        self._count = 0

    def tell(self, line: int, words: str) -> None:
        """A line is damaged; or, with 0, something that is no line."""
        self._count += 1
        if self._count <= _SHOWN:
            if self.progress is not None:
                self.progress.clear()
            place = f"{self._name}:{line}" if line else self._name
            output.print_line(f"{place}: {output.escape(words)}", error=True)

    def finish(self) -> None:
        """Say how many more there are."""
        if self._count > _SHOWN:
            more = counted(self._count - _SHOWN, "line")
            output.print_line(f"{self._name}: {more} more could not be taken", error=True)


def _show(summary: "Summary", *, dry_run: bool) -> None:
    whole: Mapping[str, object] = summary.as_object()
    rows: list[tuple[str, str]] = []
    if whole.get("agent"):
        span = f", {whole['first']} to {whole['last']}" if whole.get("first") else ""
        rows.append(("from", output.escape(f"{whole['agent']}{span}")))
    for name in ("sessions", "messages", "notes"):
        found = whole[name]
        assert isinstance(found, dict)
        said = [f"{found['new']:,} new", f"{found['known']:,} known"]
        said += [f"{found[key]:,} {words}" for key, words in _LEFT.items() if found[key]]
        rows.append((name, ", ".join(said)))
    if whole.get("kinds"):
        rows.append(("notes there", _listed(whole["kinds"])))
    if whole.get("homeless"):
        rows.append(("no place here", _listed(whole["homeless"])))
    is_foreign = "kinds" in whole and bool(whole["kinds"] or whole["homeless"])
    for name, number in (
        ("changed notes", summary.changed),
        ("secrets replaced", summary.redactions),
        ("passed over" if is_foreign else "damaged lines", summary.bad),
        ("lines of unknown kinds", summary.unknown),
    ):
        if number:
            rows.append((name, f"{number:,}"))
    for line in output.table(rows):
        output.print_line(line)
    if dry_run:
        output.print_line("nothing was written")


def _listed(counts: object) -> str:
    assert isinstance(counts, dict)
    return "; ".join(f"{name}: {number:,}" for name, number in counts.items())
