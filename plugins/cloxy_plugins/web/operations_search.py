"""`/search`: lines of a page that hold something."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from cloxy_hookspecs import HostContext, PageReader, ReadPage, ReadRequest
from cloxy_plugins.web.operations_failures import about
from cloxy_plugins.web.operations_instants import iso
from cloxy_plugins.web.operations_models import LineMatch, SearchInput, SearchOutput
from cloxy_plugins.web.operations_notes import page_notes
from cloxy_plugins.web.operations_patterns import (
    OVERLAP,
    SECONDS,
    WINDOW,
    Found,
    find_pattern,
    find_text,
)

AROUND = 2
"""Lines shown on either side."""

RAW_NOTE = "no readable text was found in the page, so what the server sent was searched as it is"
LATE_NOTE = f"the pattern took more than {SECONDS:g} seconds: later lines were not searched"

LONG_NOTE = (
    f"in lines of more than {WINDOW:,} bytes there was only time for matches of up to {OVERLAP:,}"
)


def create_search(context: HostContext) -> Callable[[SearchInput], Awaitable[SearchOutput]]:
    """Make the operation."""
    reader = context.service(PageReader)

    async def search(given: SearchInput) -> SearchOutput:
        with about(given.url):
            if given.regex:
                # What cannot be searched for is refused before anything is fetched.
                await context.blocking(partial(find_pattern, (), given.pattern))
            page = await reader.read(ReadRequest(given.url))
            notes = page_notes(page)
            if not page.content.strip():
                page = await reader.read(ReadRequest(given.url, mode="raw"))
                notes = [*notes, RAW_NOTE]
        lines = [line.removesuffix("\r") for line in page.content.split("\n")]
        find = find_pattern if given.regex else find_text
        found = await context.blocking(partial(find, lines, given.pattern))
        if not found.complete:
            notes = [*notes, LATE_NOTE]
        if not found.whole:
            notes = [*notes, LONG_NOTE]
        return _output(given, page, lines, found, notes)

    return search


def _output(
    given: SearchInput, page: ReadPage, lines: Sequence[str], found: Found, notes: Sequence[str]
) -> SearchOutput:
    end = given.offset + given.limit
    shown = found.lines[given.offset : end]
    return SearchOutput(
        url=given.url,
        pattern=given.pattern,
        matches=[LineMatch(line=line, context=_context(lines, line)) for line in shown],
        total_matches=len(found.lines),
        next_offset=end if end < len(found.lines) else None,
        final_url=page.final_url,
        from_cache=page.from_cache,
        fetched_at=iso(page.fetched_at),
        searched="raw" if page.mode == "raw" else "clean",
        truncated=page.truncated,
        flags=sorted(page.flags),
        notes=list(notes),
    )


def _context(lines: Sequence[str], line: int) -> str:
    return "\n".join(lines[max(line - AROUND, 0) : line + AROUND + 1])
