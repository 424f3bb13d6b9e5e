"""The demonstration in words, at most 80 columns wide."""

import shlex
import textwrap
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from cloxy_core.cli import fields, output
from cloxy_core.cli.excerpt import excerpt
from cloxy_core.demo.shown import Answer, Demonstration
from cloxy_core.services.recall.ranking import LITERAL, WINDOW
from cloxy_hookspecs import PassageHit, Query, RecallHit

COLUMNS = 80
_SPEAKERS = {
    "user": "the user said",
    "assistant": "the assistant answered",
    "summary": "a summary says",
    "note": "a note says",
}


def lines_of(shown: Demonstration, kept: Path | None) -> Iterator[str]:
    """The whole demonstration, line by line, safe for a terminal.

    Args:
        shown: what came out.
        kept: the folder that stays; None when nothing does.
    """
    yield from _wrapped(
        "Cloxy remembers what was said in your AI coding sessions. These are invented ones:"
        f" {shown.messages} messages in {shown.files} files about {shown.projects} projects."
    )
    yield from _meaning(shown)
    for number, answer in enumerate(shown.answers, start=1):
        yield ""
        yield from _answer(number, answer, shown)
    if shown.redacted:
        yield ""
        yield output.bold("And what is not kept")
        yield from _wrapped("Somebody pasted a password. This is what was stored:")
        yield from _quoted(excerpt(shown.redacted, "REDACTED"))
    yield ""
    yield from _next_steps(kept)


def _meaning(shown: Demonstration) -> Iterator[str]:
    if shown.trouble is None:
        yield from _wrapped(
            f"They are searched by keyword, and by meaning: {shown.embedded} messages became"
            f" vectors of {shown.model}, which runs on this machine."
        )
    else:
        yield from _wrapped(f"They are searched by keyword only: {shown.trouble.rstrip('.')}.")


def _answer(number: int, answer: Answer, shown: Demonstration) -> Iterator[str]:
    yield output.bold(f"{number}. {output.escape(answer.question.shows.capitalize())}")
    yield f'   $ cloxy recall "{output.escape(answer.question.text)}"'
    yield ""
    if not answer.recall.hits:
        yield "   Nothing relevant was found."
        yield from _wrapped(f"why: {_why_nothing(shown)}", "   ", "        ")
    for hit in answer.recall.hits:
        passage = hit.passages[0]
        yield f"   {output.escape(_heading(hit, passage))}"
        yield f"   {_SPEAKERS[passage.role]}:"
        yield from _quoted(excerpt(passage.text, answer.question.text))
        for place, reason in enumerate(reasons(hit, answer.recall.query)):
            yield from _wrapped(reason, "        " if place else "   why: ", "        ")


def _why_nothing(shown: Demonstration) -> str:
    if shown.trouble is None:
        return "no message is near enough in words or in meaning"
    return "no message has a word of the question, and there is no search by meaning"


def reasons(hit: RecallHit, query: Query) -> Sequence[str]:
    """Why a result was found, most telling first.

    Args:
        hit: the result.
        query: the question as it was understood.
    """
    parts = hit.passages[0].parts
    found: list[str] = []
    if parts.get(LITERAL):
        literals = " and ".join(f"`{literal}`" for literal in query.literals)
        share = "" if parts[LITERAL] >= 1 else f"{parts[LITERAL]:.0%} of "
        found.append(f"it holds {share}{output.escape(literals)} letter for letter")
    if WINDOW in parts and query.window is not None:
        found.append(f"it was said in the time that was asked for: {_span(query)}")
    if hit.keyword_rank is not None:
        found.append(f"number {hit.keyword_rank} of the search by keyword")
    elif hit.similarity is not None:
        found.append("it shares no word with the question: only its meaning found it")
    if hit.similarity is not None:
        found.append(f"similarity of meaning {hit.similarity:.2f} (unrelated 0, the same 1)")
    return found


def _span(query: Query) -> str:
    """First and last day of the question's window, in the reader's zone."""
    window = query.window
    if window is None or window.since is None or window.until is None:
        return "open"
    first = datetime.fromtimestamp(window.since / 1000, query.zone)
    last = datetime.fromtimestamp(window.until / 1000, query.zone) - timedelta(milliseconds=1)
    return f"{first:%Y-%m-%d} to {last:%Y-%m-%d}"


def _heading(hit: RecallHit, passage: PassageHit) -> str:
    when = "" if passage.at is None else fields.local_time_of(passage.at / 1000)
    project = (hit.project or "").rpartition("/")[2]
    title = fields.text(hit.metadata, "title")
    return " · ".join(part for part in (when, project, title) if part)


def _next_steps(kept: Path | None) -> Iterator[str]:
    yield output.bold("Now with your own sessions")
    yield "   $ cloxy start                  reads them, and every new one"
    yield '   $ cloxy recall "a question"    in a second terminal; --why says why'
    yield ""
    if kept is None:
        yield "Nothing of this demonstration is left on this machine."
        return
    folder = kept.expanduser().absolute()
    yield "The demonstration stays. To ask it more:"
    for name, value in (("DATA_DIR", folder / "data"), ("WATCH_DIRS", folder / "sessions")):
        yield f"   $ export CLOXY_{name}={output.escape(shlex.quote(str(value)))}"
    yield "   $ cloxy start"


def _quoted(text: str) -> Iterator[str]:
    for line in output.escape(text, lines=True).split("\n"):
        yield from _wrapped(line, "     ", "     ")


def _wrapped(text: str, first: str = "", others: str = "") -> list[str]:
    """Lines of at most 80 columns; no word is torn at its hyphens."""
    return textwrap.wrap(
        text,
        COLUMNS,
        initial_indent=first,
        subsequent_indent=others,
        break_on_hyphens=False,
    )
