"""`/fetch`: a page as text, which may be remembered; and the same in parts for editors."""

from collections.abc import Awaitable, Callable
from typing import get_args

from cloxy_hookspecs import (
    FetchMode,
    HostContext,
    InputError,
    MemoryWriter,
    PageReader,
    ReadPage,
    ReadRequest,
)
from cloxy_plugins.web.operations_documents import Documents
from cloxy_plugins.web.operations_failures import about
from cloxy_plugins.web.operations_instants import iso
from cloxy_plugins.web.operations_models import FetchInput, FetchOutput, PageInput, ReadOutput
from cloxy_plugins.web.operations_notes import page_notes
from cloxy_plugins.web.operations_passages import parts

MODES: tuple[FetchMode, ...] = get_args(FetchMode)


def create_fetch(context: HostContext) -> Callable[[FetchInput], Awaitable[FetchOutput]]:
    """Make the operation that gives a page whole."""
    reader = context.service(PageReader)
    documents = Documents(context.store, context.service(MemoryWriter))

    async def fetch(given: FetchInput) -> FetchOutput:
        with about(given.url):
            request = page_request(given, given.headers or {})
            if given.remember and request.mode == "raw":
                raise InputError(
                    "a raw page is not remembered", hint="use mode clean, markdown or extract"
                )
            page = await reader.read(request)
        output = _output(given, page)
        if given.remember:
            kept, notes = await documents.keep(page, given.selector, given.project)
            output.remembered = kept
            output.notes += notes
        return output

    return fetch


def create_read(context: HostContext) -> Callable[[PageInput], Awaitable[ReadOutput]]:
    """Make the operation that gives a page in parts, of which an editor sees some at a time."""
    reader = context.service(PageReader)

    async def read(given: PageInput) -> ReadOutput:
        with about(given.url):
            page = await reader.read(page_request(given, {}))
        return ReadOutput(
            url=page.url,
            final_url=page.final_url,
            title=page.title,
            length=len(page.content),
            fetched_at=iso(page.fetched_at),
            truncated=page.truncated,
            flags=sorted(page.flags),
            notes=page_notes(page),
            parts=parts(page.content),
        )

    return read


def page_request(given: PageInput, headers: dict[str, str]) -> ReadRequest:
    """What is wanted of the page.

    Raises:
        InputError: there is no such mode.
    """
    mode: FetchMode | None = next((known for known in MODES if known == given.mode), None)
    if mode is None:
        raise InputError(
            f"Unknown mode: {given.mode[:40]}", hint="use clean, markdown, raw or extract"
        )
    return ReadRequest(given.url, mode, given.selector, headers)


def _output(given: FetchInput, page: ReadPage) -> FetchOutput:
    extracts = page.mode == "extract"
    return FetchOutput(
        url=given.url,
        final_url=page.final_url,
        status=page.status,
        mode=page.mode,
        from_cache=page.from_cache,
        fetched_at=iso(page.fetched_at),
        content=page.content,
        length=None if page.mode == "raw" else len(page.content),
        matches=len(page.matches) if extracts else None,
        elements=list(page.matches) if extracts else None,
        title=page.title,
        media_type=page.media_type,
        charset=page.charset,
        truncated=page.truncated,
        flags=sorted(page.flags),
        removed=dict(page.removed),
        notes=page_notes(page),
        sha256=page.sha256,
        remembered=None,
    )
