"""What the plugin brings: a source that names one for each agent that people describe."""

from collections.abc import Iterable

from cloxy_hookspecs import LogReader, ParserProvider, Setting, SourceProvider, hookimpl


@hookimpl
def cloxy_settings() -> Iterable[Setting[object]]:
    """Where agents are described."""
    from cloxy_plugins.json_lines.places import FILE

    yield FILE


@hookimpl
def cloxy_sources() -> Iterable[SourceProvider]:
    """The file of descriptions, and with it the agents in it."""
    from cloxy_plugins.json_lines.agents import create_descriptions, further_agents

    yield SourceProvider(
        name="json-lines",
        summary="Logs of further agents, one JSON object a line, as a file describes them",
        requires=(LogReader,),
        agent="json-lines",
        parser="json-lines-records",
        chunker="messages",
        origin="transcript",
        title="Other agents (JSON Lines)",
        own_folders=True,
        further=further_agents,
        create=create_descriptions,
    )


@hookimpl
def cloxy_parsers() -> Iterable[ParserProvider]:
    """The plainest form: a role, words and a time in each line."""
    from cloxy_plugins.json_lines.agents import create_plain_parser

    yield ParserProvider(
        name="json-lines-records",
        summary="One JSON object a line, with a role, words and a time",
        create=create_plain_parser,
    )
