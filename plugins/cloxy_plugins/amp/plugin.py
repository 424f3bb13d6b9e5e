"""What the plugin brings: the source of threads, the parser of its records, and a setting."""

from collections.abc import Iterable
from typing import Any

from cloxy_hookspecs import ParserProvider, Setting, SourceProvider, hookimpl


@hookimpl
def cloxy_sources() -> Iterable[SourceProvider]:
    """The threads of Amp."""
    from cloxy_plugins.amp.source import create_source

    yield SourceProvider(
        name="amp",
        summary="Threads of Amp from before it kept them on its server, and exported ones",
        agent="amp",
        parser="amp-records",
        chunker="messages",
        origin="transcript",
        rewritten=True,
        title="Amp",
        resume=("amp", "threads", "continue", "{session}"),
        note="Amp keeps new threads on its server; what `amp threads export` writes can be read.",
        create=create_source,
    )


@hookimpl
def cloxy_parsers() -> Iterable[ParserProvider]:
    """The records that the source makes."""
    from cloxy_hookspecs.logs.turns import create_turn_parser

    yield ParserProvider(
        name="amp-records",
        summary="Records of threads of Amp",
        create=create_turn_parser,
    )


@hookimpl
def cloxy_settings() -> Iterable[Setting[Any]]:
    """Where exported threads lie."""
    from cloxy_plugins.amp.settings import EXPORTS

    yield EXPORTS
