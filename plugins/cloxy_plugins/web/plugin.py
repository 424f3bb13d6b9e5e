"""The web: a guard, a fetcher, what makes text of pages, and the operations on them."""

from collections.abc import Iterable
from typing import Any

from cloxy_hookspecs import (
    Check,
    CheckProvider,
    ExtractorProvider,
    FetcherProvider,
    GuardProvider,
    HostContext,
    Network,
    OperationProvider,
    OriginPolicy,
    SanitizerProvider,
    Setting,
    hookimpl,
)

JSON_TYPES = ("application/json", "+json", "application/jsonl", "application/x-ndjson")
XML_TYPES = ("application/xml", "text/xml", "+xml")


@hookimpl
def cloxy_settings() -> Iterable[Setting[Any]]:
    """Yield what its owner may allow."""
    from cloxy_plugins.web.settings import SETTINGS

    yield from SETTINGS


@hookimpl
def cloxy_guards() -> Iterable[GuardProvider]:
    """Yield the guard that lets nothing but the public web through."""

    def create(context: HostContext) -> Any:  # noqa: ANN401 - a Guard
        from cloxy_plugins.web.guard import create_guard

        return create_guard(context)

    yield GuardProvider(
        name="public-web",
        summary="Refuses every address that is not positively public",
        requires=(Network,),
        order=0,
        create=create,
    )


@hookimpl
def cloxy_checks() -> Iterable[CheckProvider]:
    """Yield the check of how open the guard is."""

    def create(context: HostContext) -> Check:
        from cloxy_plugins.web.check import create_check

        return create_check(context)

    yield CheckProvider(
        name="public-web",
        summary="Nothing but the public web may be read",
        requires=(Network,),
        create=create,
    )


@hookimpl
def cloxy_fetchers() -> Iterable[FetcherProvider]:
    """Yield the fetcher for http and https."""

    def create(context: HostContext) -> Any:  # noqa: ANN401 - a Fetcher
        from cloxy_plugins.web.fetcher_later import create_fetcher

        return create_fetcher(context)

    yield FetcherProvider(
        name="http",
        summary="Asks a server once, at the addresses that were vetted",
        requires=(Network,),
        scheme="http",
        create=create,
    )


@hookimpl
def cloxy_sanitizers() -> Iterable[SanitizerProvider]:
    """Yield what takes out of pages what acts and what nobody sees."""
    yield SanitizerProvider(
        name="unseen",
        summary="Takes scripts, handlers, styles, comments and hidden elements out",
        order=0,
        target="cloxy_plugins.web.sanitize:without_unseen",
    )
    yield SanitizerProvider(
        name="unseen-characters",
        summary="Takes zero-width, direction and tag characters out",
        order=10,
        media_types=("text/", "application/"),
        target="cloxy_plugins.web.sanitize_characters:without_unseen_characters",
    )


@hookimpl
def cloxy_extractors() -> Iterable[ExtractorProvider]:
    """Yield what makes text of pages, the most particular first."""
    web = ("text/html", "application/xhtml+xml")
    yield ExtractorProvider(
        name="css",
        summary="Elements of a page that a CSS selector matches",
        modes=("extract",),
        order=0,
        media_types=(*web, *XML_TYPES),
        target="cloxy_plugins.web.extract_css:extract",
    )
    yield ExtractorProvider(
        name="main-part",
        summary="The main part of a page, found by rules",
        modes=("clean", "markdown"),
        order=10,
        media_types=web,
        target="cloxy_plugins.web.extract_html:extract",
    )
    yield ExtractorProvider(
        name="readability",
        summary="What looks like an article, where the rules find hardly anything",
        modes=("clean", "markdown"),
        order=20,
        media_types=web,
        target="cloxy_plugins.web.extract_readability:extract",
    )
    yield ExtractorProvider(
        name="whole-page",
        summary="All text of a page, where nothing else finds its main part",
        modes=("clean", "markdown"),
        order=90,
        media_types=web,
        target="cloxy_plugins.web.extract_html:extract_all",
    )
    yield ExtractorProvider(
        name="json",
        summary="JSON, a line for each value",
        modes=("clean", "markdown"),
        order=10,
        media_types=JSON_TYPES,
        target="cloxy_plugins.web.extract_text:extract_json",
    )
    yield ExtractorProvider(
        name="xml",
        summary="Entries of feeds, and the outline of other XML",
        modes=("clean", "markdown"),
        order=10,
        media_types=XML_TYPES,
        target="cloxy_plugins.web.extract_xml:extract",
    )
    yield ExtractorProvider(
        name="pdf",
        summary="Text of PDF documents",
        extra="pdf",
        modes=("clean", "markdown"),
        order=10,
        media_types=("application/pdf",),
        target="cloxy_plugins.web.extract_pdf:extract",
    )
    yield ExtractorProvider(
        name="text",
        summary="Plain text, Markdown and source code as they are",
        modes=("clean", "markdown"),
        order=100,
        media_types=("text/", "application/"),
        target="cloxy_plugins.web.extract_text:extract",
    )


@hookimpl
def cloxy_origins() -> Iterable[OriginPolicy]:
    """Yield pages that somebody asked to be remembered."""
    yield OriginPolicy(
        name="document", kind="reference", tier="working", immutable=True, deduplicates=True
    )


@hookimpl
def cloxy_operations() -> Iterable[OperationProvider[Any, Any]]:
    """Yield what can be asked about pages."""
    from cloxy_plugins.web.operations import operations

    yield from operations()
