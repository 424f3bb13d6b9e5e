"""What the plugin brings: the source of sessions, and their parser."""

from collections.abc import Iterable

from cloxy_hookspecs import ParserProvider, SourceProvider, hookimpl


@hookimpl
def cloxy_sources() -> Iterable[SourceProvider]:
    """The sessions of the Gemini CLI, and those of another program in its form."""
    from cloxy_plugins.gemini_cli.source import create_old_qwen_source, create_source

    yield SourceProvider(
        name="gemini-cli",
        summary="Sessions of the Gemini CLI in both forms, its sub-agents among them",
        agent="gemini-cli",
        parser="gemini-cli-records",
        chunker="messages",
        origin="transcript",
        rewritten=True,
        title="Gemini CLI",
        resume=("gemini", "--resume", "{session}"),
        create=create_source,
    )
    yield SourceProvider(
        name="qwen-code-old",
        summary="Sessions and prompts that older versions of Qwen Code left",
        agent="qwen-code",
        parser="gemini-cli-records",
        chunker="messages",
        origin="transcript",
        rewritten=True,
        title="Qwen Code",
        note="Older versions of Qwen Code wrote in the form of the Gemini CLI.",
        create=create_old_qwen_source,
    )


@hookimpl
def cloxy_parsers() -> Iterable[ParserProvider]:
    """The records of that source."""
    from cloxy_plugins.gemini_cli.parser import create_parser

    yield ParserProvider(
        name="gemini-cli-records",
        summary="Sessions of the Gemini CLI, as its source tells them",
        create=create_parser,
    )
