"""What a reader of another memory system gives: notes, conversations, and what has no home.

Runs in the process that reads files of others: see `foreign`.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

MOST_BAD: Final = 20
"""Bad rows that are told by name; of the others only the number is."""

Row = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class ForeignNote:
    """One thing that another system remembered.

    Attributes:
        uid: the system's own id of it, the same whenever it is read, and of its own among all
            that the system holds: what lies in another table has a prefix, such as `goal:7`.
        text: its words, verbatim; never empty.
        at: when it was said or written, milliseconds since the epoch; None when unknown.
        project: name or path of its project; None when it has none.
        source: where the system had it from; None when unknown.
        metadata: all else that the system knows of it, JSON-ready, under the system's own names.
        sort: what it is there, in one word or two: it is told how many of each came, and stands
            in the metadata as `kind` unless it is a memory.
        knowledge: sort of knowledge as Cloxy has them; None leaves it to the origin. What is
            none of them is as None.
        tier: how present it is, likewise.
    """

    uid: str
    text: str
    at: int | None = None
    project: str | None = None
    source: str | None = None
    metadata: Mapping[str, object] = field(default_factory=dict[str, object])
    sort: str = "memory"
    knowledge: str | None = None
    tier: str | None = None


@dataclass(frozen=True, slots=True)
class ForeignMessage:
    """One thing that was said in a session which another system recorded.

    Attributes:
        agent: whose session it was.
        session: its key.
        uid: id of the message.
        role: `user`, `assistant` or `summary`.
        text: its words, verbatim; never empty.
        at: when it was said, milliseconds since the epoch; None when unknown.
        cwd: working directory or project of the session; None when unknown.
        title: of the session; None when it has none.
        approximate: whether `at` is only a time near it.
    """

    agent: str
    session: str
    uid: str
    role: str
    text: str
    at: int | None = None
    cwd: str | None = None
    title: str | None = None
    approximate: bool = False


class TableReader(Protocol):
    """A database that was opened for reading, in one transaction."""

    def tables(self) -> frozenset[str]:
        """Names of its tables."""
        ...

    def columns(self, table: str) -> frozenset[str]:
        """Columns of a table; empty when there is none."""
        ...

    def rows(self, statement: str, parameters: tuple[object, ...] = ()) -> Iterator[Row]:
        """Rows of a SELECT; text that is no UTF-8 is repaired.

        Raises:
            ForeignTrouble: the file is damaged.
        """
        ...


@dataclass(slots=True)
class Told:
    """What a reader tells besides.

    Attributes:
        homeless: things that Cloxy has no place for yet, by name: kept in metadata (or not at
            all, when the name says so), and told in the summary.
        bad: rows that could not be taken, with the reason, the first of them.
        bad_count: their number.
    """

    homeless: Counter[str] = field(default_factory=Counter[str])
    bad: list[str] = field(default_factory=list[str])
    bad_count: int = 0

    def pass_over(self, words: str) -> None:
        """A row could not be taken; the words name it, by table and id, and say why."""
        self.bad_count += 1
        if len(self.bad) < MOST_BAD:
            self.bad.append(words)


class DatabaseSystem(Protocol):
    """Another memory system that keeps a SQLite database."""

    @property
    def name(self) -> str:
        """Its name: origin of what comes from it, such as `exocortex`."""
        ...

    def knows(self, database: TableReader) -> bool:
        """Whether a database is one of this system, by its shape."""
        ...

    def differs(self, database: TableReader) -> str | None:
        """What differs from the shape that can be read, in words; None when nothing does.

        Raises:
            ForeignTrouble: it differs, and there is something better to do.
        """
        ...

    def items(self, database: TableReader, told: Told) -> Iterator[ForeignNote | ForeignMessage]:
        """All that it holds, the oldest first where it can be told; rows are read one by one.

        Notes stand together, and so do the messages of a session: what alternates is slow.

        Raises:
            ForeignTrouble: it cannot be read to its end; what was given until then is kept.
        """
        ...


class FolderSystem(Protocol):
    """Another memory system that keeps a folder of files."""

    @property
    def name(self) -> str:
        """Its name."""
        ...

    def knows(self, folder: Path) -> bool:
        """Whether a folder is one of this system."""
        ...

    def items(self, folder: Path, told: Told) -> Iterator[ForeignNote | ForeignMessage]:
        """All that it holds; links are not followed."""
        ...
