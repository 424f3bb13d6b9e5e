"""`/verify`: the passages of pages that are nearest to a claim; the verdict is the reader's."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial

from cloxy_hookspecs import (
    CloxyError,
    HostContext,
    InputError,
    PageReader,
    ReadPage,
    ReadRequest,
    Similarity,
)
from cloxy_plugins.web.operations_failures import about
from cloxy_plugins.web.operations_figures import compare, figures
from cloxy_plugins.web.operations_instants import iso
from cloxy_plugins.web.operations_models import (
    Failure,
    PassageMatch,
    VerifiedPage,
    VerifyInput,
    VerifyOutput,
)
from cloxy_plugins.web.operations_nearness import Ranking, Scored, quotes, ranked
from cloxy_plugins.web.operations_notes import CUT, flag_notes
from cloxy_plugins.web.operations_passages import Span

EMPTY = "the page has no text to compare with the claim"
NOT_AGAINST = "; that nothing is found here says nothing about the claim"


@dataclass(frozen=True, slots=True)
class _Page:
    """A page that was asked for, and what came of it."""

    url: str
    read: ReadPage | None
    error: CloxyError | None = None

    @property
    def text(self) -> str:
        return self.read.content if self.read is not None else ""


def create_verify(context: HostContext) -> Callable[[VerifyInput], Awaitable[VerifyOutput]]:
    """Make the operation."""
    reader = context.service(PageReader)
    model = context.service(Similarity)

    async def verify(given: VerifyInput) -> VerifyOutput:
        _check(given)
        pages = await _pages(reader, given)
        texts = [page.text for page in pages]
        ranking = await ranked(given.claim, texts, model, context.blocking)
        best = ranking.scored[: given.top_k]
        quoted = await quotes(given.claim, texts, best, model)
        make = partial(_matches, given.claim, pages, best, quoted)
        matches = await context.blocking(make)
        return _output(given, pages, ranking, matches)

    return verify


def _check(given: VerifyInput) -> None:
    """Refuse what is no question.

    Raises:
        InputError: there is no page, both fields are given, or the claim is empty.
    """
    if (given.url is None) == (given.urls is None):
        raise InputError("give either url or urls", hint="url for one page, urls for several")
    if not given.claim.strip():
        raise InputError("the claim is empty", hint="say in a sentence what is claimed")


async def _pages(reader: PageReader, given: VerifyInput) -> Sequence[_Page]:
    """The pages, each once; of one page alone the failure is the answer.

    Raises:
        CloxyError: the only page cannot be read.
    """
    if given.url is not None:
        with about(given.url):
            return [_Page(given.url, await reader.read(ReadRequest(given.url)))]
    urls = dict.fromkeys(given.urls or ())
    return await asyncio.gather(*(_page(reader, url) for url in urls))


async def _page(reader: PageReader, url: str) -> _Page:
    try:
        return _Page(url, await reader.read(ReadRequest(url)))
    except CloxyError as error:
        return _Page(url, None, error)


def _matches(
    claim: str, pages: Sequence[_Page], best: Sequence[Scored], quoted: Sequence[Span]
) -> list[PassageMatch]:
    wanted = figures(claim)
    found: list[PassageMatch] = []
    for one, quote in zip(best, quoted, strict=True):
        page = pages[one.page]
        passage = page.text[one.span.start : one.span.end]
        compared = compare(wanted, figures(passage))
        found.append(
            PassageMatch(
                passage=passage,
                similarity=_rounded(one.similarity),
                chunk_index=one.index,
                position_pct=round(100 * one.span.start / len(page.text), 1),
                quote=page.text[quote.start : quote.end],
                start=one.span.start,
                end=one.span.end,
                url=page.url,
                overlap=round(one.overlap, 4),
                figures=compared,
                mismatch=any(figure.status == "different" for figure in compared),
            )
        )
    return found


def _output(
    given: VerifyInput, pages: Sequence[_Page], ranking: Ranking, matches: list[PassageMatch]
) -> VerifyOutput:
    told = [_told(page, place, ranking) for place, page in enumerate(pages)]
    only = told[0] if given.url is not None else None
    notes = [*([only.note] if only and only.note else []), *ranking.notes]
    known = [page.best_similarity for page in told if page.best_similarity is not None]
    return VerifyOutput(
        url=given.url,
        final_url=only.final_url if only else None,
        claim=given.claim,
        from_cache=only.from_cache if only else None,
        fetched_at=only.fetched_at if only else None,
        matches=matches,
        total_chunks_searched=sum(ranking.counts),
        best_similarity=max(known, default=None),
        note="; ".join(notes) or None,
        pages=told,
    )


def _told(page: _Page, place: int, ranking: Ranking) -> VerifiedPage:
    read, error = page.read, page.error
    failure = None
    if error is not None:
        failure = Failure(code=error.code, message=error.message, hint=error.hint)
    return VerifiedPage(
        url=page.url,
        final_url=read.final_url if read else None,
        from_cache=read.from_cache if read else None,
        fetched_at=iso(read.fetched_at) if read else None,
        chunks=ranking.counts[place],
        best_similarity=_rounded(ranking.best_of(place)),
        truncated=read.truncated if read else False,
        flags=sorted(read.flags) if read else [],
        note=_note(read) if read else None,
        error=failure,
    )


def _note(page: ReadPage) -> str | None:
    """Why the claim may stand where it was not seen; None when the page was read as it is."""
    notes = flag_notes(page)
    if not notes and not page.content.strip():
        notes = [EMPTY]
    if notes:
        notes[-1] += NOT_AGAINST
    if page.truncated:
        notes.append(CUT)
    return "; ".join([*page.notes, *notes]) or None


def _rounded(similarity: float | None) -> float | None:
    return None if similarity is None else round(similarity, 4)
