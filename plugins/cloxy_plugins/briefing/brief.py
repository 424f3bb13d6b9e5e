"""The operation: gather, order, cut to the budget, fence.

Only what a person said or asked to be remembered is told unasked; what an agent, a tool or a page
said is there for who asks.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime, tzinfo
from functools import partial
from typing import Literal

from cloxy_hookspecs import (
    DateReader,
    Fence,
    Filters,
    HostContext,
    KnownProject,
    ProjectFinder,
    Query,
    Recaller,
)
from cloxy_plugins.briefing.models import BriefInput, BriefItem, BriefOutput
from cloxy_plugins.briefing.reading import Told, last_requests, notes

DAY = 24 * 60 * 60 * 1000
RECENT_DAYS = 30
LINE = 320
"""Characters of one line's text."""
FIRST = 3
"""Lines of each kind that come before any more of another."""
DECISIONS = 5
QUESTION = "decided agreed decision rule convention always never instead must"
SAYS_SO = re.compile(
    r"\b(?:decid|decision|agree|rule|convention|always|never|instead|must)", re.IGNORECASE
)
"""In a text that tells how things are to be; a title or a neighbour may have led to it as well."""
SEARCH_SECONDS = 0.1
"""Time for the search; the block has to be there before a person begins to wait."""

Kind = Literal["note", "decision", "session"]
Line = tuple[Kind, Told]


def create_brief(context: HostContext) -> Callable[[BriefInput], Awaitable[BriefOutput]]:
    """Make the operation."""
    finder, fence = context.service(ProjectFinder), context.service(Fence)
    recaller, dates = context.service(Recaller), context.service(DateReader)
    store, clock = context.store, context.clock

    async def brief(given: BriefInput) -> BriefOutput:
        project = await finder.find(given.cwd)
        if project is None or project.ignored:
            return BriefOutput(project=None if project is None else project.path, text="", items=[])
        now, zone = clock.now_ms(), dates.zone(None)
        since = now - RECENT_DAYS * DAY
        noted = await store.read(partial(notes, project_id=project.id))
        asked = await store.read(partial(last_requests, project_id=project.id, since=since))
        decided = await _decisions(recaller, project, now, zone)
        lines = _ordered(noted, decided, asked)
        room = given.budget - len(fence.fence("")) - len(_title(project)) - 1
        chosen = list(_within(lines, room, zone))
        if not chosen:
            return BriefOutput(project=project.path, text="", items=[])
        body = "\n".join([_title(project), *(text for _item, text in chosen)])
        return BriefOutput(
            project=project.path, text=fence.fence(body), items=[item for item, _text in chosen]
        )

    return brief


async def _decisions(
    recaller: Recaller, project: KnownProject, now: int, zone: tzinfo
) -> Sequence[Told]:
    """What the person said of how things are to be; nothing when the search takes too long."""
    query = Query(
        text=QUESTION,
        top_k=DECISIONS,
        now=now,
        mode="keyword",
        filters=Filters(project=project.path, roles=("user",)),
        zone=zone,
        group="passage",
    )
    with suppress(TimeoutError):
        async with asyncio.timeout(SEARCH_SECONDS):
            answer = await recaller.recall(query)
            return [
                Told(hit.id, passage.at, passage.text)
                for hit in answer.hits
                for passage in hit.passages[:1]
                if SAYS_SO.search(passage.text)
            ]
    return ()


def _ordered(*groups: Sequence[Told]) -> Iterator[Line]:
    """The first few of each kind, then the rest; a text that comes twice only once."""
    kinds: tuple[Kind, ...] = ("note", "decision", "session")
    named = [[(kind, told) for told in group] for kind, group in zip(kinds, groups, strict=True)]
    seen: set[str] = set()
    for part in (slice(None, FIRST), slice(FIRST, None)):
        for group in named:
            for kind, told in group[part]:
                if told.text not in seen:
                    seen.add(told.text)
                    yield kind, told


def _within(lines: Iterator[Line], room: int, zone: tzinfo) -> Iterator[tuple[BriefItem, str]]:
    """As many lines as fit."""
    for kind, told in lines:
        text = _cut(told.text)
        said = f"{told.title}: {text}" if told.title else text
        at = None if told.at is None else datetime.fromtimestamp(told.at / 1000, zone)
        shown = f"- {at:%Y-%m-%d} · " if at else "- "
        shown += f"{kind} · id {told.memory_id} · {said}"
        if len(shown) + 1 > room:
            return
        room -= len(shown) + 1
        stamp = None if at is None else at.isoformat(timespec="seconds")
        yield BriefItem(id=told.memory_id, kind=kind, ts=stamp, text=said), shown


def _title(project: KnownProject) -> str:
    return f"From earlier sessions in {project.path}; the tool `recall` finds more:"


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LINE else line[: LINE - 1].rstrip() + "…"
