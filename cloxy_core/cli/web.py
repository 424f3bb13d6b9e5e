"""`cloxy fetch`, `cloxy search-page` and `cloxy verify`: what pages of the web say."""

import os
from collections.abc import Mapping
from pathlib import Path

import click

from cloxy_core.cli import fields, output
from cloxy_core.cli.server import connect
from cloxy_core.runtime.wording import counted

SECONDS = 180.0
"""Several pages may each take a minute, and may have to wait for their turn."""
MODES = ("clean", "markdown", "raw", "extract")


@click.command()
@click.argument("url")
@click.option(
    "--mode",
    type=click.Choice(MODES),
    help="Readable text, markdown, what the server sent, or chosen elements.  [default: clean]",
)
@click.option("--selector", help="CSS selector of the elements wanted; means --mode extract.")
@click.option("--remember", is_flag=True, help="Keep the text as a memory, with its address.")
@click.option("--project", help="Project of that memory: a path.")
@click.option("--json", "as_json", is_flag=True, help="Print the server's answer as JSON.")
def fetch(
    url: str,
    mode: str | None,
    selector: str | None,
    remember: bool,
    project: str | None,
    as_json: bool,
) -> int:
    """Read a page of the public web as text.

    The text goes to standard output; what is to be known about it goes to standard error.
    """
    if project is not None and not remember:
        raise click.UsageError("--project is for --remember")
    chosen = mode or ("clean" if selector is None else "extract")
    body: dict[str, object] = {"url": url, "mode": chosen, "remember": remember}
    if selector is not None:
        body["selector"] = selector
    if project is not None:
        # The server's working directory is not ours.
        body["project"] = os.path.abspath(Path(project).expanduser())  # noqa: PTH100 - no links resolved
    answer = connect().request("POST", "/fetch", body, seconds=SECONDS)
    if as_json:
        output.print_json(answer)
        return 0
    output.print_line(output.escape(fields.text(answer, "content"), lines=True))
    _tell_page(answer)
    _tell_notes(answer)
    if remember:
        _tell_kept(fields.record(answer, "remembered"))
    return 0


@click.command("search-page")
@click.argument("url")
@click.argument("pattern")
@click.option("--regex", is_flag=True, help="PATTERN is a regular expression (RE2 syntax).")
@click.option("--json", "as_json", is_flag=True, help="Print the server's answer as JSON.")
def search_page(url: str, pattern: str, regex: bool, as_json: bool) -> int:
    """Show the lines of a page that hold PATTERN, with two lines on either side.

    Upper and lower case count as the same. Exits with 1 when nothing matches, as grep does. Put
    -- before a pattern that begins with a dash.
    """
    body = {"url": url, "pattern": pattern, "regex": regex}
    answer = connect().request("POST", "/search", body, seconds=SECONDS)
    total = fields.count(answer, "total_matches")
    if as_json:
        output.print_json(answer)
        return 0 if total else 1
    for match in fields.records(answer, "matches"):
        output.print_line(output.bold(f"line {fields.count(match, 'line') + 1}"))
        _print_indented(fields.text(match, "context"))
        output.print_line()
    shown = len(fields.items(answer, "matches"))
    words = counted(total, "line matches", "lines match")
    output.print_line(words if shown == total else f"{words}; the first {shown:,} are shown")
    _tell_notes(answer)
    return 0 if total else 1


@click.command()
@click.argument("urls", nargs=-1, required=True, metavar="URL...")
@click.option("--claim", required=True, help="What is claimed, in one sentence.")
@click.option(
    "-k",
    "--top-k",
    type=click.IntRange(1, 50),
    default=3,
    show_default=True,
    help="How many passages at most.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the server's answer as JSON.")
def verify(urls: tuple[str, ...], claim: str, top_k: int, as_json: bool) -> int:
    """Show the passages of pages that are nearest to a claim.

    There is no verdict: a passage that denies the claim is near it, too. Exits with 1 when one
    of several pages could not be read.
    """
    body: dict[str, object] = {"claim": claim, "top_k": top_k}
    body |= {"url": urls[0]} if len(urls) == 1 else {"urls": list(urls)}
    answer = connect().request("POST", "/verify", body, seconds=SECONDS)
    pages = list(fields.records(answer, "pages"))
    failed = any(fields.record(page, "error") for page in pages)
    if as_json:
        output.print_json(answer)
        return 1 if failed else 0
    for rank, match in enumerate(fields.records(answer, "matches"), start=1):
        _show_passage(rank, match, several=len(pages) > 1)
    if not fields.items(answer, "matches"):
        output.print_line("No passages to compare with.")
    for page in pages:
        _tell_source(page, several=len(pages) > 1)
    if fields.text(answer, "note"):
        output.print_line(f"note: {output.escape(fields.text(answer, 'note'))}", error=True)
    return 1 if failed else 0


def _tell_page(answer: Mapping[str, object]) -> None:
    facts = [fields.text(answer, "final_url"), fields.text(answer, "media_type")]
    if fields.number(answer, "length") is not None:
        facts.append(f"{fields.count(answer, 'length'):,} characters")
    if fields.number(answer, "matches") is not None:
        facts.append(f"{fields.count(answer, 'matches'):,} elements")
    output.print_line(output.escape(" · ".join(fact for fact in facts if fact)), error=True)


def _tell_notes(answer: Mapping[str, object]) -> None:
    for note in fields.items(answer, "notes"):
        output.print_line(f"note: {output.escape(note)}", error=True)


def _tell_kept(kept: Mapping[str, object]) -> None:
    added = fields.count(kept, "added")
    if added:
        words = f"remembered as {counted(added, 'memory', 'memories')}"
        source = output.escape(fields.text(kept, "source"))
        output.print_line(f"{words}, source {source}", error=True)


def _show_passage(rank: int, match: Mapping[str, object], *, several: bool) -> None:
    similarity = fields.number(match, "similarity")
    near = (
        f"{fields.number(match, 'overlap') or 0.0:.0%} of the words"
        if similarity is None
        else f"similarity {similarity:.4f}"
    )
    place = f"at {fields.number(match, 'position_pct') or 0.0:g}%"
    where = f" · {output.escape(fields.text(match, 'url'))}" if several else ""
    output.print_line(output.bold(f"{rank}. {near} · {place}{where}"))
    _print_indented(fields.text(match, "passage"))
    for figure in fields.records(match, "figures"):
        if fields.text(figure, "status") == "different":
            said = ", ".join(output.escape(text) for text in fields.items(figure, "page"))
            claimed = output.escape(fields.text(figure, "claim"))
            output.print_line(f"   differs: the claim has {claimed}, the passage {said}")
    output.print_line()


def _tell_source(page: Mapping[str, object], *, several: bool) -> None:
    error = fields.record(page, "error")
    url = output.escape(fields.text(page, "final_url") or fields.text(page, "url"))
    if error:
        output.print_line(f"{url}: {output.escape(fields.text(error, 'message'))}", error=True)
        return
    passages = counted(fields.count(page, "chunks"), "passage")
    output.print_line(f"{url}: {passages} compared", error=True)
    if several and fields.text(page, "note"):
        output.print_line(f"note: {output.escape(fields.text(page, 'note'))}", error=True)


def _print_indented(text: str) -> None:
    # The indent is what tells lines of the page from ours.
    for line in output.escape(text, lines=True).split("\n"):
        output.print_line(f"   {line}".rstrip())
