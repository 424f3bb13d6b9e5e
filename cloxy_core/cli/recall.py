"""`cloxy recall`: ask the server and show what was said."""

import os
import re
from collections.abc import Mapping

import click

from cloxy_core.cli import fields, output
from cloxy_core.cli.excerpt import excerpt
from cloxy_core.cli.server import connect
from cloxy_core.cli.zone import reader_zone
from cloxy_core.runtime.wording import counted

NOTHING = "Nothing relevant was found."
_PLAIN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_./-]{0,255}")


@click.command()
@click.argument("query", nargs=-1, required=True)
@click.option(
    "-k",
    "--top-k",
    type=click.IntRange(1, 100),
    default=5,
    show_default=True,
    help="How many memories at most.",
)
@click.option("--project", help="Only this folder and below, or the folders of this name.")
@click.option("--since", help="Not before this date, instant or phrase, such as 'last week'.")
@click.option("--until", help="Not after this date (its whole day counts), instant or phrase.")
@click.option(
    "--mode", type=click.Choice(["hybrid", "dense", "keyword"]), help="Which channels to search in."
)
@click.option("--source", help="Only sources whose label begins with this.")
@click.option("--role", help="Only turns of this role: user, assistant, summary or note.")
@click.option(
    "--rerank/--no-rerank",
    default=None,
    help="Whether a reranker reads the best again; by default as the server is set.",
)
@click.option("--all", "everything", is_flag=True, help="Include what sub-agents said.")
@click.option("--full", is_flag=True, help="Show whole memories instead of 600 characters.")
@click.option("--why", is_flag=True, help="Show what each score is made of.")
@click.option("--json", "as_json", is_flag=True, help="Print the server's answer as JSON.")
def recall(
    query: tuple[str, ...],
    top_k: int,
    project: str | None,
    since: str | None,
    until: str | None,
    mode: str | None,
    source: str | None,
    role: str | None,
    rerank: bool | None,
    everything: bool,
    full: bool,
    why: bool,
    as_json: bool,
) -> int:
    """Find what was said in earlier sessions.

    The words of QUERY need no quotes. Put -- before a query that begins with a dash.
    """
    question = _readable(" ".join(query)).strip()
    if not question:
        raise click.UsageError("the query is empty")
    optional = {
        "project": project,
        "since": since,
        "until": until,
        "mode": mode,
        "source": source,
        "role": role,
        "rerank": rerank,
        "subagents": everything or None,
    }
    body: dict[str, object] = {"query": question, "top_k": top_k, "tz": reader_zone(os.environ)}
    body |= {
        name: _readable(value) if isinstance(value, str) else value
        for name, value in optional.items()
        if value is not None
    }
    answer = connect().request("POST", "/recall", body)
    if as_json:
        output.print_json(answer)
        return 0
    _show(answer, question, full=full, why=why)
    return 0


def _readable(text: str) -> str:
    """Arguments that the locale could not decode are UTF-8 in all likelihood."""
    if text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text):
        return text
    return os.fsencode(text).decode("utf-8", "replace")


def _show(answer: Mapping[str, object], question: str, *, full: bool, why: bool) -> None:
    hits = list(fields.records(answer, "results"))
    for rank, hit in enumerate(hits, start=1):
        _show_hit(rank, hit, question, full=full, why=why)
        if why:
            _explain(hit)
        output.print_line()
    if not hits:
        output.print_line(NOTHING)
    if why:
        channels = ", ".join(output.escape(name) for name in fields.items(answer, "channels"))
        searched = fields.count(answer, "searched")
        found = f"; found by {channels}" if channels else ""
        output.print_line(f"searched {counted(searched, 'memory', 'memories')}{found}")
    for note in fields.items(answer, "notes"):
        output.print_line(f"note: {output.escape(note)}", error=True)


def _show_hit(
    rank: int, hit: Mapping[str, object], question: str, *, full: bool, why: bool
) -> None:
    body = _body(hit)
    shown = body if full else excerpt(body, question, _best_passage(hit, body))
    output.print_line(output.bold(f"{rank}. {output.escape(_heading(hit))}"))
    facts = f"score {output.escape(_score(hit))} · id {output.escape(fields.text(hit, 'id'))}"
    output.print_line(output.dim(f"   {facts}"))
    if full or why:
        _tell_session(hit)
    # The indent is what tells stored lines from ours: no stored line can pass for a new hit.
    for line in output.escape(shown, lines=True).split("\n"):
        output.print_line(f"   {line}".rstrip())


def _heading(hit: Mapping[str, object]) -> str:
    """Date, project and title, of whichever are known."""
    title = fields.text(hit, "title") or fields.text(fields.record(hit, "metadata"), "title")
    project = fields.text(hit, "project").replace("\\", "/").rstrip("/").rpartition("/")[2]
    date = fields.local_time(fields.text(hit, "ts_start"))
    known = [part for part in (date, project, title) if part]
    return " · ".join(known) or fields.text(hit, "source") or "no date"


def _score(hit: Mapping[str, object]) -> str:
    score = fields.number(hit, "score")
    return "unknown" if score is None else f"{score:.4f}"


def _body(hit: Mapping[str, object]) -> str:
    """The memory's text without the header line that the heading repeats."""
    content, header = fields.text(hit, "content"), fields.text(hit, "header")
    if header and content.startswith(header):
        return content[len(header) :].removeprefix("\n")
    return content


def _best_passage(hit: Mapping[str, object], body: str) -> tuple[int, int] | None:
    """Where the best passage lies in the body; its offsets are checked against its text."""
    for passage in fields.records(hit, "passages"):
        text = fields.text(passage, "text")
        start, end = fields.count(passage, "char_start"), fields.count(passage, "char_end")
        if 0 <= start < end and body[start:end] == text:
            return start, end
        start = body.find(text) if text else -1
        return None if start < 0 else (start, start + len(text))
    return None


def _explain(hit: Mapping[str, object]) -> None:
    facts: list[tuple[str, object]] = [
        (name.replace("_", " "), hit[name])
        for name in (
            "keyword_rank",
            "similarity",
            "rerank_score",
            "recency",
            "source",
            "session_id",
            "uid",
        )
        if hit.get(name) is not None
    ]
    for passage in fields.records(hit, "passages"):
        parts = fields.record(passage, "parts")
        made_of = ", ".join(f"{name} {_brief(value)}" for name, value in parts.items())
        label = f"passage {fields.text(passage, 'id')} ({fields.text(passage, 'role')})"
        facts.append((label, f"{_score(passage)} = {made_of}" if made_of else _score(passage)))
    for line in output.table(facts, indent="     "):
        output.print_line(output.dim(line))


def _tell_session(hit: Mapping[str, object]) -> None:
    """Say how the conversation is opened at the hit, if its ids can stand in a command."""
    session, memory = fields.text(hit, "session_id"), fields.text(hit, "id")
    if _PLAIN_ID.fullmatch(session) and memory.isascii() and memory.isdecimal():
        output.print_line(output.dim(f"   open: cloxy sessions show {session} --at {memory}"))


def _brief(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
