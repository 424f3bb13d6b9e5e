"""`cloxy hook`: what an agent runs at moments of its own, and must never be hindered by."""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import click

from cloxy_core.cli import output
from cloxy_core.client import Client
from cloxy_core.client_config import ClientError, data_directory, resolve_client

BEGINNINGS = frozenset({"startup", "clear"})
"""Ways to begin a session in which the block is not in the conversation yet."""
INPUT_BYTES = 1024 * 1024
ANSWER_SECONDS = 0.5
BUDGET = 2000


@click.group()
def hook() -> None:
    """Commands for the hooks of agents; they never fail and never wait long."""


@hook.command(name="session-start")
@click.option(
    "--budget",
    type=click.IntRange(300, 9000),
    default=BUDGET,
    show_default=True,
    help="Characters of the block at most.",
)
@click.option("--explain", is_flag=True, help="Say on standard error why nothing is printed.")
def session_start(budget: int, explain: bool) -> int:
    """Tell a new session what matters of its project (Claude Code: SessionStart).

    Reads the hook's JSON on standard input and prints JSON with a fenced block of memories, or
    nothing at all: when there is nothing to tell, when the session goes on (resume, compact, fork),
    and when the server does not run or is too slow.
    """
    try:
        text = _block(_given(), budget)
    except (ClientError, OSError, ValueError, RecursionError) as error:
        if explain:
            output.warn(str(error))
        return 0
    told = {"hookEventName": "SessionStart", "additionalContext": text}
    click.echo(json.dumps({"hookSpecificOutput": told}))
    return 0


def _given() -> Mapping[str, object]:
    """What the agent says of the session.

    Raises:
        ValueError: it is not the JSON of such a hook.
    """
    if sys.stdin is None or sys.stdin.isatty():
        raise ValueError("nothing on standard input; this command is for a hook of an agent")
    value = json.loads(sys.stdin.buffer.read(INPUT_BYTES).decode("utf-8", "replace"))
    if not isinstance(value, dict):
        raise ValueError("standard input is not a JSON object")
    return value


def _block(given: Mapping[str, object], budget: int) -> str:
    """The block for a session.

    Raises:
        ClientError: the server does not run, refuses, or is too slow.
        ValueError: there is nothing to tell; the message says why.
    """
    source = given.get("source", "startup")
    if not isinstance(source, str) or source not in BEGINNINGS:
        raise ValueError(f"the session goes on ({output.escape(source)}): it was told before")
    cwd = given.get("cwd")
    folder = cwd if isinstance(cwd, str) and cwd else str(Path.cwd())
    config = resolve_client(os.environ, data_directory(os.environ))
    body = {"cwd": folder, "budget": budget}
    answer = Client(config).request("POST", "/brief", body, seconds=ANSWER_SECONDS)
    text = answer.get("text")
    if not isinstance(text, str) or not text:
        project = answer.get("project")
        where = "belongs to no known project" if project is None else "has nothing to tell"
        raise ValueError(f"{output.escape(folder)} {where}")
    return text
