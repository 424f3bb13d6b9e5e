"""One row of the original becomes one memory with one passage over the whole of its text."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from cloxy_core.runtime.clock import uid_of
from cloxy_core.store.legacy.books import AGENT, Books, OldSession
from cloxy_core.store.legacy.instants import milliseconds
from cloxy_core.store.legacy.sources import Place, Sorter
from cloxy_core.store.legacy.vectors import OldVectors
from cloxy_core.store.legacy.wording import Cleaned, Helpers

UPGRADED_FROM: Final = "upgraded_from"
"""Key among the metadata of a memory that came from an old database."""

_DEFAULT_SOURCE: Final = "unknown"
_USER_TURN: Final = re.compile(r"^\[?USER\]?: ", re.MULTILINE)
_UID_BITS: Final = 80
_DEEPEST: Final = 20
_SHORT: Final = 200
_REMEMBERED: Final = 4_096


@dataclass(frozen=True, slots=True)
class OldRow:
    """A row as it was found; texts decoded, times as written.

    Attributes:
        sound: whether its texts were text.
    """

    id: int
    content: str
    content_hash: str
    source: str | None
    embedding: object
    created_at: str | None
    project: str | None = None
    session_id: str | None = None
    ts_start: str | None = None
    ts_end: str | None = None
    metadata: str | None = None
    sound: bool = True


@dataclass(frozen=True, slots=True)
class NewRow:
    """A memory with its passage, and its vector if it has one that can be kept."""

    memory: Mapping[str, object]
    passage: Mapping[str, object]
    vector: bytes | None


@dataclass(slots=True)
class Converter:
    """Turns rows into memories, and counts what was wrong with them.

    Attributes:
        problems: rows with a fault, by its short name.
        redactions: secrets taken out of contents and metadata, by kind.
        conversations: rows that were pieces of conversations.
    """

    version: str
    now: int
    sorter: Sorter
    vectors: OldVectors
    books: Books
    helpers: Helpers
    problems: Counter[str] = field(default_factory=Counter)
    redactions: Counter[str] = field(default_factory=Counter)
    conversations: int = 0
    _known: dict[str, Cleaned] = field(default_factory=dict)

    def convert(self, row: OldRow) -> NewRow | None:
        """One row; None when there is no word in it that may be stored."""
        content, counts = self.helpers.clean(row.content)
        self.redactions.update(counts)
        if not content.strip():
            self.problems["empty"] += 1
            return None
        hashed = _sha256(content)
        if row.content_hash != _sha256(row.content):
            self.problems["hashes"] += 1
        if not row.sound:
            self.problems["undecodable"] += 1
        place = self.sorter.place(row.source or "", row.session_id, row.ts_start)
        created, begin, end = self._times(row)
        extra = self._metadata(row.metadata)
        project = self.books.project(row.project)
        session = None
        if place.session is not None:
            session = self._session(place.session, row.project, project, extra, (begin, end))
            extra.setdefault("agent", AGENT)
        memory = {
            "id": row.id,
            "uid": uid_of(created, int.from_bytes(_uid_bytes(row.id, hashed))),
            **_policy(place),
            "content": content,
            "content_hash": hashed,
            "source": self._short(row.source) or _DEFAULT_SOURCE,
            "project_id": project,
            "session_id": None if session is None else session.id,
            "ordinal": place.ordinal,
            "occurred_from": begin,
            "occurred_to": end,
            "created_at": created,
            "updated_at": created,
            "extra": json.dumps({**extra, UPGRADED_FROM: self.version}, ensure_ascii=False),
        }
        passage = _passage(row.id, session, content, hashed, begin)
        return NewRow(memory, passage, self._vector(row, content))

    def _short(self, text: str | None) -> str:
        """A label or a value of metadata, clean; the same ones come again and again."""
        if not text:
            return ""
        known = self._known.get(text)
        if known is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            known = self.helpers.clean(text)
            if len(text) <= _SHORT:
                self._known[text] = known
        cleaned, counts = known
        self.redactions.update(counts)
        return cleaned if cleaned.strip() else ""

    def _times(self, row: OldRow) -> tuple[int, int, int]:
        """When it was stored, and when it began and ended to be said."""
        created = milliseconds(row.created_at)
        begin, end = milliseconds(row.ts_start), milliseconds(row.ts_end)
        said = [text for text in (row.ts_start, row.ts_end) if text]
        if created is None or len(said) != sum(at is not None for at in (begin, end)):
            self.problems["times"] += 1
        created = self.now if created is None else created
        # Versions 2 to 4 knew no other time; the original, too, took it for the age of a row.
        begin = next((at for at in (begin, end) if at is not None), created)
        return created, begin, begin if end is None else max(begin, end)

    def _metadata(self, text: str | None) -> dict[str, object]:
        if text is None:
            return {}
        try:
            found = json.loads(text, parse_constant=str)
        except (ValueError, RecursionError):
            found = text
        value = self._clean_value(found, 0)
        if isinstance(value, dict):
            return value
        self.problems["metadata"] += 1
        return {"metadata": value}

    def _clean_value(self, value: object, depth: int) -> object:
        """The same with every text cleaned; what lies too deep to be sensible is left out."""
        if isinstance(value, str):
            return self._short(value)
        if isinstance(value, (list, dict)) and depth > _DEEPEST:
            return None
        if isinstance(value, list):
            return [self._clean_value(each, depth + 1) for each in value]
        if isinstance(value, dict):
            return {
                str(self._clean_value(key, depth)): self._clean_value(each, depth + 1)
                for key, each in value.items()
            }
        return value

    def _session(
        self,
        key: str,
        folder: str | None,
        project: int | None,
        extra: Mapping[str, object],
        span: tuple[int, int],
    ) -> OldSession:
        self.conversations += 1
        session = self.books.session(key)
        session.saw(*span)
        if session.project_id is None:
            session.project_id, session.cwd = project, self.books.clean(folder)
        # The last one wins, as in the original; they are clean, as all of the metadata is.
        if isinstance(title := extra.get("title"), str) and title.strip():
            session.title = title.strip()
        if isinstance(branch := extra.get("git_branch"), str) and branch.strip():
            session.branch = branch.strip()
        return session

    def _vector(self, row: OldRow, content: str) -> bytes | None:
        fault = self.vectors.judge(row.embedding)
        if fault is None and content != row.content:
            fault = "of_changed_text"
        if fault is not None:
            self.problems[f"vectors.{fault}"] += 1
            return None
        assert isinstance(row.embedding, bytes)
        return row.embedding


def _policy(place: Place) -> Mapping[str, object]:
    # As the origins were when this was written; a later change of them is a migration's.
    conversation = place.session is not None
    return {
        "origin": "transcript" if conversation else "note",
        "kind": "episodic",
        "tier": "working",
        "state": "active",
        "immutable": conversation,
        "source_id": None,
        "open": False,
        "version": 1,
    }


def _passage(
    identifier: int, session: OldSession | None, content: str, hashed: str, at: int
) -> Mapping[str, object]:
    role, author = "note", "program"
    if session is not None:
        # A piece may hold several turns; it counts as the human's when one of them is.
        is_human = _USER_TURN.search(content) is not None
        role, author = ("user", "human") if is_human else ("assistant", "assistant")
    return {
        "id": identifier,
        "memory_id": identifier,
        "session_id": None if session is None else session.id,
        "ordinal": 0,
        "part": 0,
        "role": role,
        "author": author,
        "char_start": 0,
        "char_end": len(content),
        "message_uid": None,
        "occurred_at": at,
        "text_hash": hashed,
    }


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _uid_bytes(identifier: int, hashed: str) -> bytes:
    """The same whenever the same row is converted, so that two upgrades of one file agree."""
    return hashlib.sha256(f"{identifier}:{hashed}".encode()).digest()[: _UID_BITS // 8]
