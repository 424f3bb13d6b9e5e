"""The files in which versions before 1.2 kept sessions: one for each message and each part."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePath

from cloxy_hookspecs import LogReader, LogTree, Parts, SourceFailure, SourceItem
from cloxy_plugins.opencode.copies import NEAR, age_of_id, drop_copies, moment_of, slots_around
from cloxy_plugins.opencode.records import Said, Talk, said_in, take_part
from cloxy_plugins.opencode.titles import is_placeholder
from cloxy_plugins.opencode.values import LARGEST, decode, id_in, text_in, usable_id
from cloxy_plugins.opencode.versions import Version

_SESSION, _MESSAGE, _PART = "session", "message", "part"
_SUFFIX = ".json"
_NANOSECONDS = 1_000_000


@dataclass(slots=True)
class Filed:
    """The files of one session.

    Attributes:
        path: of the session's own file.
        messages: files of its messages, by id.
        parts: files of the parts of each message.
        items: all of them.
    """

    path: Path
    messages: dict[str, Path] = field(default_factory=dict[str, Path])
    parts: dict[str, list[Path]] = field(default_factory=dict[str, list[Path]])
    items: list[SourceItem] = field(default_factory=list[SourceItem])

    @property
    def version(self) -> Version:
        """What shows that it changed."""
        times = [item.mtime_ns for item in self.items]
        latest = max(times, default=0) // _NANOSECONDS
        return Version(sum(item.size for item in self.items), (latest, sum(times) % _NANOSECONDS))


class Tree:
    """Finds and reads sessions below `storage`."""

    def __init__(self, reader: LogReader, root: Path) -> None:
        """Nothing is read.

        Args:
            reader: opens files as logs are opened.
            root: the folder `storage`.
        """
        self._reader = reader
        self.root = root

    def sessions(
        self, failures: list[SourceFailure], under: Path | None = None
    ) -> Mapping[str, Filed]:
        """Sessions by id, with their files.

        Args:
            failures: gets what could not be looked at.
            under: only the session that this file or folder belongs to, or all.
        """
        only = None if under is None else self._owner(under)
        if only is None:
            return self._filed(self._files(failures, self.root))
        places = [self.root / _SESSION, self.root / _MESSAGE / only]
        found = [item for place in places for item in self._files(failures, place)]
        for item in list(found):
            path = PurePath(item.uri)
            if path.parent.name == only:
                found += self._files(failures, self.root / _PART / path.stem)
        filed = self._filed(found)
        return {only: filed[only]} if only in filed else {}

    def talk(self, path: Path) -> Talk:
        """What was said in a session.

        Args:
            path: its own file.

        Raises:
            OSError: it cannot be read.
        """
        key = path.stem
        head = decode(self._reader.content(self.root, path, LARGEST))
        talk = Talk(key)
        if head is None:
            talk.damaged.append("session")
        else:
            title = text_in(head, "title")
            talk.parent = id_in(head, "parentID") or ""
            talk.relation = "subagent" if talk.parent else ""
            talk.directory = text_in(head, "directory")
            talk.title = "" if is_placeholder(title) else title
        files = self.sessions([], path).get(key)
        if files is not None:
            found = [self._said(talk, uid, files) for uid in sorted(files.messages)]
            talk.said = sorted(
                (said for said in found if said is not None), key=lambda said: said.created
            )
            self._drop_copies(talk)
        return talk

    def _said(self, talk: Talk, uid: str, files: Filed) -> Said | None:
        message = self._decoded(files.messages[uid])
        if message is None:
            talk.damaged.append("message")
            return None
        said = said_in(uid, message)
        for path in sorted(files.parts.get(uid, [])):
            take_part(said, self._decoded(path))
        return said

    def _decoded(self, path: Path) -> Mapping[str, object] | None:
        """The object in a file; None when it is damaged, too large or just being replaced."""
        try:
            return decode(self._reader.content(self.root, path, LARGEST))
        except OSError:
            return None

    def _files(self, failures: list[SourceFailure], place: Path) -> list[SourceItem]:
        tree = LogTree(self.root, _is_wanted, _may_hold_sessions)
        return list(self._reader.files([tree], failures, place))

    def _filed(self, items: Iterable[SourceItem]) -> Mapping[str, Filed]:
        """Files by session."""
        found: dict[str, Filed] = {}
        owners: dict[str, Filed] = {}
        sorted_items = sorted(items, key=lambda item: _RANKS[self._kind(item)])
        for item in sorted_items:
            path = Path(item.uri)
            name, folder, kind = path.stem, path.parent.name, self._kind(item)
            if kind == _SESSION:
                filed = found.setdefault(name, Filed(path))
            elif kind == _MESSAGE and folder in found:
                filed = owners[name] = found[folder]
                filed.messages[name] = path
            elif kind == _PART and folder in owners:
                filed = owners[folder]
                filed.parts.setdefault(folder, []).append(path)
            else:
                continue
            filed.items.append(item)
        return found

    def _kind(self, item: SourceItem) -> str:
        return PurePath(item.uri).relative_to(self.root).parts[0]

    def _owner(self, under: Path) -> str | None:
        """The session that a place below the tree belongs to; None when it holds several."""
        if not under.is_relative_to(self.root):
            return None
        parts = under.relative_to(self.root).parts
        if len(parts) == 3 and parts[0] == _SESSION:
            return usable_id(under.stem)
        if len(parts) >= 2 and parts[0] == _MESSAGE:
            return usable_id(parts[1])
        if len(parts) >= 2 and parts[0] == _PART:
            for item in self._files([], self.root / _MESSAGE):
                if PurePath(item.uri).stem == parts[1]:
                    return usable_id(PurePath(item.uri).parent.name)
            # Its message is yet to come, and will tell.
            return "-"
        return None

    def _drop_copies(self, talk: Talk) -> None:
        """Leave out what a fork took over; originals are found by the time in their names."""
        suspects = [said for said in talk.said if age_of_id(said.id, said.created) > NEAR]
        if not suspects:
            return
        slots = slots_around(said.created for said in suspects)
        paths: dict[str, Path] = {}
        originals: dict[str, str] = {}
        for item in self._files([], self.root / _MESSAGE):
            path = Path(item.uri)
            made = moment_of(path.stem)
            if made is not None and made // NEAR in slots and path.parent.name != talk.id:
                paths[path.stem] = path
                originals[path.stem] = path.parent.name
        drop_copies(talk, originals, partial(self._read, paths))

    def _read(self, paths: Mapping[str, Path], ids: Iterable[str]) -> Iterator[Said]:
        for uid in ids:
            files = Filed(paths[uid], messages={uid: paths[uid]})
            found = self._files([], self.root / _PART / uid)
            files.parts[uid] = [Path(item.uri) for item in found]
            said = self._said(Talk(""), uid, files)
            if said is not None:
                yield said


_RANKS = {_SESSION: 0, _MESSAGE: 1, _PART: 2}


def _is_wanted(parts: Parts) -> bool:
    name = parts[-1]
    return (
        len(parts) == 3
        and parts[0] in _RANKS
        and name.endswith(_SUFFIX)
        and usable_id(name.removesuffix(_SUFFIX)) is not None
    )


def _may_hold_sessions(parts: Parts) -> bool:
    return parts[0] in _RANKS and not parts[-1].startswith(".") and len(parts) <= 2
