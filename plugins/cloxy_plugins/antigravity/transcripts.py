"""Transcripts as a source: one item for each conversation."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from cloxy_hookspecs import HostContext, LogReader, Source, SourceItem
from cloxy_hookspecs.logs.documents import MOST, Document, DocumentKind, Documents
from cloxy_hookspecs.logs.json_values import Record
from cloxy_hookspecs.logs.turns import session
from cloxy_plugins.antigravity.people import People
from cloxy_plugins.antigravity.places import (
    BRAIN,
    CUT,
    FULL,
    conversation_of,
    home_of,
    homes,
    transcripts_below,
)
from cloxy_plugins.antigravity.steps import TYPED, Step, merged, messages_of, steps_in
from cloxy_plugins.antigravity.words import put_behind


def create_transcripts(context: HostContext) -> Source:
    """Make the source."""
    folders = [folder / BRAIN for folder in homes(Path.home())]
    return transcripts_in(context.service(LogReader), folders)


def transcripts_in(reader: LogReader, folders: Sequence[Path]) -> Documents:
    """The source of transcripts below folders.

    Args:
        reader: finds and opens.
        folders: folders with a folder for each conversation.
    """
    kind = DocumentKind(
        tree=transcripts_below,
        records=Transcripts(reader).records,
        beside=lambda path: [_other(path)],
        chosen=_chosen,
    )
    return Documents(reader, lambda: folders, kind)


class Transcripts:
    """Makes records of transcripts."""

    def __init__(self, reader: LogReader) -> None:
        """Nothing is read.

        Args:
            reader: opens files, and knows folders of projects.
        """
        self._reader = reader
        self._people = People(reader)

    def records(self, document: Document) -> Iterator[Record]:
        """Records of turns of a transcript, and of the other one of the conversation."""
        path = document.path
        found = steps_in(document.data)
        yield from found.problems
        other = self._steps(document.root, _other(path))
        # Of a step that both have, the one with everything counts.
        stores = (other, found.steps) if path.name == FULL else (found.steps, other)
        yield from conversation_records(
            conversation_of(path), merged(*stores), self._people, home_of(path)
        )

    def _steps(self, root: Path, path: Path) -> Sequence[Step]:
        try:
            return steps_in(self._reader.content(root, path, MOST)).steps
        except OSError:
            # Most conversations have one transcript.
            return ()


def conversation_records(
    key: str, steps: Sequence[Step], people: People, home: Path
) -> Iterator[Record]:
    """Records of turns of a conversation: its facts, then its messages.

    Args:
        key: its id.
        steps: its steps in order.
        people: knows where it was held, and who started it.
        home: folder of Antigravity.
    """
    started = people.started(home).get(key)
    behind = "\n".join(put_behind(each.content) for each in steps if each.kind == TYPED)
    cwd = people.folder_of(home, key, started, behind)
    messages = list(messages_of(key, steps, cwd=cwd, subagent=started is not None))
    if messages:
        parent = started.parent if started is not None else None
        yield session(key, cwd=cwd, parent=parent, relation="subagent" if parent else None)
    yield from messages


def _other(path: Path) -> Path:
    return path.with_name(CUT if path.name == FULL else FULL)


def _chosen(items: Sequence[SourceItem]) -> Iterable[SourceItem]:
    """One transcript of each conversation, in whose name the other one is read too.

    It is the cut one if there is one: it was there first, and only what is read again under one
    name is revised.
    """
    found: dict[Path, SourceItem] = {}
    for item in items:
        path = Path(item.uri)
        if path.name == CUT or path.parent not in found:
            found[path.parent] = item
    return found.values()
