"""The chats of Kiro, the editor, as a source: files that are read whole.

An older version wrote a file for each run of the agent, with what was said so far; a newer one
writes a file for each session, and a list of sessions beside it. There answers are often no more
than "On it."; their words are in logs of runs, which are read with the session that names them.
"""

import hashlib
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from cloxy_hookspecs import (
    HostContext,
    LogReader,
    RawLine,
    Source,
    SourceFailure,
    SourceItem,
)
from cloxy_hookspecs.logs.documents import Document, DocumentKind, Documents
from cloxy_hookspecs.logs.folders import root_of
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
from cloxy_hookspecs.logs.titles import LISTED
from cloxy_hookspecs.logs.turns import MadeUids, damaged, message, session, unknown
from cloxy_hookspecs.types.ingest import Author, Role
from cloxy_plugins.kiro.answers import Answers
from cloxy_plugins.kiro.cards import title_in
from cloxy_plugins.kiro.places import (
    CHAT,
    LIST,
    WORKSPACES,
    chat_folders,
    chats_below,
    decoded_folder,
    is_place,
)
from cloxy_plugins.kiro.runs import RunLogs, run_of, store_of
from cloxy_plugins.kiro.words import model_in, said_in_editor, typed_in_editor, words_in

_LIST_MOST = 16 << 20
_FOLDERS = 2_000
_DIGEST = 32
_ROLES: dict[object, Role] = {
    "human": "user",
    "user": "user",
    "bot": "assistant",
    "assistant": "assistant",
}
_SILENT = ("tool", "system")
_KIND_LIMIT = 40


def create_chats(context: HostContext) -> Source:
    """Make the source."""
    folders = chat_folders(os.environ, Path.home(), sys.platform)
    return chats_in(context.service(LogReader), folders)


def chats_in(reader: LogReader, folders: Sequence[Path]) -> "EditorChats":
    """The source of chats below folders.

    Args:
        reader: finds and opens.
        folders: folders of the editor's agent.
    """
    runs = RunLogs(reader)
    kind = DocumentKind(tree=chats_below, records=Chats(reader, runs).records, beside=runs.beside)
    return EditorChats(Documents(reader, lambda: folders, kind), runs)


class EditorChats:
    """The chats, each read again when a log of its runs changed; implements `FolderSource`."""

    def __init__(self, documents: Documents, runs: RunLogs) -> None:
        """Nothing is read.

        Args:
            documents: the chats.
            runs: the logs of runs.
        """
        self._documents = documents
        self._runs = runs

    def of(self, folder: Path) -> "EditorChats":
        """The same kind of source for another folder."""
        return EditorChats(self._documents.of(folder), self._runs)

    def roots(self) -> Sequence[Path]:
        """As `Documents.roots`."""
        return self._documents.roots()

    def discover(
        self, failures: list[SourceFailure], under: Path | None = None
    ) -> Iterator[SourceItem]:
        """As `Source.discover`; for a log of a run, the sessions that name it."""
        self._runs.look()
        met: set[str] = set()
        for item in self._documents.discover(failures, under):
            met.add(item.uri)
            yield item
        store = None if under is None else self._store_around(under)
        if under is None or store is None:
            return
        for item in self._documents.discover([], store / WORKSPACES):
            named = self._runs.beside(Path(item.uri)) if item.uri not in met else ()
            if any(path.is_relative_to(under) for path in named):
                yield item

    def read(self, item: SourceItem, offset: int) -> Iterator[RawLine]:
        """As `Documents.read`."""
        return self._documents.read(item, offset)

    def excerpt(self, item: SourceItem, start: int, end: int) -> bytes:
        """As `Documents.excerpt`."""
        return self._documents.excerpt(item, start, end)

    def _store_around(self, place: Path) -> Path | None:
        """The folder of the editor's agent, for a place that logs of runs may lie in."""
        root = root_of(self.roots(), place)
        if root is None:
            return None
        inside = [each for each in (place, *place.parents) if each.is_relative_to(root)]
        around = [each for each in inside if is_place(each.name)]
        return around[-1].parent if around and around[-1] != root else None


class Chats:
    """Makes records of chats."""

    def __init__(self, reader: LogReader, runs: RunLogs) -> None:
        """Nothing is read.

        Args:
            reader: opens files, and knows folders of projects.
            runs: finds the logs of runs.
        """
        self._reader = reader
        self._runs = runs

    def records(self, document: Document) -> Iterator[Record]:
        """Records of turns of a chat."""
        if not document.data.strip():
            return
        try:
            chat = decode(document.data)
        except ValueError:
            yield damaged("a chat is not JSON")
            return
        if not is_record(chat):
            yield damaged("a chat is no record")
            return
        name = "chat" if document.path.name.endswith(CHAT) else "history"
        turns = chat.get(name)
        if not isinstance(turns, list):
            yield damaged(f"a chat has no {name}")
        elif name == "chat":
            yield from self._run(document, chat, list_of(turns))
        else:
            yield from self._session(document, chat, list_of(turns))

    def _run(self, document: Document, chat: Record, turns: Sequence[object]) -> Iterator[Record]:
        """A run of the agent; several of one workflow are one session, which they tell again."""
        facts = record_of(chat.get("metadata"))
        key = id_of(facts, "workflowId") or id_of(chat, "executionId") or document.path.stem
        times: dict[Role, object] = {
            "user": facts.get("startTime"),
            "assistant": facts.get("endTime") or facts.get("startTime"),
        }
        model = model_in(facts, "modelId")
        said = list(_said(key, [record_of(each) for each in turns], times, model))
        cwd = self._folder_of(document.path.parent)
        yield from _with_facts(session(key, cwd=cwd), said)

    def _session(
        self, document: Document, chat: Record, turns: Sequence[object]
    ) -> Iterator[Record]:
        path = document.path
        key = path.stem
        listed = self._listed(document.root, path.parent).get(key, {})
        title = title_in(chat) or title_in(listed)
        cwd = (
            text_of(chat, "workspaceDirectory")
            or text_of(chat, "workspacePath")
            or text_of(listed, "workspaceDirectory")
            or decoded_folder(path.parent.name)
        )
        entries = [record_of(each) for each in turns]
        messages = [record_of(each.get("message")) for each in entries]
        near = listed.get("dateCreated")
        said = list(_said(key, messages, {}, None, near, self._answers(document, chat, entries)))
        if cut_off := sum(has_nearly(entry, "executionId") for entry in entries):
            said.append(unknown("answer without its run", cut_off))
        facts = session(key, cwd=cwd, title=title, rank=LISTED if title else 0)
        yield from _with_facts(facts, said)

    def _answers(
        self, document: Document, chat: Record, entries: Sequence[Record]
    ) -> Answers | None:
        """The answers of a session whose words are in logs of runs."""
        path = document.path
        store, named = store_of(path), [run_of(entry) for entry in entries]
        if store is None or not store.is_relative_to(document.root) or not any(named):
            return None
        return Answers(path.stem, self._runs, self._runs.named_in(store, path, chat), named)

    def _listed(self, root: Path, folder: Path) -> dict[str, Record]:
        """What the list of a workspace says of its sessions."""
        try:
            entries = decode(self._reader.content(root, folder / LIST, _LIST_MOST))
        except (OSError, ValueError):
            # Without a list, or with a damaged one, the sessions speak for themselves.
            return {}
        found = [record_of(each) for each in list_of(entries)]
        return {key: each for each in found if (key := id_of(each, "sessionId")) is not None}

    def _folder_of(self, place: Path) -> str | None:
        """The folder of whose path a name is the digest."""
        for folder in (*self._workspaces(place.parent), *map(str, self._reader.known_folders())):
            digest = hashlib.sha256(folder.encode("utf-8", "surrogatepass")).hexdigest()
            if digest[:_DIGEST] == place.name:
                return folder
        return None

    def _workspaces(self, store: Path) -> Iterator[str]:
        """Folders that lists of newer sessions name."""
        root = store / WORKSPACES
        try:
            names = sorted(os.listdir(root))[:_FOLDERS]  # noqa: PTH208
        except OSError:
            return
        for name in names:
            for each in self._listed(store, root / name).values():
                if folder := text_of(each, "workspaceDirectory"):
                    yield folder
                    break


def _said(
    key: str,
    turns: Sequence[Record],
    times: dict[Role, object],
    model: str | None,
    near: object = None,
    answers: Answers | None = None,
) -> Iterator[Record]:
    """Records of messages, and of what is not known.

    Args:
        key: key of the session.
        turns: with `role` and `content`, and perhaps an `id`.
        times: times near the messages, by role.
        model: model that answered.
        near: a time near all of them.
        answers: what runs said in place of a turn.
    """
    made = MadeUids()
    for number, turn in enumerate(turns):
        role = _ROLES.get(turn.get("role")) if isinstance(turn.get("role"), str) else None
        if role is None:
            if turn.get("role") not in _SILENT:
                yield unknown(f"role {turn.get('role')}"[:_KIND_LIMIT])
            continue
        words = words_in(turn.get("content"))
        for name, count in words.strange.items():
            yield unknown(name, count)
        if turn.get("content") is None:
            yield unknown("message without content")
        text = typed_in_editor(words.text) if role == "user" else said_in_editor(words.text)
        uid = id_of(turn, "id") or made.of(key, role, text)
        if answers is not None:
            yield from answers.words_of(number, text, near)
            if answers.are_told(number, text):
                continue
        if not words_of({"text": text}, "text"):
            continue
        author: Author = "human" if role == "user" else "assistant"
        own = (model or words.model) if role == "assistant" else None
        at = times.get(role)
        yield message(key, uid, role, author, text, at=at, near=near, approximate=True, model=own)
    if answers is not None:
        yield from answers.problems()


def _with_facts(facts: Record, said: Sequence[Record]) -> Iterator[Record]:
    """Messages behind the facts of their session; without a word it is none."""
    if any(record["kind"] == "message" for record in said):
        yield facts
    yield from said
