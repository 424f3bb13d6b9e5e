"""`cloxy ignore` and `cloxy retention`: what is never remembered, and what is not kept for ever."""

import sys
from collections.abc import Mapping

import click

from cloxy_core.cli import fields, output
from cloxy_core.cli.ruling import as_path, ask
from cloxy_core.runtime.wording import counted


@click.command()
@click.argument("project", metavar="[PROJECT]", required=False)
@click.option("--forget", is_flag=True, help="Also forget what is stored of it.")
@click.option("--remove", is_flag=True, help="Remember PROJECT again.")
@click.option("--list", "shown", is_flag=True, help="Show all rules.")
@click.option("--yes", is_flag=True, help="With --forget: do not ask.")
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
def ignore(
    project: str | None, forget: bool, remove: bool, shown: bool, yes: bool, as_json: bool
) -> int:
    """Remember nothing of PROJECT: its path, or the name of its last folder.

    Session logs of that folder and all below it are passed over before anything of them is
    stored. What is stored already stays, unless you add --forget. After --remove the logs that
    are still there are read again. Works while the server runs and when it is stopped.
    """
    if shown:
        return _list(as_json=as_json)
    if project is None:
        raise click.UsageError("name a project, or add --list")
    if forget and remove:
        raise click.UsageError("--forget and --remove exclude each other")
    if forget and not yes:
        _confirm(project)
    body: dict[str, object] = {"project": as_path(project), "remove": remove, "forget": forget}
    done = ask("POST", "/ignore", body, "project-ignore")
    if as_json:
        output.print_json(done)
        return 0
    path = output.escape(fields.text(done, "project"))
    if remove:
        output.print_line(f"remembered again: {path}; its logs are read at the next pass")
        return 0
    output.print_line(f"ignored: {path}, and all below it")
    if forget:
        output.print_line(f"memories forgotten: {fields.count(done, 'deleted'):,}")
    else:
        output.print_line("what is stored of it stays; `cloxy forget --project` takes it out")
    return 0


@click.command()
@click.argument("project", metavar="[PROJECT]", required=False)
@click.argument("days", metavar="[DAYS]", required=False, type=click.IntRange(1, 36_500))
@click.option("--off", is_flag=True, help="Keep PROJECT for ever again.")
@click.option("--list", "shown", is_flag=True, help="Show all rules, and what is too old now.")
@click.option(
    "--apply", "now", is_flag=True, help="Remove what is too old now, not at the next hour."
)
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
def retention(
    project: str | None, days: int | None, off: bool, shown: bool, now: bool, as_json: bool
) -> int:
    """Keep what is said in PROJECT for DAYS days only; off unless you set it.

    The server removes what is older, every hour, from sessions of that folder and all below it.
    Notes stay. A session log that is still there does not bring it back while the rule holds;
    after --off it does. Run with --list first to see how much is too old.
    """
    if shown:
        return _list(as_json=as_json)
    if now:
        return _apply(as_json=as_json)
    if project is None or (days is None) != off:
        raise click.UsageError("name a project and a number of days, or add --off or --list")
    body: dict[str, object] = {"project": as_path(project), "days": days}
    done = ask("POST", "/retention", body, "project-retention")
    if as_json:
        output.print_json(done)
        return 0
    path = output.escape(fields.text(done, "project"))
    if days is None:
        output.print_line(f"kept for ever: {path}")
    else:
        output.print_line(f"kept for {counted(days, 'day')}: {path}")
        _show_expired(ask("POST", "/expire", {"dry_run": True}, "project-expire"))
    return 0


def _list(*, as_json: bool) -> int:
    rules = ask("GET", "/project_rules", None, "project-rules")
    expired = ask("POST", "/expire", {"dry_run": True}, "project-expire")
    if as_json:
        output.print_json({**rules, "expired": expired.get("expired", [])})
        return 0
    rows = [(fields.text(rule, "project"), _words(rule)) for rule in fields.records(rules, "rules")]
    for line in output.table(rows):
        output.print_line(line)
    if not rows:
        output.print_line("There are no rules: everything is remembered, and kept for ever.")
    _show_expired(expired)
    return 0


def _apply(*, as_json: bool) -> int:
    done = ask("POST", "/expire", {"dry_run": False}, "project-expire")
    if as_json:
        output.print_json(done)
    else:
        _show_expired(done)
    return 0


def _words(rule: Mapping[str, object]) -> str:
    said = ["ignored"] if rule.get("ignored") else []
    if rule.get("keep_days") is not None:
        said.append(f"kept for {counted(fields.count(rule, 'keep_days'), 'day')}")
    return ", ".join(said)


def _show_expired(reply: Mapping[str, object]) -> None:
    what = "would be removed" if reply.get("dry_run") else "removed"
    for old in fields.records(reply, "expired"):
        messages = fields.count(old, "messages")
        output.print_line(
            f"{what}: {counted(messages, 'message')} of "
            f"{output.escape(fields.text(old, 'project'))}"
        )


def _confirm(project: str) -> None:
    if not output.is_terminal(sys.stdin):
        raise click.UsageError("nobody can be asked here; add --yes")
    words = f"Forget all memories of {output.escape(project)} for good?"
    click.confirm(words, abort=True, err=True)
