"""A session as Markdown that stored text cannot break out of."""

import re
from collections.abc import Iterable, Iterator, Mapping

from cloxy_core.cli import fields, output
from cloxy_core.cli.sessions_text import DAMAGED, facts, message_facts

_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~]")
_TICKS = re.compile("`+")
SHORTEST_FENCE = 3


def markdown(
    session: Mapping[str, object], messages: Iterable[Mapping[str, object]]
) -> Iterator[str]:
    """The pieces of the file.

    Args:
        session: what is known of it, as the server tells it.
        messages: its messages, in order.
    """
    yield f"# {inline(fields.text(session, 'title') or 'A session without a title')}\n\n"
    for name, value in facts(session):
        yield f"- {inline(name)}: {inline(value)}\n"
    for message in messages:
        number = fields.count(message, "number")
        yield f"\n## {number}\\. {inline(' · '.join(message_facts(message)))}\n\n"
        damaged = message.get("damaged") is True
        yield fenced(DAMAGED if damaged else fields.text(message, "text"))


def inline(text: str) -> str:
    """A text in one line in which every sign that could mean something is taken as it is."""
    return _PUNCTUATION.sub(lambda sign: f"\\{sign[0]}", output.escape(text)).strip()


def fenced(text: str) -> str:
    """A text as a block of code, whose fence is longer than any run of backticks in it."""
    shown = output.escape(text, lines=True)
    longest = max((len(run) for run in _TICKS.findall(shown)), default=0)
    fence = "`" * max(SHORTEST_FENCE, longest + 1)
    return f"{fence}text\n{shown}\n{fence}\n"
