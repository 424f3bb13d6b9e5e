"""One run of the parser over lines of one file."""

from cloxy_hookspecs import Author, BadLine, Message, ParseResult, RawLine, Role
from cloxy_plugins.claude_code.decoding import Record
from cloxy_plugins.claude_code.envelope import id_of
from cloxy_plugins.claude_code.instants import instant
from cloxy_plugins.claude_code.sessions import Sessions
from cloxy_plugins.claude_code.state import FileState, fingerprint
from cloxy_plugins.claude_code.titles import FIRST_WORDS, SUMMARY, title_of_words

_PENDING_SUMMARIES = 64
_UNKNOWN_KINDS = 100
_UUID_LIMIT = 64


class Run:
    """Collects what the records of one run say.

    Attributes:
        sessions: the sessions of the file.
    """

    def __init__(self, uri: str, state: FileState, own_folder: str, latest: int) -> None:
        """Start a run.

        Args:
            uri: path of the file.
            state: what earlier runs left; changed as records come.
            own_folder: Cloxy's data directory, whose sessions are not taken.
            latest: last plausible time of a message.
        """
        self.sessions = Sessions(uri, state, own_folder)
        self._state = state
        self._latest = latest
        self._records = 0
        self._messages: list[Message] = []
        self._bad: list[BadLine] = []
        self._unknown: dict[str, int] = {}
        self._uids: set[tuple[str, str]] = set()
        self._summaries: dict[str, str] = {}

    def bad(self, line: RawLine, reason: str) -> None:
        """Note a damaged line."""
        self._bad.append(BadLine(line.start, line.end, reason))

    def unknown(self, kind: str) -> None:
        """Count a record of an unknown type."""
        if kind in self._unknown or len(self._unknown) < _UNKNOWN_KINDS:
            self._unknown[kind] = self._unknown.get(kind, 0) + 1

    def strange(self) -> None:
        """Note that something that may be conversation was not understood."""
        self._state.silent = False

    def understood(self, uuid: object) -> None:
        """Count a record that was understood, whether it said something or not.

        Args:
            uuid: its id; a summary that waited for it becomes the session's title.
        """
        self._records += 1
        if isinstance(uuid, str) and len(uuid) <= _UUID_LIMIT:
            self._state.meet(uuid)
            if self._summaries and (text := self._summaries.pop(uuid, None)):
                self.sessions.title(self.sessions.current(), text, SUMMARY)

    def summary(self, leaf: str, text: str) -> None:
        """Take a summary as title if the record that it points to is in this file.

        A record that comes later in the same run counts. A summary that waits is not kept for
        the next run: the state is stored unredacted, so it holds no text.
        """
        if self._state.met(leaf):
            self.sessions.title(self.sessions.current(), text, SUMMARY)
        elif len(self._summaries) < _PENDING_SUMMARIES:
            self._summaries[leaf] = text

    def say(
        self,
        record: Record,
        line: RawLine,
        role: Role,
        author: Author,
        text: str,
        *,
        once: bool = False,
    ) -> None:
        """Take a message.

        In a sub-agent's conversation both sides are the sub-agent's.

        Args:
            record: the record that says it.
            line: its line.
            role: whose turn it is.
            author: who says it in a session's own conversation.
            text: the words.
            once: whether to leave it out when the session had the same words lately.
        """
        place = self.sessions.place_of(record)
        key = place.key
        new = self._state.say(key, text) if once or role == "user" else True
        uid = id_of(record, "uuid") or _made_id(key, role, record, text)
        if place.own or (once and not new):
            return
        if role == "user" and not self._state.mark(key).rank:
            self.sessions.title(key, title_of_words(text), FIRST_WORDS)
        if (key, uid) in self._uids:
            return
        self._uids.add((key, uid))
        if place.parent is not None and role != "summary":
            author = "subagent"
        at = instant(record.get("timestamp"), self._latest)
        self._messages.append(
            Message(uid, key, role, author, text, at, line.start, line.end, place.cwd, place.branch)
        )

    def result(self) -> ParseResult:
        """All that was found."""
        if self._bad and not self._records:
            self._state.silent = False
        return ParseResult(
            messages=self._messages,
            sessions=self.sessions.facts(),
            bad_lines=self._bad,
            records=self._records,
            unknown=self._unknown,
            state=self._state.dump(),
            silent=self._state.silent,
        )


def _made_id(key: str, role: Role, record: Record, text: str) -> str:
    """An id for a record without one, the same in every copy of it."""
    return "made-" + fingerprint(key, role, str(record.get("timestamp")), text)
