"""`cloxy sources try`: what would be kept of a log, and why the rest would not."""

import os
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime

from cloxy_core.cli import output
from cloxy_core.cli.opening import plugins_of
from cloxy_core.cli.sessions_text import INDENT, message_lines
from cloxy_core.core_settings import data_directory, load_settings
from cloxy_core.runtime.paths import DataDirectory
from cloxy_core.runtime.wording import counted
from cloxy_core.services.ingest.trying import Trial, TriedLine, Trying, absolute
from cloxy_hookspecs import InputError, Message

_REASONS = 30


def run(file: str, agent: str | None, lines: int, *, as_json: bool) -> int:
    """Print what would be kept of a file.

    Args:
        file: the file.
        agent: agent or source; None for the one that fits best.
        lines: how many are shown one by one.
        as_json: whether to print JSON.

    Returns:
        1 when nothing would be kept.

    Raises:
        CloxyError: there is no such file or agent, or it cannot be read.
    """
    settings = load_settings(os.environ)
    paths = DataDirectory(data_directory(settings).absolute())
    trial = Trying(plugins_of(settings), paths).trial(absolute(file), agent)
    told = _Telling(trial, lines, quiet=as_json)
    try:
        for line in trial.lines():
            told.take(line)
    except OSError as error:
        raise InputError(f"{trial.file} cannot be read: {error.strerror or error}") from error
    if as_json:
        output.print_json(told.as_json())
    else:
        for text in told.end():
            output.print_line(text)
    return 0 if told.messages else 1


class _Telling:
    """Prints the first lines as they come, and counts all of them."""

    def __init__(self, trial: Trial, most: int, *, quiet: bool) -> None:
        self._trial = trial
        self._most = most
        self._quiet = quiet
        self.messages = 0
        self._lines = 0
        self._sessions: dict[str, None] = {}
        self._ids: Counter[tuple[str, str]] = Counter()
        self._reasons: Counter[str] = Counter()
        self._shown: list[dict[str, object]] = []
        if not quiet:
            name = f"{trial.record.title or trial.record.name} ({trial.record.name})"
            output.print_line(output.bold(output.escape(f"{trial.file}, read as {name}")))

    def take(self, line: TriedLine) -> None:
        """Take a line."""
        self._lines += 1
        self.messages += len(line.messages)
        for message in line.messages:
            self._sessions[message.session] = None
            self._ids[message.session, message.uid] += 1
        if line.reason:
            self._reasons[line.reason] += 1
        if self._lines > self._most:
            return
        messages = [_as_json(message) for message in line.messages]
        self._shown.append({"line": line.number, "messages": messages, "reason": line.reason})
        if self._quiet:
            return
        for told in messages:
            for text in message_lines({**told, "number": line.number}):
                output.print_line(text)
        if line.reason:
            output.print_line(f"{line.number}. passed over: {output.escape(line.reason)}")

    def end(self) -> Iterator[str]:
        """What is told of the whole file."""
        yield ""
        yield (
            f"{counted(self.messages, 'message')} in {counted(len(self._sessions), 'session')}"
            f" would be kept, of {counted(self._lines, 'line')}."
        )
        for reason, number in self._reasons.most_common(_REASONS):
            yield f"{INDENT}{number:,} passed over: {output.escape(reason)}"
        if self._twice:
            words = counted(self._twice, "message has", "messages have")
            yield f"{INDENT}{words} the id of another one, not kept:"
            yield f"{INDENT}  an id has to be that of the message, not of a session or a turn"
        if not self._trial.watched:
            name = output.escape(self._trial.record.name)
            yield f"{INDENT}This file is not where {name} looks, so a server would not read it."

    def as_json(self) -> dict[str, object]:
        """The same for programs."""
        return {
            "file": str(self._trial.file),
            "source": self._trial.record.name,
            "watched": self._trial.watched,
            "lines": self._lines,
            "messages": self.messages,
            "sessions": list(self._sessions),
            "same_id": self._twice,
            "passed_over": dict(self._reasons.most_common(_REASONS)),
            "shown": self._shown,
        }

    @property
    def _twice(self) -> int:
        return sum(number - 1 for number in self._ids.values())


def _as_json(message: Message) -> dict[str, object]:
    return {
        "session": message.session,
        "id": message.uid,
        "role": message.role,
        "author": message.author,
        "text": message.text,
        "at": None if message.at is None else _instant(message.at),
        "approximate": message.approximate,
        "cwd": message.cwd,
        "branch": message.branch,
        "model": message.model,
    }


def _instant(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds")
