"""Sources, parsers and chunkers."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from cloxy_hookspecs.context import HostContext
from cloxy_hookspecs.providers.base import Provider
from cloxy_hookspecs.types.ingest import (
    Chunk,
    Message,
    ParseResult,
    RawLine,
    SourceFailure,
    SourceItem,
)


class Source(Protocol):
    """Finds readable things and reads them by byte offset. Runs on the `io` worker.

    A source of things that are rewritten in place (`SourceProvider.rewritten`) has one item for
    each conversation. `size` and `mtime_ns` of such an item are its version: when they or its
    identity changed, the whole item is read again, known messages are recognised by their uid, and
    those whose text changed are revised. Its lines are records that the source writes itself, as
    JSON; their offsets are ordinal numbers, every line is finished, and `excerpt` is not asked.
    Its `uri` is the path of the store, with `#` and the conversation's key where one store holds
    several.
    """

    def roots(self) -> Sequence[Path]:
        """Folders that are watched, whether they exist or not."""
        ...

    def discover(
        self, failures: list[SourceFailure], under: Path | None = None
    ) -> Iterable[SourceItem]:
        """Find what there is to read.

        Args:
            failures: gets what could not be looked at; discovery goes on.
            under: only this file or folder, else all roots.
        """
        ...

    def read(self, item: SourceItem, offset: int) -> Iterable[RawLine]:
        r"""Lines from an offset to the end of the data, split at `\n` bytes only.

        An unfinished last line comes last, with `finished` False. The file is opened without
        following a link, and must still be the discovered regular file.

        Raises:
            OSError: it cannot be opened or read.
        """
        ...

    def excerpt(self, item: SourceItem, start: int, end: int) -> bytes:
        """The bytes of a range (shorter at the end of the data), to recognise a rewritten file.

        Raises:
            OSError: it cannot be opened or read.
        """
        ...


@runtime_checkable
class FolderSource(Source, Protocol):
    """A source that can also read a folder which it does not watch, if its owner asks for it."""

    def of(self, folder: Path) -> Source:
        """The same kind of source, with this folder as its only root.

        Args:
            folder: absolute; links in its own path are the owner's business, those below it are
                never followed.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceProvider(Provider):
    """A kind of session log.

    Attributes:
        agent: name of the agent that writes these logs; part of a session's identity.
        parser: name of the parser for its items.
        chunker: name of the chunker for its messages.
        origin: origin of the memories made from it.
        rewritten: whether its things are rewritten in place; else they only grow.
        title: name of the agent, for people.
        resume: command that goes on with a session: `{session}` stands for its key. Empty when the
            agent has none.
        note: what people should know of it, such as why nothing can be read.
        own_folders: whether settings of its own name its folders; then it is read also while
            `watch.dirs` names the folders of others.
        further: names what is only known once the settings are: further sources, such as one for
            each agent that people describe, and parsers for them. It is asked once, at start.
        create: makes the source.
    """

    agent: str
    parser: str
    chunker: str
    origin: str
    rewritten: bool = False
    title: str = ""
    resume: tuple[str, ...] = ()
    note: str = ""
    own_folders: bool = False
    further: Callable[[HostContext], Iterable["SourceProvider | ParserProvider"]] | None = None
    create: Callable[[HostContext], Source]


class Parser(Protocol):
    """Turns lines into messages. Runs on the `io` worker; never raises for bad input."""

    def parse(
        self, item: SourceItem, lines: Iterable[RawLine], state: Mapping[str, object]
    ) -> ParseResult:
        """Parse a run of lines.

        Args:
            item: where they come from.
            lines: lines in order, all from one item.
            state: what the last run of this item returned as `state`; empty at its start.
        """
        ...


@runtime_checkable
class ExplainingParser(Parser, Protocol):
    """A parser that can say why it made nothing of a line, to those who write its rules."""

    def explain(self, line: RawLine) -> str:
        """Why a line that is not damaged gives no message, in few words; empty if it does."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ParserProvider(Provider):
    """A format of session logs."""

    create: Callable[[HostContext], Parser]


class Chunker(Protocol):
    """Packs messages into chunks. Pure; runs on the `io` worker."""

    def pack(self, new: Sequence[Message], tail: str | None) -> Sequence[Chunk]:
        """Pack messages of one session, in order.

        Args:
            new: messages that are not in the tail.
            tail: content of the session's open chunk; None when it has none.

        Returns:
            Chunks in order; only the last may be open, only the first may continue the tail.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkerProvider(Provider):
    """A way to pack messages.

    Attributes:
        target: characters that a chunk aims at.
    """

    target: int
    create: Callable[[HostContext], Chunker]
