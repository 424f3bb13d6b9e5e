"""`cloxy chat`: questions to the language model, answered with what the memory holds."""

import os
import sys
from pathlib import Path
from typing import Final

import click

from cloxy_core.cli import output

_MAX_INPUT: Final = 1_000_000


@click.command()
@click.argument("question", nargs=-1)
@click.option("--no-memory", is_flag=True, help="Give the model nothing of the memory.")
@click.option(
    "--project",
    help="Only memories of this folder and below, or of folders of this name; by default the "
    "project that you are in.",
)
@click.option("--all-projects", is_flag=True, help="Memories of all projects.")
@click.option(
    "-k", "--top-k", type=click.IntRange(1, 20), help="How many memories for a question at most."
)
@click.option("--store", is_flag=True, help="Remember the conversation.")
@click.option("--model", help="One of several models that the server has.")
@click.option(
    "--max-tokens",
    type=click.IntRange(1, 1_000_000),
    default=2048,
    show_default=True,
    help="Longest answer, in tokens.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the answer to one question as JSON.")
def chat(
    question: tuple[str, ...],
    no_memory: bool,
    project: str | None,
    all_projects: bool,
    top_k: int | None,
    store: bool,
    model: str | None,
    max_tokens: int,
    as_json: bool,
) -> int:
    """Ask the language model that `cloxy init` set up; the server has to run.

    The words of QUESTION need no quotes. Without QUESTION it is a conversation, in which /help
    shows what else there is, Ctrl-C stops an answer and Ctrl-D ends it. Where nobody types, the
    question is read from standard input.

    The answer goes to standard output; the memories that the model was given go to standard error.
    """
    from cloxy_core.cli.chat_run import Options, ask_once, ask_once_as_json, converse
    from cloxy_core.client_config import data_directory, resolve_client

    if project is not None and all_projects:
        raise click.UsageError("--project and --all-projects do not go together")
    if no_memory and (project is not None or all_projects or top_k is not None):
        raise click.UsageError("--no-memory leaves nothing to choose memories from")
    config = resolve_client(os.environ, data_directory(os.environ))
    for warning in config.warnings:
        output.warn(warning)
    options = Options(
        memory=not no_memory,
        project=None if project is None else _folder_or_name(project),
        all_projects=all_projects,
        top_k=top_k,
        store=store,
        model=model,
        max_tokens=max_tokens,
    )
    text = _readable(" ".join(question)).strip()
    person = not text and output.is_terminal(sys.stdin)
    if person and as_json:
        raise click.UsageError("--json needs a question")
    if person:
        return converse(config, options)
    text = text or _from_input()
    if not text:
        raise click.UsageError("the question is empty")
    return ask_once_as_json(config, options, text) if as_json else ask_once(config, options, text)


def _folder_or_name(project: str) -> str:
    """A folder that is there as absolute path, since the server's working directory is not ours."""
    path = Path(project).expanduser()
    looks = project.startswith((".", "~")) or os.sep in project
    return os.path.abspath(path) if looks else project  # noqa: PTH100 - no links resolved


def _readable(text: str) -> str:
    """Arguments that the locale could not decode are UTF-8 in all likelihood."""
    return os.fsencode(text).decode("utf-8", "replace")


def _from_input() -> str:
    if sys.stdin is None:
        return ""
    data = sys.stdin.buffer.read(_MAX_INPUT + 1)
    if len(data) > _MAX_INPUT:
        raise click.UsageError(f"the question is longer than {_MAX_INPUT:,} bytes")
    return data.decode("utf-8", "replace").strip()
