"""What the plugin brings: the source of session logs, and their parser."""

from collections.abc import Iterable

from cloxy_hookspecs import ParserProvider, SourceProvider, hookimpl


@hookimpl
def cloxy_sources() -> Iterable[SourceProvider]:
    """The session logs of Qwen Code."""
    from cloxy_plugins.qwen_code.source import create_source

    yield SourceProvider(
        name="qwen-code",
        summary="Sessions of Qwen Code, archived ones and sub-agents among them",
        agent="qwen-code",
        parser="qwen-code-records",
        chunker="messages",
        origin="transcript",
        title="Qwen Code",
        resume=("qwen", "--resume", "{session}"),
        create=create_source,
    )


@hookimpl
def cloxy_parsers() -> Iterable[ParserProvider]:
    """The format of those files."""
    from cloxy_plugins.qwen_code.parser import create_parser

    yield ParserProvider(
        name="qwen-code-records",
        summary="Session logs of Qwen Code, one record a line",
        create=create_parser,
    )
