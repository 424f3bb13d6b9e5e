"""`cloxy sessions`: list the stored sessions, read one, take it along, go on with it."""

import os
import sys
from collections.abc import Iterator, Mapping

import click

from cloxy_core.cli import fields, output
from cloxy_core.cli.server import connect
from cloxy_core.cli.sessions_ask import list_sessions, one_message, stretches
from cloxy_core.cli.sessions_text import head_lines, list_lines, message_lines
from cloxy_core.cli.zone import reader_zone
from cloxy_core.client_config import ClientError
from cloxy_core.runtime.wording import counted

AT_A_HIT = 20
"""Messages that are shown when a place was asked for and no number."""

_json_option = click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
_agent_option = click.option("--agent", help="Name of the agent, where several have such an id.")


class _ListsByDefault(click.Group):
    """A group in which what is not the name of a command is words for the list."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the command `list` before what names no command."""
        if not args or args[0] not in {*self.commands, *ctx.help_option_names}:
            args = ["list", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_ListsByDefault)
def sessions() -> None:
    """List sessions, and show, export or resume one.

    Without the name of a command it lists: `cloxy sessions WORDS`. For the options of that see
    `cloxy sessions list --help`.
    """


@sessions.command("list")
@click.argument("words", nargs=-1)
@click.option("--project", help="Only this folder and below, or the folders of this name.")
@click.option("--agent", help="Only sessions of this agent, such as claude-code or codex.")
@click.option("--since", help="Not before this date, instant or phrase, such as 'last week'.")
@click.option("--until", help="Not after this date (its whole day counts), instant or phrase.")
@click.option("--all", "everything", is_flag=True, help="Include sub-agents and programs.")
@click.option(
    "--limit",
    type=click.IntRange(1, 100_000),
    default=30,
    show_default=True,
    help="How many sessions at most.",
)
@_json_option
def list_command(
    words: tuple[str, ...],
    project: str | None,
    agent: str | None,
    since: str | None,
    until: str | None,
    everything: bool,
    limit: int,
    as_json: bool,
) -> int:
    """List sessions whose title has all the WORDS, the newest first."""
    filters: dict[str, object] = {
        "words": " ".join(words) or None,
        "project": project,
        "agent": agent,
        "since": since,
        "until": until,
        "all": "true" if everything else None,
        "tz": reader_zone(os.environ),
    }
    found, following = list_sessions(connect(), filters, limit)
    if as_json:
        output.print_json({"sessions": found, "next": following})
        return 0
    for line in list_lines(found):
        output.print_line(line)
    if not found:
        output.print_line("No sessions were found.")
    if following is not None:
        output.print_line("There are older ones; --limit shows more.", error=True)
    return 0


@sessions.command("show")
@click.argument("key", metavar="ID")
@click.option(
    "--at",
    "memory",
    type=click.IntRange(min=1),
    help="Begin where this memory was said: the id that `cloxy recall` shows.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    help=f"How many messages at most; {AT_A_HIT} with --at, else all.",
)
@_agent_option
@click.option("--pager", is_flag=True, help="Show it in a pager, if the output is a terminal.")
@click.option("--raw", is_flag=True, help="Print stored text as it is, whatever is in it.")
@_json_option
def show_command(
    key: str,
    memory: int | None,
    limit: int | None,
    agent: str | None,
    pager: bool,
    raw: bool,
    as_json: bool,
) -> int:
    """Show the session ID, or the beginning of its id, as readable text.

    Control, invisible and reordering characters are shown by their codes, unless with --raw.
    """
    most = AT_A_HIT if limit is None and memory is not None else limit
    answers = stretches(connect(), key, agent=agent, around=memory, limit=most)
    if as_json:
        output.print_json(_joined(answers))
        return 0
    lines = _lines(answers, raw=raw)
    if pager and output.is_terminal(sys.stdout):
        click.echo_via_pager((line + "\n" for line in lines), color=False)
        return 0
    for line in lines:
        output.print_line(line)
    return 0


@sessions.command("export")
@click.argument("key", metavar="ID")
@click.option("--to", "file", required=True, help="The file: FILE.md or FILE.html.")
@click.option("--force", is_flag=True, help="Replace the file if there is one.")
@_agent_option
@_json_option
def export_command(
    key: str,
    file: str,
    force: bool,
    agent: str | None,
    as_json: bool,
) -> int:
    """Write the session ID to a file: Markdown, or one HTML page.

    The page holds no scripts, loads nothing and has no links. Stored text is text in both, and
    characters that nobody sees are shown by their codes.
    """
    from cloxy_core.cli.sessions_export import export_session

    written = export_session(key, agent, file, force=force)
    if as_json:
        output.print_json(written)
    else:
        said = counted(fields.count(written, "messages"), "message")
        output.print_line(f"{output.escape(written['file'])}: {said}")
    return 0


@sessions.command("resume")
@click.argument("key", metavar="ID")
@_agent_option
@_json_option
def resume_command(
    key: str,
    agent: str | None,
    as_json: bool,
) -> int:
    """Print the command that goes on with the session ID in its agent; it is not run."""
    session = one_message(connect(), key, agent)
    found = fields.record(session, "resume")
    line = fields.text(found, "line")
    if not line:
        raise _no_command(session)
    if as_json:
        output.print_json({name: session.get(name) for name in ("id", "agent", "resume")})
    else:
        output.print_line(output.escape(line))
    return 0


def _no_command(session: Mapping[str, object]) -> ClientError:
    agent = fields.text(session, "agent")
    key = fields.text(session, "id")
    if fields.text(session, "relation") == "subagent" or "/" in key:
        return ClientError(
            "a sub-agent's session cannot be resumed",
            code="input",
            hint=f"resume the session that it came from: {fields.text(session, 'parent')}",
        )
    return ClientError(
        f"no command is known that resumes the session {key} of {agent}",
        code="input",
        hint="open it in the agent itself; `cloxy sources --json` shows which commands are known",
    )


def _lines(answers: Iterator[Mapping[str, object]], *, raw: bool) -> Iterator[str]:
    here: object = None
    left_off = 0
    for place, answer in enumerate(answers):
        if place == 0:
            yield from head_lines(answer, raw=raw)
            here = answer.get("here")
        for message in fields.records(answer, "messages"):
            yield from message_lines(message, here=here if isinstance(here, int) else None, raw=raw)
        following = answer.get("next")
        total = fields.count(answer, "total")
        left_off = total - following + 1 if isinstance(following, int) else 0
    if left_off:
        yield ""
        words = counted(left_off, "more message follows", "more messages follow")
        yield f"({words}; --limit shows more)"


def _joined(answers: Iterator[Mapping[str, object]]) -> dict[str, object]:
    """All stretches as one."""
    whole: dict[str, object] = {}
    messages: list[object] = []
    for answer in answers:
        whole = {**answer, "here": whole.get("here", answer.get("here"))}
        messages += fields.items(answer, "messages")
    return {**whole, "messages": messages}
