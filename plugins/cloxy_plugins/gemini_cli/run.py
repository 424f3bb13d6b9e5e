"""One run of the parser over records of one log."""

from collections.abc import Mapping, Sequence

from cloxy_hookspecs import (
    Author,
    Message,
    ParseResult,
    RawLine,
    Role,
    SessionFacts,
    SourceItem,
)
from cloxy_hookspecs.logs.folders import is_inside
from cloxy_hookspecs.logs.instants import instant
from cloxy_hookspecs.logs.json_values import text_of, whole_of
from cloxy_hookspecs.logs.notes import Notes
from cloxy_hookspecs.logs.titles import FIRST_WORDS, LISTED, title_of_name, title_of_words

Record = Mapping[str, object]

_NANOSECONDS = 1_000_000
_ID_LIMIT = 420


class Run(Notes):
    """Collects what the records of one run say."""

    def __init__(
        self,
        item: SourceItem,
        state: Mapping[str, object],
        own_folder: Sequence[str],
        latest: int,
    ) -> None:
        """Start a run.

        Args:
            item: the file.
            state: what earlier runs left: sessions that have a title, and the time of the latest
                record. It holds no text of a conversation.
            own_folder: parts of the path of Cloxy's data directory, whose sessions are not taken.
            latest: last plausible point in time, milliseconds.
        """
        super().__init__()
        titled = state.get("titled")
        self._titled = [str(each) for each in titled] if isinstance(titled, list) else []
        self._at = whole_of(state, "at")
        self._silent = state.get("silent") is not False
        self._item = item
        self._own_folder = tuple(own_folder)
        self._latest = latest
        self._messages: list[Message] = []
        self._heads: dict[str, Record] = {}
        self._titles: dict[str, tuple[str, int]] = {}
        self._spoken: dict[str, Record] = {}
        self._uids: set[tuple[str, str]] = set()

    def bad(self, line: RawLine, reason: str) -> None:
        """Note a damaged place."""
        super().bad(line, reason)
        self._silent = False

    def unknown(self, kind: str, count: int = 1) -> None:
        """Count things of an unknown kind."""
        super().unknown(kind, count)
        self._silent = False

    def arrive(self, record: Record) -> None:
        """Take the time of a message that was understood, whether it said something or not."""
        self.understood()
        self._at = instant(record.get("timestamp"), self._latest) or self._at

    def session(self, record: Record) -> None:
        """Take what is known of a session."""
        self.understood()
        key = str(record.get("session"))
        self._heads[key] = record
        self._at = instant(record.get("at"), self._latest)
        title = record.get("title")
        if isinstance(title, str) and title.strip():
            self._titles[key] = (title_of_name(title), LISTED)
            self._titled.append(key)

    def say(self, record: Record, line: RawLine, role: Role, author: Author, text: str) -> None:
        """Take a message.

        Args:
            record: the record that brings it.
            line: its line.
            role: whose turn it was.
            author: who wrote it, unless a sub-agent did.
            text: its words.
        """
        self.arrive(record)
        key, cwd = str(record.get("session")), text_of(record, "cwd")
        uid = id_of(record, "id")
        if not text.strip() or uid is None or (key, uid) in self._uids:
            return
        if is_inside(cwd, self._own_folder):
            return
        self._uids.add((key, uid))
        self._spoken.setdefault(key, record)
        if role == "user" and key not in self._titled:
            self._titles[key] = (title_of_words(text), FIRST_WORDS)
            self._titled.append(key)
        told = instant(record.get("timestamp"), self._latest)
        self._messages.append(
            Message(
                uid=uid,
                session=key,
                role=role,
                author="subagent" if record.get("subagent") and role != "summary" else author,
                text=text,
                at=told or self._at or self._item.mtime_ns // _NANOSECONDS,
                start=line.start,
                end=line.end,
                cwd=cwd,
                model=id_of(record, "model") if role == "assistant" else None,
                approximate=told is None,
            )
        )

    def result(self) -> ParseResult:
        """All that was found."""
        return ParseResult(
            messages=self._messages,
            sessions={key: self._facts(key, record) for key, record in self._spoken.items()},
            bad_lines=self.bad_lines,
            records=self.records,
            unknown=self.unknown_kinds,
            state={"titled": self._titled, "at": self._at, "silent": self._silent},
            silent=self._silent,
        )

    def _facts(self, key: str, record: Record) -> SessionFacts:
        head = self._heads.get(key, record)
        text, rank = self._titles.get(key, (None, 0))
        parent = id_of(head, "parent")
        return SessionFacts(
            key,
            parent=parent,
            cwd=text_of(head, "cwd"),
            title=text,
            title_rank=rank,
            relation=None if parent is None else "subagent",
        )


def id_of(record: Record, key: str) -> str | None:
    """A field that can serve as an id or a name, else None."""
    value = record.get(key)
    usable = isinstance(value, str) and 0 < len(value) <= _ID_LIMIT and value.isprintable()
    return str(value) if usable else None
