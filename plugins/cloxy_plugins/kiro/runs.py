"""The logs of runs of the editor's agent: what it said while a session has only "On it.".

`<digest of a folder>/<name>/<run>`, files without an ending, each the JSON of one run: its
`executionId`, and its `actions` in order. An answer in a session names its run; the log need not
have the run's name, so which run it is of is read once for each version of it.
"""

import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cloxy_hookspecs import LogReader
from cloxy_hookspecs.logs.json_values import (
    Record,
    decode,
    has_nearly,
    id_of,
    is_record,
    list_of,
    record_of,
    text_of,
    words_of,
)
from cloxy_plugins.kiro.places import WORKSPACES, decoded_folder, is_place
from cloxy_plugins.kiro.words import said_in_run

MOST = 64 << 20
"""Bytes of the largest log of a run, and of the largest session, that is looked into."""

_PLACES = 200
_LOGS = 5_000
_KNOWN = 50_000
_GENERATIONS = 4
_DIGEST = 32

Version = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Pointers:
    """What a session says of its runs: their ids, and the folder that it was in."""

    runs: Sequence[str] = ()
    cwd: str | None = None


@dataclass(frozen=True, slots=True)
class _Facts:
    """What is known of a log: the run it is of, and the runs that it started; or why nothing."""

    run: str | None = None
    children: Sequence[str] = ()
    strange: int = 0
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Said:
    """One thing that a run said.

    Attributes:
        run: id of the run.
        number: how many it said before.
        text: the words.
    """

    run: str
    number: int
    text: str


@dataclass(slots=True)
class Runs:
    """The logs that belong to a session, or lie in places.

    Attributes:
        store: folder of the editor's agent.
        logs: by the id of the run.
        problems: why a log, whose name says of which run it is, cannot be read.
        unreadable: how many logs there are of which nobody can tell what they are of.
        lost: how many runs were started by these of which there is no log.
        strange: how many actions of them are not of the form that is known.
        is_cut: whether there are more logs than are looked at.
    """

    store: Path
    logs: dict[str, Path] = field(default_factory=dict[str, Path])
    problems: dict[str, str] = field(default_factory=dict[str, str])
    unreadable: int = 0
    lost: int = 0
    strange: int = 0
    is_cut: bool = False


class RunLogs:
    """Finds the logs of runs that sessions name; only what changed is read again."""

    def __init__(self, reader: LogReader) -> None:
        """Nothing is read.

        Args:
            reader: opens files.
        """
        self._reader = reader
        self._listed: dict[Path, Sequence[Path]] = {}
        self._indexes: dict[tuple[Path, ...], Runs] = {}
        self._facts: dict[Path, tuple[Version, _Facts]] = {}
        self._pointers: dict[Path, tuple[Version, _Pointers]] = {}

    def look(self) -> None:
        """Which logs there are is looked at anew; what was read of them stays known."""
        self._listed.clear()
        self._indexes.clear()
        for known in (self._facts, self._pointers):
            if len(known) > _KNOWN:
                known.clear()

    def beside(self, session: Path) -> Sequence[Path]:
        """The logs that a session depends on; none for a chat of the older form."""
        store = store_of(session)
        if store is None or not self._places(store):
            return ()
        return sorted(self.of(store, session, self._pointers_of(store, session)).logs.values())

    def named_in(self, store: Path, session: Path, chat: Record) -> Runs:
        """The logs that a session names.

        Args:
            store: folder of the editor's agent.
            session: path of the session.
            chat: what it says.
        """
        return self.of(store, session, pointers_in(chat))

    def of(self, store: Path, session: Path, pointers: _Pointers) -> Runs:
        """The logs of the runs that are named, and of those that they started."""
        if not pointers.runs:
            return Runs(store)
        index = self._index_of(store, self._places_for(store, session, pointers))
        found = Runs(store, {}, index.problems, index.unreadable, is_cut=index.is_cut)
        wanted = list(pointers.runs)
        for _ in range(_GENERATIONS):
            there = {run: index.logs[run] for run in wanted if run in index.logs}
            there = {run: path for run, path in there.items() if run not in found.logs}
            found.logs |= there
            facts = [self._facts[path][1] for path in there.values()]
            found.strange += sum(each.strange for each in facts)
            wanted = [run for each in facts for run in each.children]
            found.lost += sum(run not in index.logs for run in wanted)
        return found

    def said(self, runs: Runs, run: str) -> Sequence[Said] | None:
        """What a run said, and the runs that it started, in order; None when nobody can tell.

        Args:
            runs: the logs of the session.
            run: its id.
        """
        if run not in runs.logs:
            return None
        try:
            return list(self._said(runs, run, {run}, _GENERATIONS))
        except (OSError, ValueError):
            # It was changed since it was looked at; then it is another version, to be read again.
            return None

    def _said(self, runs: Runs, run: str, met: set[str], below: int) -> Iterator[Said]:
        texts: list[str] = []
        for action in actions_in(record_of(decode(self._content(runs.store, runs.logs[run])))):
            child = child_in(action, run)
            if child is not None:
                yield from _numbered(run, texts)
                texts = [""] * len(texts)
                if child in runs.logs and child not in met and below > 1:
                    met.add(child)
                    yield from self._said(runs, child, met, below - 1)
            elif (text := said_by(action, run)) is not None:
                # What was written down while it was being said is said once.
                if texts and texts[-1] and text.startswith(texts[-1]):
                    texts[-1] = text
                else:
                    texts.append(text)
        yield from _numbered(run, texts)

    def _pointers_of(self, store: Path, session: Path) -> _Pointers:
        """What a session says, read when it changed."""
        version = _version(session)
        if version is None or version[0] > MOST:
            return _Pointers()
        known = self._pointers.get(session)
        if known is None or known[0] != version:
            try:
                chat = record_of(decode(self._content(store, session)))
            except (OSError, ValueError):
                return _Pointers()
            known = self._pointers[session] = version, pointers_in(chat)
        return known[1]

    def _places_for(self, store: Path, session: Path, pointers: _Pointers) -> Sequence[Path]:
        """The places of the session's folder; where it has none, all."""
        places = self._places(store)
        folders = {pointers.cwd, decoded_folder(session.parent.name)} - {None}
        own = {name for folder in folders for name in _digests(str(folder))}
        return [place for place in places if place.name in own] or places

    def _index_of(self, store: Path, places: Sequence[Path]) -> Runs:
        """All logs in places; of several of one run, the newest."""
        known = self._indexes.get(tuple(places))
        if known is not None:
            return known
        logs = {path: version for place in places for path, version in _logs_in(place)}
        order = sorted(logs, key=lambda path: (logs[path][1], path))
        index = Runs(store, is_cut=len(order) > _LOGS)
        for path in order[-_LOGS:]:
            facts = self._facts_of(store, path, logs[path])
            if facts.run is not None:
                index.logs[facts.run] = path
            elif facts.problem is not None:
                index.unreadable += 1
                index.problems[path.name] = facts.problem
        self._indexes[tuple(places)] = index
        return index

    def _places(self, store: Path) -> Sequence[Path]:
        if store not in self._listed:
            found = (entry for entry in _entries(store) if is_place(entry.name))
            places = sorted(Path(each.path) for each in found if each.is_dir(follow_symlinks=False))
            self._listed[store] = places[:_PLACES]
        return self._listed[store]

    def _facts_of(self, store: Path, path: Path, version: Version) -> _Facts:
        known = self._facts.get(path)
        if known is None or known[0] != version:
            known = self._facts[path] = version, self._read(store, path, version)
        return known[1]

    def _read(self, store: Path, path: Path, version: Version) -> _Facts:
        if version[0] > MOST:
            return _Facts(problem=f"a log of a run is larger than {MOST >> 20} MB")
        try:
            log = decode(self._content(store, path))
        except OSError:
            return _Facts(problem="a log of a run cannot be read")
        except ValueError:
            return _Facts(problem="a log of a run is not JSON")
        if not is_record(log):
            return _Facts(problem="a log of a run is no record")
        run = id_of(log, "executionId")
        if run is None:
            # Other files lie there as well; one with the name of a run is no log without it.
            return _Facts(problem="a log of a run names none" if "actions" in log else None)
        if not isinstance(log.get("actions"), list):
            return _Facts(problem="a log of a run has no actions")
        actions = actions_in(log)
        children = [child for action in actions if (child := child_in(action, run)) is not None]
        return _Facts(run, children, sum(map(_is_strange, actions)))

    def _content(self, store: Path, path: Path) -> bytes:
        return self._reader.content(store, path, MOST)


def store_of(session: Path) -> Path | None:
    """The folder of the editor's agent that a session lies in; None for what is no session."""
    folders = session.parents
    return folders[2] if len(folders) > 2 and folders[1].name == WORKSPACES else None


def pointers_in(chat: Record) -> _Pointers:
    """What a session says of its runs."""
    runs = (run_of(record_of(each)) for each in list_of(chat.get("history")))
    cwd = text_of(chat, "workspaceDirectory") or text_of(chat, "workspacePath")
    return _Pointers(list(dict.fromkeys(run for run in runs if run is not None)), cwd)


def run_of(turn: Record) -> str | None:
    """The run that an answer in a session was made by."""
    role = record_of(turn.get("message")).get("role")
    return id_of(turn, "executionId") if role in ("assistant", "bot") else None


def actions_in(log: Record) -> Sequence[Record]:
    """The actions of a run."""
    return [record_of(each) for each in list_of(log.get("actions"))]


def child_in(action: Record, run: str) -> str | None:
    """The run that an action started."""
    child = id_of(record_of(action.get("output")), "executionId")
    return child if child != run and action.get("actionType") != "say" else None


def said_by(action: Record, run: str) -> str | None:
    """The words of an action; one that names another run is of that one."""
    if action.get("actionType") != "say" or action.get("executionId") not in (None, run):
        return None
    return said_in_run(words_of(record_of(action.get("output")), "message")) or None


def _is_strange(action: Record) -> bool:
    """Whether nobody can tell if an action says something, or what."""
    if action.get("actionType") != "say":
        return not isinstance(action.get("actionType"), str)
    output = action.get("output")
    if has_nearly(action, "output"):
        return True
    return bool(output) and not isinstance(record_of(output).get("message"), str)


def _numbered(run: str, texts: Sequence[str]) -> Iterator[Said]:
    return (Said(run, number, text) for number, text in enumerate(texts) if text)


def _digests(folder: str) -> Iterator[str]:
    """Names of places for a folder; on Windows its path is written in one way before."""
    for path in (folder, folder.replace("/", "\\").lower()):
        yield hashlib.sha256(path.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]


def _logs_in(place: Path) -> Iterator[tuple[Path, Version]]:
    for folder in _entries(place):
        if folder.name.startswith(".") or not folder.is_dir(follow_symlinks=False):
            continue
        for entry in _entries(Path(folder.path)):
            path = Path(entry.path)
            version = None if "." in entry.name else _version(path)
            if version is not None:
                yield path, version


def _entries(folder: Path) -> Sequence[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return ()


def _version(path: Path) -> Version | None:
    """Size and modification time of a regular file; None for anything else."""
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return (status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None
