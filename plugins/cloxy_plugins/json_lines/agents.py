"""The agents that are described, each as a source with a parser of its own."""

import errno
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from cloxy_hookspecs import (
    HostContext,
    LogReader,
    Parser,
    ParserProvider,
    RawLine,
    Source,
    SourceFailure,
    SourceItem,
    SourceProvider,
)
from cloxy_plugins.json_lines.descriptions import (
    TABLE,
    Agent,
    Descriptions,
    read_bytes,
    read_descriptions,
)
from cloxy_plugins.json_lines.formats import Format
from cloxy_plugins.json_lines.parser import create_parser
from cloxy_plugins.json_lines.places import FILE, NAME, trees_of

CHANGED = "was changed since the server started; restart it, and the change takes effect"


def create_descriptions(context: HostContext) -> Source:
    """Make the source that tells what is wrong with the file."""
    file, described = _described(context)

    def told() -> str:
        try:
            changed = described.read and read_bytes(file) != described.data
        except OSError as error:
            return f"cannot be read: {error.strerror or error}"
        return CHANGED if changed else described.problem

    return Telling((file,) if context.settings[FILE] or file.exists() else (), str(file), told)


def create_plain_parser(context: HostContext) -> Parser:
    """Make the parser of the plainest form."""
    return create_parser(context, Format())


def further_agents(context: HostContext) -> Iterable[SourceProvider | ParserProvider]:
    """A source and a parser for each agent."""
    file, described = _described(context)
    for agent in described.agents:
        parser = f"json-lines-{agent.name}"
        title = agent.title or agent.name
        yield ParserProvider(
            name=parser,
            summary=f"Logs of {agent.name}, as {NAME} describes them",
            create=partial(create_parser, rules=agent.format),
        )
        yield SourceProvider(
            name=agent.name,
            summary=f"Logs of {agent.name}, as {NAME} describes them",
            agent=agent.name,
            parser=parser,
            chunker="messages",
            origin="transcript",
            title=title,
            resume=agent.resume,
            own_folders=True,
            create=partial(_create_source, agent=agent, file=file),
        )


def _described(context: HostContext) -> tuple[Path, Descriptions]:
    named = context.settings[FILE]
    file = Path(named) if named else context.paths.data / NAME
    return file, read_descriptions(file, Path.home(), named=bool(named))


def _create_source(context: HostContext, agent: Agent, file: Path) -> Source:
    if agent.problem:
        roots = tuple(pattern.root for pattern in agent.patterns)
        return Telling(roots, f"{file} [{TABLE}.{agent.name}]", lambda: agent.problem)
    return context.service(LogReader).lines(trees_of(agent.patterns))


class Telling:
    """A source of nothing, which tells what is wrong; implements `Source`."""

    def __init__(self, roots: Sequence[Path], place: str, told: Callable[[], str]) -> None:
        """Know where to ask.

        Args:
            roots: what is shown as its places.
            place: file, and place in it, with the mistake.
            told: what is wrong; empty for nothing.
        """
        self._roots = tuple(dict.fromkeys(roots))
        self._place = place
        self._told = told

    def roots(self) -> Sequence[Path]:
        """What is shown as its places."""
        return self._roots

    def discover(
        self, failures: list[SourceFailure], under: Path | None = None
    ) -> Iterator[SourceItem]:
        """Nothing; what is wrong is told."""
        reason = self._told() if under is None else ""
        if reason:
            failures.append(SourceFailure(self._place, reason))
        return iter(())

    def read(self, item: SourceItem, offset: int) -> Iterator[RawLine]:
        """Never asked.

        Raises:
            OSError: always.
        """
        raise OSError(errno.ENOENT, "nothing is read here", item.uri)

    def excerpt(self, item: SourceItem, start: int, end: int) -> bytes:
        """Never asked.

        Raises:
            OSError: always.
        """
        raise OSError(errno.ENOENT, "nothing is read here", item.uri)
