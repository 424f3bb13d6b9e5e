"""`cloxy connect`: makes editors and agents know Cloxy, and takes it back."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cloxy_core.cli import output

if TYPE_CHECKING:
    from cloxy_core.cli.connect_report import Report
    from cloxy_core.cli.connect_run import Session

_ASKED_FOR = 2


@click.command()
@click.argument("clients", nargs=-1, metavar="[CLIENT]...")
@click.option("--yes", is_flag=True, help="Write without asking.")
@click.option("--dry-run", is_flag=True, help="Only show what would be written.")
@click.option("--undo", is_flag=True, help="Take our entry out again.")
@click.option("--print", "only_print", is_flag=True, help="Print what belongs where, and stop.")
@click.option("--list", "only_list", is_flag=True, help="Show all clients and how they stand.")
@click.option(
    "--project",
    is_flag=False,
    flag_value=".",
    metavar="[DIR]",
    help="Use the project's file instead of yours; by default of this folder.",
)
@click.option("--http", is_flag=True, help="Let the client use the server's address.")
@click.option("--name", default="cloxy", show_default=True, help="Name of the entry.")
@click.option("--replace", is_flag=True, help="Overwrite an entry of that name that is not ours.")
@click.option("--json", "as_json", is_flag=True, help="Print what was found and done as JSON.")
def connect(
    clients: tuple[str, ...],
    yes: bool,
    dry_run: bool,
    undo: bool,
    only_print: bool,
    only_list: bool,
    project: str | None,
    http: bool,
    name: str,
    replace: bool,
    as_json: bool,
) -> int:
    """Let editors and agents use this memory, by an entry in their own configuration.

    Without CLIENT it looks for those on this machine. It shows every change and asks before it
    writes. An entry holds the path of this program and never a key.

    Clients: claude-code, claude-desktop, cursor, vscode, zed, continue, codex, gemini, cline,
    copilot, windsurf.
    """
    from cloxy_core.cli.connect_report import Options
    from cloxy_core.cli.connect_run import Session

    if undo + only_print + only_list > 1:
        raise click.UsageError("--undo, --print and --list do not go together")
    if yes and dry_run:
        raise click.UsageError("--yes and --dry-run do not go together")
    if project is not None and not Path(project).is_dir():
        # `--project cursor` reads as if cursor were the folder.
        clients, project = (project, *clients), "."
    session = Session(
        Options(
            clients=clients,
            undo=undo,
            http=http,
            name=name,
            replace=replace,
            project=None if project is None else Path(project).absolute(),
        )
    )
    if only_print:
        return _print(session, as_json=as_json)
    if only_list:
        return _list(session, as_json=as_json)
    return _change(session, yes=yes, dry_run=dry_run, as_json=as_json)


def _print(session: "Session", *, as_json: bool) -> int:
    snippets = session.snippets()
    if as_json:
        output.print_json({"clients": [each.as_object() for each in snippets]})
        return 0
    for number, each in enumerate(snippets):
        if number:
            output.print_line()
        output.print_line(f"{output.bold(each.title)}: {output.escape(each.where)}", error=True)
        for note in each.notes:
            output.print_line(output.escape(note), error=True)
        output.print_line(output.escape(each.text.rstrip("\n"), lines=True))
    return 0


def _list(session: "Session", *, as_json: bool) -> int:
    rows = session.states()
    if as_json:
        output.print_json({"clients": [row.as_object() for row in rows]})
        return 0
    cells = [("CLIENT", "HERE", "CONNECTED", "FILE")]
    cells += [(row.key, "yes" if row.sign else "no", row.state, row.path) for row in rows]
    for line in output.table(cells):
        output.print_line(line)
    return 0


def _change(session: "Session", *, yes: bool, dry_run: bool, as_json: bool) -> int:
    reports = session.plan()
    pending = [each for each in reports if each.pending]
    if not as_json:
        _show_plan(session, reports)
    agreed = bool(pending) and not dry_run and (yes or (not as_json and _asked(len(pending))))
    if agreed:
        session.perform(pending)
    if as_json:
        objects = [each.as_object() for each in reports]
        output.print_json({"clients": objects, "left_out": session.left_out})
    elif agreed:
        _show_done(session, pending)
    return _exit_code(reports, pending, agreed=agreed, dry_run=dry_run)


def _exit_code(
    reports: "list[Report]", pending: "list[Report]", *, agreed: bool, dry_run: bool
) -> int:
    if any(each.error is not None for each in reports):
        return 1
    if pending and not agreed and not dry_run:
        _say_unwritten()
        return 1 if _can_ask() else _ASKED_FOR
    return 0


def _show_plan(session: "Session", reports: "list[Report]") -> None:
    if not reports:
        output.print_line(session.nothing_found)
    for title in session.left_out:
        output.print_line(f"{output.escape(title)} is left out: it has no such file or address.")
    for report in reports:
        output.print_line(f"{output.bold(report.title)}: {output.escape(report.path)}")
        if report.error is not None:
            output.print_line(f"  {output.escape(report.error)}")
            continue
        output.print_line(f"  {output.escape(report.summary)}")
        for note in report.notes:
            output.print_line(f"  note: {output.escape(note)}")
        for line in report.lines:
            output.print_line(f"    {output.escape(line)}")


def _show_done(session: "Session", done: "list[Report]") -> None:
    for report in done:
        if report.error is not None:
            output.print_line(f"cloxy: {output.escape(report.error)}", error=True)
            continue
        word = "disconnected" if session.undo else "connected"
        output.print_line(f"{word}: {report.title}. Next: {report.next_step}.")
        if not session.undo:
            output.print_line(f"  To check: {report.check}.")


def _can_ask() -> bool:
    return output.is_terminal(sys.stdin) and output.is_terminal(sys.stderr)


def _asked(number: int) -> bool:
    if not _can_ask():
        return False
    words = "Write this change?" if number == 1 else f"Write these {number} changes?"
    return click.confirm(words, default=False, err=True)


def _say_unwritten() -> None:
    words = "Nothing was written."
    if not _can_ask():
        words = "Nothing was written, since nobody can be asked here; add --yes to write."
    output.print_line(words, error=True)
