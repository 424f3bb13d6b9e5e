"""`cloxy forget`: take something out of the memory, for good."""

import sys
from collections.abc import Mapping
from urllib.parse import urlencode

import click

from cloxy_core.cli import fields, output
from cloxy_core.cli.server import connect
from cloxy_core.client import Client
from cloxy_core.runtime.wording import counted

NOTHING = "There is nothing to forget."
KINDS = {
    "transcript": "the agent's own session log",
    "backup": "a backup that you made",
    "export": "an export that you made",
    "session": "another session that says the same",
    "memory": "another memory that says the same",
}


@click.command()
@click.argument("memory_id", metavar="[ID]", required=False, type=click.IntRange(min=1))
@click.option("--source", help="All memories of this source label, and below it after a colon.")
@click.option("--session", help="All of one session, by the agent's own id of it.")
@click.option("--project", help="All of a project: its path, or the name of its last folder.")
@click.option("--dry-run", is_flag=True, help="Only count.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--json", "as_json", is_flag=True, help="Print the server's answer as JSON.")
def forget(
    memory_id: int | None,
    source: str | None,
    session: str | None,
    project: str | None,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> int:
    """Forget one memory (ID, as `cloxy recall` shows it), a source, a session or a project.

    It is taken out of the database, of every index and of the backups that Cloxy made by itself,
    and does not come back when a session log is read again. What you made yourself, and the
    session logs of agents, are not changed: they are named at the end.
    """
    wanted = {"source_prefix": source, "session": session, "project": project}
    named = {name: value for name, value in wanted.items() if value is not None}
    if len(named) + (memory_id is not None) != 1:
        raise click.UsageError("name exactly one: ID, --source, --session or --project")
    client = connect()
    told = _ask(client, memory_id, named, dry_run=True)
    if dry_run or not fields.count(told, "messages"):
        _show_count(told, as_json=as_json)
        return 0
    if not yes:
        _confirm(told)
    done = _ask(client, memory_id, named, dry_run=False)
    if as_json:
        output.print_json(done)
    else:
        _show(done)
    return 0


def _ask(
    client: Client, memory_id: int | None, named: Mapping[str, object], *, dry_run: bool
) -> Mapping[str, object]:
    if memory_id is None:
        return client.request("POST", "/forget", {**named, "dry_run": dry_run}, seconds=None)
    query = urlencode({"dry_run": str(dry_run).lower()})
    return client.request("DELETE", f"/memory/{memory_id}?{query}", seconds=None)


def _confirm(told: Mapping[str, object]) -> None:
    if not output.is_terminal(sys.stdin):
        raise click.UsageError("nobody can be asked here; add --yes")
    click.confirm(f"Forget {_count(told)} for good?", abort=True, err=True)


def _count(reply: Mapping[str, object]) -> str:
    memories = fields.count(reply, "memories" if "memories" in reply else "deleted")
    messages = fields.count(reply, "messages")
    return f"{counted(memories, 'memory', 'memories')} ({counted(messages, 'message')})"


def _show_count(told: Mapping[str, object], *, as_json: bool) -> None:
    if as_json:
        output.print_json(told)
    elif fields.count(told, "messages"):
        output.print_line(f"{_count(told)} would be forgotten")
    else:
        output.print_line(NOTHING)


def _show(done: Mapping[str, object]) -> None:
    output.print_line(f"forgotten: {_count(done)}")
    rewritten = fields.count(done, "backups_rewritten")
    if rewritten:
        copies = counted(rewritten, "copy", "copies")
        output.print_line(f"taken out of {copies} that Cloxy had made by itself")
    for path in fields.items(done, "backups_removed"):
        output.print_line(f"removed, since it could not be taken out: {output.escape(path)}")
    held = list(fields.records(done, "still_in"))
    if held:
        output.print_line("It is still in:")
    for entry in held:
        kind = KINDS.get(fields.text(entry, "kind"), fields.text(entry, "kind"))
        output.print_line(f"  {output.escape(fields.text(entry, 'path'))} ({output.escape(kind)})")
    if done.get("pending"):
        output.warn(f"pending: {fields.text(done, 'pending_reason')}")
