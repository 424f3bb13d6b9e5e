"""A database of another Cloxy, of versions 2 to 5, to be joined with the memory that is here.

Recognised by the table `chunks`, whose columns all of these versions have; version 5 added the
project, the session and the times. A database that lies in the data directory is not imported but
upgraded in place, see `store.legacy`; its rules of what is a conversation hold here, too. What a
Cloxy of today holds comes as its export.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from cloxy_core.services.exchange.foreign_limits import ForeignDamage, ForeignTrouble
from cloxy_core.services.exchange.foreign_memories import (
    ForeignMessage,
    ForeignNote,
    Row,
    TableReader,
    Told,
)
from cloxy_core.services.exchange.foreign_records import Record, records
from cloxy_core.services.exchange.foreign_rows import present, table_rows
from cloxy_core.services.exchange.foreign_values import (
    json_object,
    json_of,
    moment,
    stated,
    text_of,
    whole,
)
from cloxy_core.services.upgrade.turns import FOREIGN
from cloxy_core.store.legacy.sources import Sorter

AGENT: Final = "claude-code"
_CHUNKS: Final = frozenset({"id", "content", "content_hash", "source", "created_at"})
_OWN: Final = frozenset({"memories", "passages", "embedding_spaces", "tombstones"})
_PLACES: Final = ("id", "source", "session_id", "ts_start", "project", "metadata")
_TEXTS: Final = (
    *("id", "content", "source", "created_at", "project", "ts_start", "ts_end", "metadata"),
)
# Only of the rows that may be pieces the text is looked at.
_OLD_TURN: Final = (
    "source LIKE 'convo:%:chunk%'"
    " AND (instr(content, '[USER]: ') OR instr(content, '[ASSISTANT]: '))"
)
_HEADER: Final = re.compile(r"\[[^\n]*\]\n(?=USER: |ASSISTANT: )")
_TURNS: Final = re.compile(r"(?:\A|\n\n)(USER|ASSISTANT): ")
_USER_TURN: Final = re.compile(r"^\[?USER\]?: ", re.MULTILINE)


@dataclass(slots=True)
class _Session:
    """A conversation, of which the rows are only known by their numbers."""

    key: str
    project: str | None = None
    title: str | None = None
    rows: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])


class Cloxy:
    """Reads it; see `DatabaseSystem`."""

    name = "cloxy"

    def knows(self, database: TableReader) -> bool:
        """Whether it is one of any version."""
        return database.columns("chunks") >= _CHUNKS or _is_own(database)

    def differs(self, database: TableReader) -> str | None:
        """Nothing.

        Raises:
            ForeignTrouble: it is one of today, of which an export says more.
        """
        if _is_own(database):
            raise ForeignTrouble(
                "it is the database of a Cloxy of today, which is not taken apart here",
                "run `cloxy export FILE` on the machine where it is in use, and import that file",
            )
        return None

    def items(self, database: TableReader, told: Told) -> Iterator[ForeignNote | ForeignMessage]:
        """All notes, then the conversations one by one."""
        notes, sessions = _sorted(database, told)
        for number in notes:
            yield from _note(_row(database, number, told))
        branches = 0
        for session in sessions.values():
            # The row of a piece that grew is the newest, wherever the piece stands.
            for ordinal, number in sorted(session.rows):
                record = _row(database, number, told)
                if record is None:
                    continue
                branches += "git_branch" in json_object(record["metadata"])
                yield from _said(session, ordinal, record)
        if branches:
            told.homeless["pieces of conversations with a branch (left out)"] += branches


def _is_own(database: TableReader) -> bool:
    return database.tables() >= _OWN


def _sorted(database: TableReader, told: Told) -> tuple[list[int], dict[str, _Session]]:
    """Numbers of the rows that are notes, and the conversations with theirs."""
    sorter = Sorter(_spoken(database))
    notes: list[int] = []
    sessions: dict[str, _Session] = {}
    for record in records(database, told, "chunks", _PLACES):
        number = whole(record["id"])
        if number is None:
            told.pass_over("chunks: a row has no number")
            continue
        place = sorter.place(
            text_of(record["source"]) or "",
            text_of(record["session_id"]),
            text_of(record["ts_start"]),
        )
        if place.session is None:
            notes.append(number)
            continue
        session = sessions.setdefault(place.session, _Session(place.session))
        session.rows.append((place.ordinal, number))
        session.project = session.project or text_of(record["project"])
        # The last one wins: a title comes late, or anew.
        session.title = text_of(json_object(record["metadata"]).get("title")) or session.title
    return notes, sessions


def _spoken(database: TableReader) -> set[str]:
    """Sessions of versions 2 to 4 in which somebody really spoke."""
    unheard = Told()  # the same damage is told when the rows are sorted
    return {
        source.rpartition(":chunk")[0].removeprefix("convo:")
        for source, spoken in table_rows(database, unheard, "chunks", ("source", _OLD_TURN))
        if spoken and isinstance(source, str) and source.startswith("convo:")
    }


def _row(database: TableReader, number: int, told: Told) -> Record | None:
    """One row; None when it is damaged, which is told."""
    columns = ", ".join(present(database, "chunks", _TEXTS))
    statement = f"SELECT {columns} FROM chunks WHERE id = ?"  # noqa: S608 - names of ours
    try:
        row: Row | None = next(database.rows(statement, (number,)), None)
    except ForeignDamage:
        row = None
    record = dict(zip(_TEXTS, row, strict=True)) if row is not None else None
    if record is None or text_of(record["content"]) is None:
        told.pass_over(f"chunks: row {number} holds no text, or is damaged")
        return None
    return record


def _note(record: Record | None) -> Iterator[ForeignNote]:
    text = text_of(record["content"]) if record is not None else None
    if record is None or text is None:
        return
    said = moment(record["ts_start"])
    yield ForeignNote(
        uid=hashlib.sha256(text.encode()).hexdigest(),
        text=text,
        at=said if said is not None else moment(record["created_at"]),
        project=text_of(record["project"]),
        source=text_of(record["source"]),
        metadata=dict(json_object(record["metadata"]))
        or stated({"metadata": json_of(record["metadata"])}),
    )


def _said(session: _Session, ordinal: int, record: Record) -> Iterator[ForeignMessage]:
    """The messages of a piece.

    Version 5 packed whole messages. Before, a text was cut wherever it was long enough, with an
    overlap, so that its pieces are kept as they are.
    """
    text = text_of(record["content"]) or ""
    turns = _turns(text) or [("user" if _USER_TURN.search(text) else "assistant", text)]
    times = _times(record, len(turns))
    for number, ((role, words), (at, is_sure)) in enumerate(zip(turns, times, strict=True)):
        yield ForeignMessage(
            agent=AGENT,
            session=session.key,
            uid=f"{FOREIGN}{session.key}:{ordinal}:{number}",
            role=role,
            text=words,
            at=at,
            cwd=session.project,
            title=session.title,
            approximate=at is not None and not is_sure,
        )


def _times(record: Record, number: int) -> list[tuple[int | None, bool]]:
    """A time for each message of a piece, and whether it is its own.

    Those of the first and of the last one are known; before version 5 only when it was stored.
    """
    first, last = moment(record["ts_start"]), moment(record["ts_end"])
    known = [at for at in (first, last, moment(record["created_at"])) if at is not None]
    near = known[0] if known else None
    times = [(near, False)] * number
    if last is not None:
        times[-1] = (last, True)
    if first is not None:
        times[0] = (first, True)
    return times


def _turns(text: str) -> list[tuple[str, str]]:
    """Role and words of each message of a piece of version 5; empty for any other piece."""
    header = _HEADER.match(text)
    if header is None:
        return []
    pieces = _TURNS.split(text[header.end() :])
    return [
        (role.lower(), words)
        for role, words in zip(pieces[1::2], pieces[2::2], strict=True)
        if words.strip()
    ]
