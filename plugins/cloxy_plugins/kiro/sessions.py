"""The session logs of Kiro as a source: one item for each log, with the facts beside it."""

import os
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cloxy_hookspecs import HostContext, LogReader, Source
from cloxy_hookspecs.logs.documents import MOST, Document, DocumentKind, Documents
from cloxy_hookspecs.logs.instants import instant
from cloxy_hookspecs.logs.json_values import Record
from cloxy_hookspecs.logs.titles import LISTED
from cloxy_hookspecs.logs.turns import damaged, message, session
from cloxy_hookspecs.types.ingest import Author, Relation
from cloxy_plugins.kiro.cards import FAR, Card, card_of
from cloxy_plugins.kiro.family import Elder, Family
from cloxy_plugins.kiro.lines import Log, Said, read_log
from cloxy_plugins.kiro.places import (
    BUCKETED,
    conversations_in,
    facts_beside,
    logs_below,
    session_folders,
    session_of,
)
from cloxy_plugins.kiro.store import Store, store_of_user

_SECOND = 1000

Uids = dict[object, deque[str]]


def create_sessions(context: HostContext) -> Source:
    """Make the source."""
    reader = context.service(LogReader)
    return sessions_in(reader, session_folders(os.environ, Path.home()), store_of_user(reader))


def sessions_in(reader: LogReader, folders: Sequence[Path], store: Store) -> Documents:
    """The source of logs below folders.

    Args:
        reader: finds and opens.
        folders: folders of sessions.
        store: knows what the database has of a conversation.
    """
    kind = DocumentKind(
        tree=logs_below,
        records=Sessions(reader, store).records,
        beside=lambda path: [facts_beside(path)],
    )
    return Documents(reader, lambda: folders, kind)


@dataclass(frozen=True, slots=True)
class _Past:
    """What an elder said.

    Attributes:
        elder: the session.
        uids: ids of its messages as they are stored, by the ids that its log has.
        said: its messages in order.
    """

    elder: Elder
    uids: Mapping[str, str]
    said: Sequence[Said]


class Sessions:
    """Makes records of logs."""

    def __init__(self, reader: LogReader, store: Store) -> None:
        """Nothing is read.

        Args:
            reader: opens files.
            store: knows what the database has of a conversation.
        """
        self._reader = reader
        self._store = store
        self._family = Family(reader)

    def records(self, document: Document) -> Iterator[Record]:
        """Records of turns of a log: its facts, then its messages.

        Raises:
            ForeignDatabaseError: a database that may have the conversation cannot be read.
        """
        root, path = document.root, document.path
        card = card_of(self._reader, root, path)
        log = _log(path, document.data)
        yield from log.problems
        if card.problem is not None:
            yield damaged(card.problem, quiet=True)
        if not log.said:
            return
        past = [self._past(root, each) for each in self._family.elders(root, path, card)]
        owners = _owners(log, past, card)
        yield from self._told(path, log, card, owners, past[-1] if past else None)

    def _told(
        self,
        path: Path,
        log: Log,
        card: Card,
        owners: Mapping[str, tuple[str, str]],
        nearest: _Past | None,
    ) -> Iterator[Record]:
        key = session_of(path)
        parent = nearest.elder.key if nearest is not None else card.parent
        relation = _relation(card, nearest, copied=bool(owners))
        # A copy is called after the first prompt, which is its elder's.
        title = None if owners else card.title
        if len(owners) < len(log.said):
            yield session(
                key,
                cwd=card.cwd,
                title=title,
                rank=LISTED if title else 0,
                parent=parent if relation else None,
                relation=relation,
            )
        uids = self._uids(path, [each for each in log.said.values() if each.native not in owners])
        for said in log.said.values():
            owner, uid = owners.get(said.native) or (key, uids[said.native])
            end = card.ends.get(said.native) if said.role == "assistant" else None
            yield message(
                owner,
                uid,
                said.role,
                _author(said, relation if owner == key else None),
                said.text,
                at=end if said.at is None else said.at,
                near=card.created,
                approximate=said.at is None,
                cwd=card.cwd,
                model=(said.model or card.model) if said.role == "assistant" else None,
            )

    def _past(self, root: Path, elder: Elder) -> _Past:
        try:
            log = _log(elder.path, self._reader.content(root, elder.path, MOST))
        except OSError:
            log = Log()
        said = list(log.said.values())
        return _Past(elder, self._uids(elder.path, said), said)

    def _uids(self, path: Path, said: Sequence[Said]) -> Mapping[str, str]:
        """Ids of messages as they are stored.

        One that the database has in the same conversation keeps the id that it has there, so that
        it is the same message when the database was read before there was a log.
        """
        known: Uids = defaultdict(deque)
        for key in conversations_in(path):
            for record in self._store.records_of(key):
                if record.get("kind") == "message":
                    known[record["role"], record["text"]].append(str(record["uid"]))
        return {
            each.native: same.popleft() if (same := known[each.role, each.text]) else each.native
            for each in said
        }


def _log(path: Path, data: bytes) -> Log:
    return read_log(data, flat=path.name != BUCKETED)


def _owners(log: Log, past: Sequence[_Past], card: Card) -> Mapping[str, tuple[str, str]]:
    """Session and stored id of the messages that a log has from other sessions, by its ids."""
    found: dict[str, tuple[str, str]] = {}
    made_of = next((each for each in reversed(past) if each.elder.converted), None)
    for number, said in enumerate(log.said.values()):
        first = next((each for each in past if said.native in each.uids), None)
        if first is not None:
            found[said.native] = (first.elder.key, first.uids[said.native])
        elif made_of is not None and _is_same(said, number, made_of):
            other = made_of.said[number]
            found[said.native] = (made_of.elder.key, made_of.uids[other.native])
            made_of = made_of if number + 1 < len(made_of.said) else None
        elif card.parent is not None and not past and _is_older(said, number, found, card):
            # The log of the parent is gone, but nobody says anything before a session begins.
            found[said.native] = (card.parent, said.native)
        else:
            made_of = None
    return found


def _is_same(said: Said, number: int, past: _Past) -> bool:
    if number >= len(past.said):
        return False
    other = past.said[number]
    return (said.role, said.text) == (other.role, other.text)


def _is_older(said: Said, number: int, found: Mapping[str, object], card: Card) -> bool:
    if card.created is None or len(found) < number:
        return False
    at = instant(said.at, FAR)
    # Prompts have whole seconds, answers have no time: they go with the prompt before them.
    return bool(found) if at is None else at + _SECOND <= card.created


def _relation(card: Card, nearest: _Past | None, *, copied: bool) -> Relation | None:
    if nearest is not None and nearest.elder.converted:
        return "resume"
    if copied:
        return "fork"
    return "subagent" if card.parent is not None else None


def _author(said: Said, relation: Relation | None) -> Author:
    if said.role == "summary":
        return "summary"
    if relation == "subagent":
        return "subagent"
    return "human" if said.role == "user" else "assistant"
