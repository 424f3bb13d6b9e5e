"""Memories as numbered lines, and how many tokens a text takes."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from itertools import islice
from pathlib import PurePath

from cloxy_hookspecs import ChatMessage, ChatRequest, RecallHit

LINE = 1200
"""Characters of one memory's text."""
BYTES_PER_TOKEN = 3
"""On the safe side: English has about four, source code about three, Chinese two to three."""
TURN_TOKENS = 8
"""What a template puts around a turn."""
FENCE_TOKENS = 70
"""What a fence takes by itself: two marks and the standing sentence."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """One memory on its way into a conversation.

    Attributes:
        id: the memory.
        label: when it was said, of which project, and its id.
        text: what was said, on one line, cut.
    """

    id: int
    label: str
    text: str

    def line(self, number: int) -> str:
        """The numbered line."""
        return f"{number}. [{self.label}] {self.text}"


def remembered(hits: Sequence[RecallHit], zone: tzinfo) -> Sequence[Remembered]:
    """Hits as memories, one for each passage; a text that comes twice only once."""
    found: dict[str, Remembered] = {}
    for hit in hits:
        passage = hit.passages[0] if hit.passages else None
        text = _one_line(passage.text if passage else hit.content)
        at = (passage.at if passage else None) or hit.at_to or hit.at_from
        if text:
            found.setdefault(text, Remembered(hit.id, _label(hit, at, zone), text))
    return list(found.values())


def within(memories: Sequence[Remembered], tokens: int) -> Sequence[Remembered]:
    """As many of the first memories as a budget of tokens lets in, by estimate.

    The last one that does not fit whole is cut, when enough of it is left to say something.
    """
    room, chosen = tokens - FENCE_TOKENS, list[Remembered]()
    for number, memory in enumerate(memories, 1):
        cost = estimate(memory.line(number)) + 1
        if cost > room:
            shorter = _shortened(memory, number, room)
            chosen.extend(filter(None, [shorter]))
            break
        room -= cost
        chosen.append(memory)
    return chosen


def block_text(memories: Sequence[Remembered]) -> str:
    """The lines, before they are fenced."""
    return "\n".join(memory.line(number) for number, memory in enumerate(memories, 1))


def estimate(text: str) -> int:
    """Tokens of a text, rather too many than too few."""
    return -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)


def estimate_request(request: ChatRequest) -> int:
    """Tokens of a conversation with its tools, rather too many than too few."""
    tools = json.dumps([[t.name, t.description, dict(t.parameters)] for t in request.tools])
    form = request.response_format
    schema = "" if form is None or form.schema is None else json.dumps(dict(form.schema))
    turns = sum(_turn(message) for message in request.messages)
    return turns + estimate(tools) + estimate(schema)


def _turn(message: ChatMessage) -> int:
    calls = "".join(f"{call.name}{call.arguments}" for call in message.tool_calls)
    return TURN_TOKENS + estimate(message.text) + estimate(calls)


def _label(hit: RecallHit, at: int | None, zone: tzinfo) -> str:
    day = "" if at is None else f"{datetime.fromtimestamp(at / 1000, zone):%Y-%m-%d}"
    project = "" if hit.project is None else _one_line(PurePath(hit.project).name or hit.project)
    # A bracket in a name would end the label.
    named = project.replace("[", "(").replace("]", ")")[:80]
    return " · ".join(filter(None, [day, named, f"id {hit.id}"]))


def _one_line(text: str) -> str:
    # Enough words for the longest line; joining a book to cut it off would take its time.
    line = " ".join(islice(text[: LINE * 4].split(), LINE))
    return line if len(line) <= LINE else line[: LINE - 1].rstrip() + "…"


_LEAST_CHARACTERS = 60


def _shortened(memory: Remembered, number: int, room: int) -> Remembered | None:
    head = estimate(Remembered(memory.id, memory.label, "").line(number)) + 2
    size = (room - head) * BYTES_PER_TOKEN
    text = memory.text.encode()[: max(0, size - 3)].decode("utf-8", "ignore").rstrip()
    if len(text) < _LEAST_CHARACTERS:
        return None
    return Remembered(memory.id, memory.label, text + "…")
