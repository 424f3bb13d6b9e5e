"""Hooks of reading the web."""

from collections.abc import Iterable

from cloxy_hookspecs.markers import hookspec
from cloxy_hookspecs.providers.web import (
    ExtractorProvider,
    FetcherProvider,
    GuardProvider,
    SanitizerProvider,
)


class WebSpecs:
    """From an address to text."""

    @hookspec
    def cloxy_guards(self) -> Iterable[GuardProvider]:
        """What may refuse an address, before every hop.

        Example:
            ```python
            class NoSundays:
                policy = "no-sundays"

                def check(self, target):
                    if target.host.startswith("sunday."):
                        raise BlockedURLError("this address may not be read")

            @hookimpl
            def cloxy_guards():
                yield GuardProvider(
                    name="no-sundays", summary="Refuses Sundays",
                    create=lambda context: NoSundays(),
                )
            ```
        """
        raise NotImplementedError

    @hookspec
    def cloxy_fetchers(self) -> Iterable[FetcherProvider]:
        """What asks a server, one a scheme.

        Example:
            ```python
            class Canned:
                async def fetch(self, request):
                    return HopResponse(200, {"content-type": "text/plain"}, b"hello")

            @hookimpl
            def cloxy_fetchers():
                yield FetcherProvider(
                    name="canned", summary="Always the same", scheme="http",
                    create=lambda context: Canned(),
                )
            ```
        """
        raise NotImplementedError

    @hookspec
    def cloxy_sanitizers(self) -> Iterable[SanitizerProvider]:
        """What takes out of a page what nobody sees.

        Example:
            ```python
            @hookimpl
            def cloxy_sanitizers():
                yield SanitizerProvider(
                    name="no-marquee", summary="Takes moving text out",
                    target="my_plugin.marquee:without_marquee",
                )
            ```
        """
        raise NotImplementedError

    @hookspec
    def cloxy_extractors(self) -> Iterable[ExtractorProvider]:
        """What makes text of a page.

        Example:
            ```python
            @hookimpl
            def cloxy_extractors():
                yield ExtractorProvider(
                    name="subtitles", summary="Text of subtitle files", modes=("clean",),
                    media_types=("text/vtt",), target="my_plugin.subtitles:extract",
                )
            ```
        """
        raise NotImplementedError
