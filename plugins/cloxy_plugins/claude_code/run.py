"""One run of the parser over lines of one file."""

from cloxy_hookspecs import Author, Message, ParseResult, RawLine, Role
from cloxy_hookspecs.logs.instants import instant
from cloxy_hookspecs.logs.json_values import Record, id_of
from cloxy_hookspecs.logs.notes import Notes
from cloxy_hookspecs.logs.titles import FIRST_WORDS, SUMMARY, title_of_words
from cloxy_hookspecs.logs.turns import made_uid
from cloxy_plugins.claude_code.sessions import Sessions
from cloxy_plugins.claude_code.state import FileState

_PENDING_SUMMARIES = 64
_UUID_LIMIT = 64


class Run(Notes):
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
        super().__init__()
        self.sessions = Sessions(uri, state, own_folder)
        self._state = state
        self._latest = latest
        self._messages: list[Message] = []
        self._uids: set[tuple[str, str]] = set()
        self._summaries: dict[str, str] = {}

    def strange(self) -> None:
        """Note that something that may be conversation was not understood."""
        self._state.silent = False

    def pass_by(self, uuid: object) -> None:
        """Note the id of a record; a summary that waited for it becomes the session's title."""
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
        uid = id_of(record, "uuid") or made_uid(key, role, str(record.get("timestamp")), text)
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
        if self.bad_lines and not self.records:
            self._state.silent = False
        return ParseResult(
            messages=self._messages,
            sessions=self.sessions.facts(),
            bad_lines=self.bad_lines,
            records=self.records,
            unknown=self.unknown_kinds,
            state=self._state.dump(),
            silent=self._state.silent,
        )
