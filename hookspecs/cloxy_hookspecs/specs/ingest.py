"""Hooks of the way in: from a log on disk to memories."""

from collections.abc import Iterable

from cloxy_hookspecs.markers import hookspec
from cloxy_hookspecs.providers.ingest import ChunkerProvider, ParserProvider, SourceProvider
from cloxy_hookspecs.types.memory import OriginPolicy


class IngestSpecs:
    """What feeds the memory."""

    @hookspec
    def cloxy_sources(self) -> Iterable[SourceProvider]:
        """Kinds of session log to watch.

        Example:
            ```python
            @hookimpl
            def cloxy_sources():
                from my_agent.source import MyAgentFiles

                yield SourceProvider(
                    name="my-agent", summary="Sessions of My Agent", agent="my-agent",
                    parser="my-agent-jsonl", chunker="messages", origin="transcript",
                    create=MyAgentFiles,
                )
            ```
        """
        raise NotImplementedError

    @hookspec
    def cloxy_parsers(self) -> Iterable[ParserProvider]:
        """Formats of session logs.

        Example:
            ```python
            @hookimpl
            def cloxy_parsers():
                from my_agent.parser import MyAgentParser

                yield ParserProvider(
                    name="my-agent-jsonl", summary="One JSON object a line",
                    create=lambda context: MyAgentParser(),
                )
            ```
        """
        raise NotImplementedError

    @hookspec
    def cloxy_chunkers(self) -> Iterable[ChunkerProvider]:
        """Ways to pack messages into memories.

        Example:
            ```python
            @hookimpl
            def cloxy_chunkers():
                from my_plugin.one_each import OneEach

                yield ChunkerProvider(
                    name="one-each", summary="A memory for every message", target=0,
                    create=lambda context: OneEach(),
                )
            ```
        """
        raise NotImplementedError

    @hookspec
    def cloxy_origins(self) -> Iterable[OriginPolicy]:
        """Policies for the memories that the plugin makes.

        Example:
            ```python
            @hookimpl
            def cloxy_origins():
                yield OriginPolicy(
                    name="ticket", kind="reference", tier="working", immutable=True,
                    deduplicates=True,
                )
            ```
        """
        raise NotImplementedError
