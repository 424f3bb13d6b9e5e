"""Exports of ChatGPT and Claude.ai, and other memory systems, as lines that an import takes.

Another process reads them, so that nothing of what is in it can do more than end that process;
its lines are checked as those of any file that nobody vouches for.
"""

import io
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, Final, cast

from sqlalchemy import Connection

from cloxy_core.services.exchange import foreign_main
from cloxy_core.services.exchange.arriving import Summary, Taken
from cloxy_core.services.exchange.cleaning import CleanBatch
from cloxy_core.services.exchange.entries import MessageEntry, NoteEntry
from cloxy_core.services.exchange.following import marked, standing, stored_passages
from cloxy_core.services.exchange.form import IMPORTED, time_text
from cloxy_core.services.exchange.known import as_message, is_note_stored
from cloxy_core.services.exchange.writing import Writing
from cloxy_core.services.redaction import redact
from cloxy_core.services.write.batch import FileBatch
from cloxy_core.services.write.removal import remove_passages
from cloxy_hookspecs import InputError, SessionFacts

_ENVIRONMENT: Final = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT", "LD_LIBRARY_PATH")
_HEAD: Final = 4096
_MARK: Final = b"\xef\xbb\xbf"
_MOST_REPORT: Final = 64 * 1024
_EXPORTS: Final = (b"PK", b"[")
_OBJECT: Final = b"{"
_HEADER: Final = 2048
"""More bytes than the first line of an export of ours ever has."""

_DATABASE: Final = b"SQLite format 3\0"
_EXPORT_HINT: Final = "download the export again"
_AGAIN: Final = "import again: what is here is not doubled"


@dataclass(slots=True)
class ForeignSummary(Summary):
    """What became of an export of another service, or of what a memory system keeps.

    Attributes:
        agent: whose it is; empty when an export holds no conversation.
        first: time of its earliest message or note, as ISO 8601.
        last: time of its latest one.
        without_messages: conversations that hold none.
        kinds: of a memory system, how many notes of each sort it holds.
        homeless: likewise what has no place of its own here, by name.
    """

    agent: str = ""
    first: str | None = None
    last: str | None = None
    without_messages: int = 0
    kinds: Mapping[str, int] = field(default_factory=dict[str, int])
    homeless: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(slots=True)
class Translation:
    """What is of others, while it is read.

    Attributes:
        lines: lines of an export of Cloxy.
        writing: who writes what they say.
        summary: to be filled by the import.
    """

    lines: BinaryIO
    writing: type[Writing]
    _child: "subprocess.Popen[bytes]"
    _refusal: str
    _hint: str
    summary: ForeignSummary = field(default_factory=ForeignSummary)

    def begin(self) -> None:
        """Wait for the first line.

        Raises:
            InputError: there is none, and why.
        """
        if not cast("io.BufferedReader", self.lines).peek(1):
            report = self._report()
            raise InputError(
                f"{self._refusal}: {report.get('trouble')}",
                hint=str(report.get("hint") or self._hint),
            )

    def finish(self, complain: Callable[[int, str], None]) -> None:
        """Say in the summary what the process told at its end; all lines were read.

        Args:
            complain: told the number of a conversation, or 0, and what is wrong with it.
        """
        report, summary = self._report(), self.summary
        summary.agent = str(report.get("agent") or "")
        summary.first, summary.last = _time(report.get("first")), _time(report.get("last"))
        summary.without_messages = _number(report.get("without"))
        summary.kinds = _numbers(report.get("kinds"))
        summary.homeless = _numbers(report.get("homeless"))
        summary.bad += _number(report.get("bad"))
        for number, words in cast("Sequence[tuple[int, str]]", report.get("told") or ()):
            # The words may name what is there by an id, which may be anything.
            said = redact(str(words)).text
            complain(number, f"conversation {number}: {said}" if number else said)
        if report.get("trouble") is not None:
            summary.cut = f"{report['trouble']}; {report.get('hint') or self._hint}"

    def _report(self) -> Mapping[str, object]:
        """What the process told; it has ended, or ends now."""
        stderr = self._child.stderr
        told = stderr.read(_MOST_REPORT) if stderr is not None else b""
        if len(told) == _MOST_REPORT:
            self._child.kill()  # it would wait for ever for somebody who reads the rest
        self._child.wait()
        try:
            found: object = json.loads(told)
        except ValueError:
            found = None
        if isinstance(found, dict):
            return cast("Mapping[str, object]", found)
        return {"trouble": f"the process that reads it ended ({self._child.returncode})"}


@contextmanager
def translation(file: BinaryIO, name: str) -> Iterator[Translation | None]:
    """Let a file of ChatGPT or Claude.ai, or a JSON export of a memory system, be read.

    None for any other.

    Args:
        file: an open file, at its beginning; where it is taken, nobody else may read it.
        name: its name, for words.
    """
    head = _head(file)
    if _is_document(head):
        with _child(file, json.dumps({"sort": "document"})) as child:
            refusal = f"{name} is neither an export of Cloxy nor of a memory system that is known"
            yield Translation(
                cast("BinaryIO", child.stdout), FollowingWriting, child, refusal, _AGAIN
            )
        return
    if not head.startswith(_EXPORTS):
        yield None
        return
    with _child(file) as child:
        refusal = f"{name} is not an export of Cloxy, ChatGPT or Claude.ai that can be read"
        yield Translation(
            cast("BinaryIO", child.stdout), ForeignWriting, child, refusal, _EXPORT_HINT
        )


@contextmanager
def moving(place: Path, name: str) -> Iterator[Translation]:
    """Let a database or folder of another memory system be read.

    Args:
        place: a SQLite database, or a folder.
        name: its name, for words.
    """
    # Links are followed once, here: who names a file by one means what it leads to.
    wanted = {"path": str(place.resolve()), "sort": "folder" if place.is_dir() else "database"}
    with tempfile.TemporaryDirectory(prefix="cloxy-import-") as temporary:
        wanted["temporary"] = temporary
        with _child(subprocess.DEVNULL, json.dumps(wanted)) as child:
            refusal = f"{name} cannot be imported"
            yield Translation(
                cast("BinaryIO", child.stdout), FollowingWriting, child, refusal, _AGAIN
            )


def is_database(file: BinaryIO) -> bool:
    """Whether a file at its beginning is a SQLite database by its first bytes; it stays there."""
    return _head(file).startswith(_DATABASE)


def is_binary(file: BinaryIO) -> bool:
    """Whether a file at its beginning is no text; it stays there."""
    return b"\0" in _head(file)


@contextmanager
def _child(file: BinaryIO | int, *arguments: str) -> Iterator["subprocess.Popen[bytes]"]:
    """The process that reads, for the block."""
    program = [sys.executable, "-I", str(Path(foreign_main.__file__)), json.dumps(sys.path)]
    with subprocess.Popen(  # noqa: S603 - our own file
        [*program, *arguments],
        stdin=file,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={each: os.environ[each] for each in _ENVIRONMENT if each in os.environ},
        start_new_session=True,
    ) as child:
        try:
            yield child
        finally:
            child.kill()


def _head(file: BinaryIO) -> bytes:
    """The first bytes, without what may stand before a text; the file is at its beginning."""
    if not file.seekable():
        return b""
    head = file.read(_HEAD).removeprefix(_MARK).lstrip()
    file.seek(0)
    # What is handed on is the descriptor, which the buffer may have left elsewhere.
    os.lseek(file.fileno(), 0, os.SEEK_SET)
    return head


def _is_document(head: bytes) -> bool:
    """Whether a file is one JSON object, by its beginning, and not a line of an export of ours.

    Each of our lines is an object of its own that says its kind.
    """
    if not head.startswith(_OBJECT):
        return False
    first, _feed, behind = head.partition(b"\n")
    if len(first) > _HEADER:
        return True
    try:
        line: object = json.loads(first)
    except (ValueError, RecursionError):
        # It goes on in the next line, or it is a damaged one of ours.
        return b'"kind"' not in first
    return isinstance(line, dict) and "kind" not in line and not behind.strip()


class ForeignWriting(Writing):
    """Follows a message that is another one in a later export, in its place."""

    def _runs(
        self,
        connection: Connection,
        batch: CleanBatch,
        entries: Sequence[MessageEntry],
        facts: Mapping[str, SessionFacts],
        projects: Mapping[str, str],
    ) -> Sequence[FileBatch]:
        runs = Writing._runs(self, connection, batch, entries, facts, projects)
        return [replace(run, reread=bool(run.messages)) for run in runs]


class FollowingWriting(ForeignWriting):
    """Likewise notes of another memory system."""

    def _note(self, connection: Connection, note: NoteEntry, taken: Taken) -> None:
        state = standing(connection, note)
        if state == "cut":
            taken.notes.forgotten += 1
        elif state == "changed":
            gone = stored_passages(connection, note)
            now = self.notes.clock.now_ms()
            remove_passages(connection, self.indexing, gone, actor=IMPORTED, now=now)
            self._write(connection, note)
            taken.notes.known += 1
            taken.changed += 1
        elif state == "same" or is_note_stored(connection, note, self.notes.policy.name):
            taken.notes.known += 1
        else:
            self._write(connection, note)
            taken.notes.new += 1

    def _write(self, connection: Connection, note: NoteEntry) -> None:
        parts = len(self.notes.chunker.pack([as_message(note)], None))
        self.notes.apply(connection, marked(note, parts))


def _time(value: object) -> str | None:
    return time_text(value) if isinstance(value, int) else None


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _numbers(value: object) -> Mapping[str, int]:
    found = cast("Mapping[str, object]", value) if isinstance(value, dict) else {}
    return {name: number for name, number in found.items() if isinstance(number, int)}
