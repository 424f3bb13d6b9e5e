"""How a source would read a file, line by line, without storing anything."""

import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from sqlalchemy import ColumnElement, Connection

from cloxy_core.kernel.context import HostParts
from cloxy_core.kernel.host import PluginHost
from cloxy_core.kernel.lifespan import Lifespan
from cloxy_core.kernel.services import Services
from cloxy_core.runtime.clock import SystemClock
from cloxy_core.runtime.paths import DataDirectory
from cloxy_core.runtime.workers import Workers
from cloxy_core.services.ingest.cleaning import clean_run
from cloxy_core.services.ingest.further import take_further
from cloxy_core.services.ingest.parsing import parse_run
from cloxy_core.services.logs.copies import COPIES
from cloxy_core.services.logs.reader import Logs
from cloxy_hookspecs import (
    ConfigError,
    ExplainingParser,
    Filters,
    FolderSource,
    InputError,
    LogReader,
    LogTree,
    Message,
    NotFoundError,
    Parser,
    ParseResult,
    PluginError,
    RawLine,
    Source,
    SourceFailure,
    SourceItem,
    SourceProvider,
    StoreError,
)
from cloxy_hookspecs.seats import PARSERS, SOURCES

T = TypeVar("T")

LINES = 200
"""Lines by which the source is chosen that understands a file best."""

UNKNOWN = "not known"


@dataclass(frozen=True, slots=True)
class TriedLine:
    """What became of a line.

    Attributes:
        number: 1 for the first; of a source that makes records, the number of the record.
        messages: what would be kept of it, without secrets.
        reason: why nothing would be; empty when something would.
    """

    number: int
    messages: Sequence[Message]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Trial:
    """A file that can be gone through.

    Attributes:
        record: the source that reads it.
        file: the file.
        watched: whether the source would find the file by itself.
        lines: goes through it; raises `OSError` when it cannot be read.
    """

    record: SourceProvider
    file: Path
    watched: bool
    lines: Callable[[], Iterator[TriedLine]]


class NoStore:
    """A database for those who must not ask for one; implements `StorePort`."""

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Never.

        Raises:
            StoreError: always.
        """
        raise _no_database(work)

    async def write(self, work: Callable[[Connection], T], *, durable: bool = False) -> T:
        """Never.

        Raises:
            StoreError: always.
        """
        del durable
        raise _no_database(work)

    def filter_clause(
        self, connection: Connection, filters: Filters
    ) -> Sequence[ColumnElement[bool]]:
        """Never.

        Raises:
            StoreError: always.
        """
        del filters
        raise _no_database(connection)


class Trying:
    """The sources of this machine, made without a server."""

    def __init__(self, host: PluginHost, paths: DataDirectory) -> None:
        """Make nothing yet.

        Args:
            host: plugins and settings.
            paths: the data directory; it need not exist.
        """
        self._registry = host.registry
        self._logs = Logs(paths.data / COPIES)
        services = Services()
        services.offer(LogReader, lambda: self._logs)
        shared = HostParts(host.settings, NoStore(), SystemClock(), paths, Workers(), services)
        self._lifespan = Lifespan(
            self._registry.owner, shared.context, services, self._registry.problems
        )
        take_further(self._registry, shared.context)

    def trial(self, file: Path, agent: str | None) -> Trial:
        """How a file would be read.

        Args:
            file: absolute path.
            agent: name of an agent or a source; None for the one that understands the file best.

        Raises:
            InputError: there is no such file, or no source can read it.
            NotFoundError: there is no such agent.
            ConfigError: the agent is described, but wrongly.
        """
        if not file.is_file():
            raise InputError(f"there is no file {file}", hint="name one log of the agent")
        records = self._records(agent)
        if agent is not None:
            for record in records:
                self._require_described(record)
        found = [each for record in records if (each := self._one(record, file)) is not None]
        if not found:
            names = ", ".join(record.name for record in records)
            raise InputError(f"{names} cannot read {file}" if agent else f"nothing reads {file}")
        if agent is not None:
            return max(found, key=_score) if len(found) > 1 else found[0]
        scores = {trial.record.name: _score(trial) for trial in found}
        best = max(found, key=lambda trial: scores[trial.record.name])
        watched, messages, _strange = scores[best.record.name]
        if not watched and messages < 1:
            raise InputError(
                f"no source finds a message in {file}",
                hint="name the agent with --agent, or describe it in json_lines.toml",
            )
        return best

    def _records(self, agent: str | None) -> Sequence[SourceProvider]:
        records = self._registry.all(SOURCES)
        if agent is None:
            return [record for record in records if record.further is None]
        named = [record for record in records if agent in (record.name, record.agent)]
        if named:
            return named
        # A description that cannot be read at all names no agent.
        for record in records:
            if record.further is not None:
                self._require_described(record)
        known = ", ".join(sorted({record.name for record in records}))
        raise NotFoundError(f"there is no agent {agent!r}", hint=f"known are {known}")

    def _require_described(self, record: SourceProvider) -> None:
        """See that a source that reads nothing has nothing to complain of.

        Raises:
            ConfigError: it has.
        """
        source = self._lifespan.create(record)
        if isinstance(source, FolderSource):
            return
        failures: list[SourceFailure] = []
        list(source.discover(failures))
        for failure in failures:
            raise ConfigError(f"{failure.uri}: {failure.reason}")

    def _one(self, record: SourceProvider, file: Path) -> Trial | None:
        try:
            source, parser = self._lifespan.create(record), self._parser(record.parser)
        except PluginError:
            return None
        if not isinstance(source, FolderSource):
            return None
        if record.rewritten:
            other = source.of(file.parent)
            items = list(other.discover([], file))
        else:
            # Any file may be tried, also one that the agent would have put elsewhere.
            other = self._logs.lines([LogTree(file.parent, _Only(file.name), _nowhere)])
            items = list(other.discover([], file))
        if not items:
            return None
        watched = any(item.uri == str(file) for item in source.discover([], file))

        def lines() -> Iterator[TriedLine]:
            for item in items:
                yield from _tried(other, parser, item)

        return Trial(record, file, watched, lines)

    def _parser(self, name: str) -> Parser:
        for record in self._registry.all(PARSERS):
            if record.name == name:
                return self._lifespan.create(record)
        raise PluginError(f"no enabled plugin brings the parser {name!r}")


def absolute(text: str) -> Path:
    """The path that somebody named, as an absolute one; links stay."""
    return Path(os.path.abspath(Path(text).expanduser()))  # noqa: PTH100


def _tried(source: Source, parser: Parser, item: SourceItem) -> Iterator[TriedLine]:
    state: dict[str, object] = {}
    for number, line in enumerate(source.read(item, 0), start=1):
        result = parse_run(parser, item, [line], state)
        state = dict(result.state)
        kept = clean_run(result).messages
        yield TriedLine(number, kept, "" if kept else _reason(parser, line, result))


def _reason(parser: Parser, line: RawLine, result: ParseResult) -> str:
    if result.messages:
        return "nothing but secrets or what Cloxy itself put there"
    if result.bad_lines:
        return result.bad_lines[0].reason
    if not line.data.strip():
        return "an empty line"
    if isinstance(parser, ExplainingParser) and (reason := parser.explain(line)):
        return reason
    if result.unknown:
        return f"{UNKNOWN}: {', '.join(result.unknown)}"
    return "says nothing that is kept"


def _score(trial: Trial) -> tuple[bool, int, int]:
    """Whether the file is watched; messages, and lines that are not understood."""
    messages = strange = 0
    try:
        for line in itertools.islice(trial.lines(), LINES):
            messages += len(line.messages)
            strange += line.reason.startswith(UNKNOWN)
    except OSError:
        return (False, -1, 0)
    return (trial.watched, messages, -strange)


@dataclass(frozen=True, slots=True)
class _Only:
    name: str

    def __call__(self, parts: tuple[str, ...]) -> bool:
        return parts == (self.name,)


def _nowhere(parts: tuple[str, ...]) -> bool:
    del parts
    return False


def _no_database(work: object) -> StoreError:
    del work
    return StoreError("there is no database while a file is tried")
