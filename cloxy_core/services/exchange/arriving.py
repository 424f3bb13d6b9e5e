"""An import: checked lines, in batches of one agent, to whoever takes them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import BinaryIO, Final, Protocol

from cloxy_core.services.exchange.entries import (
    EndEntry,
    FieldTrouble,
    MessageEntry,
    NoteEntry,
    SessionEntry,
    check_header,
    read_end,
    read_message,
    read_note,
    read_session,
)
from cloxy_core.services.exchange.lines import Line, read_lines

_MESSAGES: Final = 500
_SESSIONS: Final = 100
_CHARACTERS: Final = 2_000_000
Entry = SessionEntry | MessageEntry | NoteEntry


@dataclass(slots=True)
class Batch:
    """What goes into one transaction, in the order of the file; of one agent."""

    agent: str = ""
    sessions: list[SessionEntry] = field(default_factory=list)
    messages: list[MessageEntry] = field(default_factory=list)
    notes: list[NoteEntry] = field(default_factory=list)
    characters: int = 0

    def add(self, entry: Entry) -> None:
        """Put an entry at the end."""
        if isinstance(entry, NoteEntry):
            self.notes.append(entry)
            self.characters += len(entry.text)
            return
        self.agent = entry.agent
        if isinstance(entry, SessionEntry):
            self.sessions.append(entry)
        else:
            self.messages.append(entry)
            self.characters += len(entry.message.text)

    def takes(self, entry: Entry) -> bool:
        """Whether an entry may still join; notes and conversations never share a transaction."""
        count = len(self.messages) + len(self.notes)
        if count >= _MESSAGES or len(self.sessions) >= _SESSIONS or self.characters >= _CHARACTERS:
            return False
        if isinstance(entry, NoteEntry):
            return not self.agent
        return not self.notes and self.agent in ("", entry.agent)


@dataclass(slots=True)
class Kind:
    """What became of the lines of one kind.

    Attributes:
        new: were added.
        known: were there already.
        forgotten: were forgotten here once, and did not come back.
        empty: held nothing but private parts or recalled text.
        ruled_out: are of projects that are ignored here, or older than their project keeps.
    """

    new: int = 0
    known: int = 0
    forgotten: int = 0
    empty: int = 0
    ruled_out: int = 0

    def add(self, other: "Kind") -> None:
        """Count another one in."""
        self.new += other.new
        self.known += other.known
        self.forgotten += other.forgotten
        self.empty += other.empty
        self.ruled_out += other.ruled_out


@dataclass(slots=True)
class Taken:
    """What became of one batch; `bad` are lines and why they could not be taken.

    Notes that are `changed` are known ones whose text was replaced.
    """

    sessions: Kind = field(default_factory=Kind)
    messages: Kind = field(default_factory=Kind)
    notes: Kind = field(default_factory=Kind)
    redactions: int = 0
    changed: int = 0
    bad: Sequence[tuple[int, str]] = ()


@dataclass(slots=True)
class Summary:
    """What became of a file.

    Attributes:
        redactions: secrets that were replaced.
        changed: known notes of which another memory system has a newer text now.
        bad: lines that were passed over because they are damaged.
        unknown: lines of kinds that this version does not know.
        cut: what is missing of the file, in words; None when it is whole.
    """

    sessions: Kind = field(default_factory=Kind)
    messages: Kind = field(default_factory=Kind)
    notes: Kind = field(default_factory=Kind)
    redactions: int = 0
    changed: int = 0
    bad: int = 0
    unknown: int = 0
    cut: str | None = None

    @property
    def fine(self) -> bool:
        """Whether every line could be taken."""
        return not self.bad and self.cut is None

    def as_object(self) -> dict[str, object]:
        """The summary for programs."""
        return asdict(self)


class Taker(Protocol):
    """Who takes batches: one that writes, or one that only looks."""

    async def take(self, batch: Batch) -> Taken:
        """Take one batch."""
        ...


@dataclass(slots=True)
class Arriving:
    """One import.

    Attributes:
        file: the file, at its beginning.
        name: its name, for words.
        tell: told how many lines were read.
        complain: told what is wrong with a line: its number, and the words.
    """

    file: BinaryIO
    name: str
    tell: Callable[[int], None]
    complain: Callable[[int, str], None]
    summary: Summary = field(default_factory=Summary)
    _lines: Iterator[Line] = field(init=False)
    _seen: EndEntry = field(default=EndEntry(0, 0, 0))

    def open(self) -> None:
        """Read the header.

        Raises:
            InputError: the file is not of this form.
        """
        self._lines = read_lines(self.file)
        first = next(self._lines, Line(1, {}))
        check_header(first.value, self.name)

    async def run(self, taker: Taker) -> Summary:
        """Hand all lines behind the header to whoever takes them."""
        batch = Batch()
        for entry in self._entries():
            if not batch.takes(entry):
                await self._hand(batch, taker)
                batch = Batch()
            batch.add(entry)
        await self._hand(batch, taker)
        return self.summary

    async def _hand(self, batch: Batch, taker: Taker) -> None:
        if not (batch.sessions or batch.messages or batch.notes):
            return
        taken = await taker.take(batch)
        self.summary.sessions.add(taken.sessions)
        self.summary.messages.add(taken.messages)
        self.summary.notes.add(taken.notes)
        self.summary.redactions += taken.redactions
        self.summary.changed += taken.changed
        for line, words in taken.bad:
            self._bad(line, words)

    def _entries(self) -> Iterator[Entry]:
        """Entries of the lines that are good; the others are counted."""
        counts = {"session": 0, "message": 0, "note": 0}
        end: EndEntry | None = None
        finished = True
        for line in self._lines:
            finished = line.finished
            self.tell(line.number)
            kind = line.value.get("kind")
            if isinstance(kind, str) and kind in counts:
                counts[kind] += 1
            elif line.trouble:
                # What it was cannot be told, so that the counts at the end say nothing.
                counts["session"] = -(1 << 60)
            if end is not None:
                self._bad(line.number, "it stands behind the end line")
                continue
            try:
                found = self._read(line)
            except FieldTrouble as error:
                self._bad(line.number, str(error))
                continue
            if isinstance(found, EndEntry):
                end = found
            elif found is not None:
                yield found
        self.summary.cut = _cut(end, counts, finished=finished)

    def _read(self, line: Line) -> Entry | EndEntry | None:
        """What a line says; None for a kind that is not known.

        Raises:
            FieldTrouble: it is bad.
        """
        if line.trouble is not None:
            raise FieldTrouble(line.trouble)
        kind = line.value.get("kind")
        if not isinstance(kind, str):
            raise FieldTrouble("kind: is not a string" if kind is not None else "kind: is missing")
        if kind == "session":
            return read_session(line.number, line.value)
        if kind == "message":
            return read_message(line.number, line.value)
        if kind == "note":
            return read_note(line.number, line.value)
        if kind == "end":
            return read_end(line.value)
        self.summary.unknown += 1
        return None

    def _bad(self, line: int, words: str) -> None:
        self.summary.bad += 1
        self.complain(line, words)


def _cut(end: EndEntry | None, counts: dict[str, int], *, finished: bool) -> str | None:
    """What is missing of a file, in words."""
    if end is None:
        torn = "" if finished else ", and its last line is torn"
        return f"the file is cut: its end line is missing{torn}"
    if counts["session"] < 0:
        return None
    wanted = {"session": end.sessions, "message": end.messages, "note": end.notes}
    differing = [
        f"{wanted[kind]:,} {kind} lines were written and {counts[kind]:,} are here"
        for kind in counts
        if wanted[kind] != counts[kind]
    ]
    return "the file is not whole: " + "; ".join(differing) if differing else None
