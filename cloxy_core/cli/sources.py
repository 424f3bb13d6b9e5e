"""`cloxy sources`: which agents' logs are read, and how that goes."""

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module

import click

from cloxy_core.cli import fields, output
from cloxy_core.cli.server import connect
from cloxy_core.runtime.wording import counted

SECONDS = 60.0
SHOWN = 5


@click.group(invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print the server's answer as JSON.")
@click.pass_context
def sources(context: click.Context, as_json: bool) -> int:
    """List the agents that Cloxy knows the logs of, and how reading them goes.

    Exits with 1 when something that is read could not be looked at, or has drifted: its files hold
    records but no message any more, so that its format has probably changed.
    """
    if context.invoked_subcommand is not None:
        return 0
    answer = connect().request("GET", "/sources", seconds=SECONDS)
    found = list(fields.records(answer, "sources"))
    if as_json:
        output.print_json(answer)
    else:
        for source in found:
            if not _is_absent(source):
                for line in _lines(source):
                    output.print_line(line)
        # An agent may have several stores, of which one is enough to have it here.
        here = {fields.text(each, "title") for each in found if not _is_absent(each)}
        titles = dict.fromkeys(fields.text(each, "title") for each in found)
        absent = [title for title in titles if title not in here]
        if absent:
            output.print_line(f"Not found here: {output.escape(', '.join(absent))}.")
        if not found:
            output.print_line("No plugin that reads session logs is enabled.")
    return 1 if any(map(_in_trouble, found)) else 0


@sources.command("try")
@click.argument("file")
@click.option("--agent", help="Read it as a log of this agent; by default, of the one that fits.")
@click.option(
    "--lines",
    type=click.IntRange(0, 100_000),
    default=20,
    show_default=True,
    help="How many lines are shown one by one; the others are only counted.",
)
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def try_command(file: str, agent: str | None, lines: int, as_json: bool) -> int:
    """Show what would be kept of FILE, and why other lines of it would not.

    Nothing is stored, and no server is needed. It is how to try a description of an agent in
    json_lines.toml before a server reads it. Exits with 1 when nothing would be kept.
    """
    # It needs all plugins, which whoever only asks the server should not wait for.
    run: Callable[..., int] = import_module("cloxy_core.cli.sources_try").run
    return run(file, agent, lines, as_json=as_json)


def _in_trouble(source: Mapping[str, object]) -> bool:
    troubles = fields.items(source, "failures") or fields.items(source, "drift")
    return source.get("enabled") is True and bool(troubles)


def _is_absent(source: Mapping[str, object]) -> bool:
    """Whether there is nothing to tell but that its agent leaves nothing here."""
    there = source.get("found") is True or fields.count(source, "items")
    told = fields.items(source, "failures") or fields.items(source, "passed_over")
    return source.get("enabled") is True and not (there or told)


def _lines(source: Mapping[str, object]) -> Iterator[str]:
    title = output.bold(output.escape(fields.text(source, "title")))
    yield f"{title}  {_state(source)}  ({output.escape(fields.text(source, 'name'))})"
    if why := fields.text(source, "why"):
        yield f"  {output.escape(why)}"
    for place in fields.records(source, "places"):
        if place.get("exists") is True:
            yield f"  in {output.escape(fields.text(place, 'path'))}"
    if counts := _counts(source):
        yield f"  {counts}"
    unknown = fields.record(source, "unknown")
    if unknown:
        shown = ", ".join(f"{name} {fields.count(unknown, name):,}" for name in unknown)
        yield f"  records of unknown types: {output.escape(shown)}"
    if bad := fields.count(source, "bad_lines"):
        yield f"  damaged lines passed over: {bad:,}"
    yield from _some("drift", [str(item) for item in fields.items(source, "drift")])
    for name, label in (("failures", "failed"), ("passed_over", "passed over")):
        told = fields.records(source, name)
        words = [f"{fields.text(each, 'place')}: {fields.text(each, 'reason')}" for each in told]
        yield from _some(label, [each.removeprefix(": ") for each in words])


def _state(source: Mapping[str, object]) -> str:
    if source.get("enabled") is not True:
        return "not read"
    return "read" if source.get("found") is True else "not found"


def _counts(source: Mapping[str, object]) -> str:
    parts = [
        counted(fields.count(source, "items"), "file or conversation", "files or conversations"),
        counted(fields.count(source, "messages"), "message"),
        counted(fields.count(source, "sessions"), "session"),
    ]
    if last := fields.text(source, "last_success"):
        parts.append(f"read well at {output.escape(fields.local_time(last))}")
    elif not fields.count(source, "items"):
        return ""
    return ", ".join(parts)


def _some(label: str, words: list[str]) -> Iterator[str]:
    for each in words[:SHOWN]:
        yield f"  {label}: {output.escape(each)}"
    if len(words) > SHOWN:
        yield f"  {label}: and {len(words) - SHOWN} more"
