"""From what another memory system holds to lines of an export of Cloxy."""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from cloxy_core.services.exchange.foreign_memories import ForeignMessage, ForeignNote, Told
from cloxy_core.services.exchange.foreign_metadata import fitted
from cloxy_core.services.exchange.foreign_reading import Report
from cloxy_core.services.exchange.foreign_talk import string
from cloxy_core.services.exchange.foreign_values import LATEST
from cloxy_core.services.exchange.form import FORMAT, VERSION, encode, time_text
from cloxy_core.services.redaction import redact

LEFT: Final = "values of metadata that are too large, too deep or no text (not taken)"
MOST_TEXT: Final = 8 * 1024 * 1024
"""Characters of the longest text that is taken, so that a line never exceeds its limit."""

_ID: Final = re.compile(r"[^\x00-\x20\x7f\ud800-\udfff]{1,200}")
_LABEL: Final = 1000
_TITLE: Final = 500
_TITLE_RANK: Final = 2
_HASH: Final = 32
_SORT: Final = 40
_SORTS: Final = 50
_AUTHORS: Final = {"user": "human", "assistant": "assistant", "summary": "summary"}


@dataclass(slots=True)
class MemoryLines:
    """Makes the lines, and counts.

    Attributes:
        system: name of the system.
        report: is told what came.
        told: is told what could not be taken.
    """

    system: str
    report: Report
    told: Told
    _sessions: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    _messages: int = 0
    _notes: int = 0

    def first(self) -> bytes:
        """The header."""
        return encode({"kind": "header", "format": FORMAT, "version": VERSION})

    def last(self) -> bytes:
        """The end, when all could be read."""
        counts = {"sessions": len(self._sessions), "messages": self._messages}
        return encode({"kind": "end", **counts, "notes": self._notes})

    def of(self, item: ForeignNote | ForeignMessage) -> Iterator[bytes]:
        """Lines of a note or message; none for one that cannot be taken."""
        text = string(item.text) or ""
        if not text.strip():
            self.told.pass_over(f"{_shown(item)}: it has no text")
        elif len(text) > MOST_TEXT:
            self.told.pass_over(f"{_shown(item)}: it is longer than {MOST_TEXT:,} characters")
        elif isinstance(item, ForeignNote):
            yield self._note(item, text)
        elif item.role not in _AUTHORS:
            self.told.pass_over(f"{_shown(item)}: nobody is said to have said it")
        else:
            yield from self._message(item, text)

    def _note(self, note: ForeignNote, text: str) -> bytes:
        self._notes += 1
        name = f"{self.system}:{safe_id(note.uid, f'{self.system}:')}"
        at = self._time(note.at)
        self._count(note.sort)
        own = {"source": note.source} if note.source else {}
        if note.sort != "memory":
            own["kind"] = note.sort
        metadata, left = fitted({**own, **note.metadata})
        if left:
            self.told.homeless[LEFT] += left
        return encode(
            {
                "kind": "note",
                "uid": name,
                "origin": self.system,
                "text": text,
                "source": name,
                "project": _label(note.project),
                "metadata": metadata,
                "memory_kind": note.knowledge,
                "tier": note.tier,
                "time": time_text(at),
            }
        )

    def _message(self, message: ForeignMessage, text: str) -> Iterator[bytes]:
        agent, session = safe_id(message.agent), safe_id(message.session)
        if (agent, session) not in self._sessions:
            self._sessions.add((agent, session))
            title = (string(message.title) or "").strip()[:_TITLE] or None
            cwd = _label(message.cwd)
            yield encode(
                {
                    "kind": "session",
                    "agent": agent,
                    "key": session,
                    "cwd": cwd,
                    "project": cwd,
                    "title": title,
                    "title_rank": _TITLE_RANK if title else 0,
                }
            )
        self._messages += 1
        self.report.conversations = len(self._sessions)
        yield encode(
            {
                "kind": "message",
                "agent": agent,
                "session": session,
                "uid": safe_id(message.uid),
                "role": message.role,
                "author": _AUTHORS[message.role],
                "text": text,
                "time": time_text(self._time(message.at)),
                "approximate": message.approximate,
                "source": f"{self.system}:import",
            }
        )

    def _count(self, sort: str) -> None:
        kinds = self.report.kinds
        name = sort[:_SORT] if len(kinds) < _SORTS or sort[:_SORT] in kinds else "other"
        kinds[name] = kinds.get(name, 0) + 1

    def _time(self, at: int | None) -> int | None:
        """A time that can be one; it counts for the span of all."""
        if at is None or not 0 < at < LATEST:
            return None
        first, last = self.report.first, self.report.last
        self.report.first = at if first is None else min(at, first)
        self.report.last = at if last is None else max(at, last)
        return at


def safe_id(uid: str, prefix: str = "") -> str:
    """An id that can be kept as it is; another one stands for what cannot, always the same.

    Args:
        uid: as the system has it.
        prefix: what will stand before it.
    """
    if _ID.fullmatch(uid) and not redact(prefix + uid).counts:
        return uid
    digest = hashlib.sha256(uid.encode("utf-8", "surrogatepass")).hexdigest()
    return f"~{digest[:_HASH]}"


def _label(value: str | None) -> str | None:
    return (string(value) or "").strip()[:_LABEL] or None


def _shown(item: ForeignNote | ForeignMessage) -> str:
    sort = item.sort if isinstance(item, ForeignNote) else "message"
    return f"{sort} {item.uid[:80]}"
