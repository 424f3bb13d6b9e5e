"""The sessions of the Gemini CLI as a source of files that are read whole."""

import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace as changed
from pathlib import Path

from cloxy_hookspecs import (
    HostContext,
    LogReader,
    LogTree,
    Parts,
    RawLine,
    Source,
    SourceFailure,
    SourceItem,
)
from cloxy_plugins.gemini_cli import roots
from cloxy_plugins.gemini_cli.projects import Projects
from cloxy_plugins.gemini_cli.prompts import prompts_of
from cloxy_plugins.gemini_cli.replay import replay
from cloxy_plugins.gemini_cli.telling import damage, encode_record, lines_of, unknown

MOST = 128 << 20
"""Bytes that a log may have."""

_DAY = 86_400_000
_NANOSECONDS = 1_000_000


def create_source(context: HostContext) -> Source:
    """Make the source."""
    folder = roots.sessions_folder(os.environ, Path.home())
    return _logs(context, [folder], qwen=False)


def create_old_qwen_source(context: HostContext) -> Source:
    """Make the source of what older versions of Qwen Code wrote, in the form of the Gemini CLI."""
    return _logs(context, roots.old_qwen_folders(os.environ, Path.home()), qwen=True)


def _logs(context: HostContext, folders: Sequence[Path], *, qwen: bool) -> "GeminiLogs":
    trees = [LogTree(folder, roots.is_log, roots.may_hold_logs) for folder in folders]
    return GeminiLogs(context.service(LogReader), trees, context.clock.now_ms, qwen=qwen)


class GeminiLogs:
    """Finds and reads logs; implements `Source` and `FolderSource`.

    One item is one file: a session of the CLI is one or several files, whose messages have the
    same ids everywhere.
    """

    def __init__(
        self,
        reader: LogReader,
        trees: Sequence[LogTree],
        now_ms: Callable[[], int],
        *,
        qwen: bool = False,
    ) -> None:
        """Look below these trees.

        Args:
            reader: finds and opens files.
            trees: their roots are absolute and normalised.
            now_ms: the present in milliseconds.
            qwen: whether it is for logs of Qwen Code, which are the same.
        """
        self._qwen = qwen
        self._reader = reader
        self._trees = tuple(trees)
        self._now_ms = now_ms
        self._projects = Projects(reader)

    def of(self, folder: Path) -> "GeminiLogs":
        """The same kind of source, with this folder as its only root.

        What lies in a folder of Qwen Code is Qwen Code's, all else the Gemini CLI's.
        """
        root = Path(os.path.abspath(folder))  # noqa: PTH100  # no links resolved

        def is_wanted(parts: Parts) -> bool:
            qwen = roots.is_of_qwen((*root.parts, *parts))
            return qwen == self._qwen and roots.is_log_anywhere(parts)

        tree = LogTree(root, is_wanted, roots.may_hold_logs_anywhere)
        return GeminiLogs(self._reader, [tree], self._now_ms, qwen=self._qwen)

    def roots(self) -> Sequence[Path]:
        """Folders that are watched, whether they exist or not."""
        return [tree.root for tree in self._trees]

    def discover(
        self, failures: list[SourceFailure], under: Path | None = None
    ) -> Iterator[SourceItem]:
        """Find logs, of several copies of one the one that is written on.

        A document is turned into lines beside it when its session is gone on with; a folder that
        is named by a digest was copied to one with a readable name. A list of prompts counts as
        changed once more when it is a day old: see `read`.
        """
        copies: dict[Path, Mapping[str, int]] = {}
        for item in self._reader.files(self._trees, failures, under):
            path = Path(item.uri)
            if path.name == roots.PROMPTS:
                old = item.mtime_ns // _NANOSECONDS < self._now_ms() - _DAY
                yield changed(item, size=item.size + old)
                continue
            project = roots.place_of(path).project
            if roots.is_hash(project.name):
                if project.parent not in copies:
                    copies[project.parent] = _copies(project.parent)
                newest = copies[project.parent].get(_key(path, project), -1)
                if newest >= item.mtime_ns:
                    continue
            if path.suffix != ".json" or _written(path.with_suffix(".jsonl")) is None:
                yield item

    def read(self, item: SourceItem, offset: int) -> Iterator[RawLine]:
        """What a log says, as records for the parser; offsets are ordinal numbers.

        Of a list of prompts only sessions are told that have no log of their own. A session of the
        last day is not told yet, since its log may only be about to be written.

        Raises:
            OSError: it cannot be opened or read, or is too large.
        """
        path = Path(item.uri)
        data = self._content(path)
        for number, record in enumerate(self._records(path, data)):
            if number >= offset:
                yield RawLine(number, number + 1, encode_record(record))

    def excerpt(self, item: SourceItem, start: int, end: int) -> bytes:
        """Nothing: a log that changed is read whole."""
        del item, start, end
        return b""

    def _records(self, path: Path, data: bytes) -> Iterator[dict[str, object]]:
        place = roots.place_of(path)
        if path.name == roots.PROMPTS:
            found = prompts_of(data, self._recorded(), self._now_ms() - _DAY)
        else:
            found = replay(data, lines=path.suffix == ".jsonl")
        for conversation in found.conversations:
            head = conversation.head
            cwd = self._projects.root_of(
                place.project, head.get("projectHash"), head.get("directories")
            )
            yield from lines_of(conversation, place, cwd)
        for reason in found.damage:
            yield damage(reason)
        for kind, count in found.unknown.items():
            yield unknown(kind, count)

    def _recorded(self) -> frozenset[str]:
        """First characters of the ids of sessions that have a log."""
        files = self._reader.files(self._trees, [])
        names = (roots.place_of(Path(item.uri)) for item in files)
        return frozenset(roots.short_id(place.name) for place in names if place.parent is None)

    def _content(self, path: Path) -> bytes:
        root = next((root for root in self.roots() if path.is_relative_to(root)), None)
        if root is None:
            raise FileNotFoundError(2, "not inside a watched folder", str(path))
        return self._reader.content(root, path, MOST)


def _copies(tmp: Path) -> Mapping[str, int]:
    """When logs in folders with a readable name were last written, by their places there."""
    found: dict[str, int] = {}
    try:
        projects = [each for each in tmp.iterdir() if not roots.is_hash(each.name)]
    except OSError:
        return found
    for project in projects:
        for path in (*project.glob("chats/session-*.json*"), *project.glob("chats/*/*.jsonl")):
            written = _written(path)
            if written is not None:
                key = _key(path, project)
                found[key] = max(found.get(key, 0), written)
    return found


def _key(path: Path, project: Path) -> str:
    """Place of a log in its project's folder, without its ending."""
    return path.relative_to(project).with_suffix("").as_posix()


def _written(path: Path) -> int | None:
    """When a plain file was written, nanoseconds; None when there is none."""
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_mtime_ns if stat.S_ISREG(found.st_mode) else None
