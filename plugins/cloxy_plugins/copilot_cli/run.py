"""One run of the parser over events of one log."""

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
from cloxy_hookspecs.logs.json_values import id_of, text_of
from cloxy_hookspecs.logs.notes import Notes
from cloxy_hookspecs.logs.titles import FIRST_WORDS, title_of_words
from cloxy_hookspecs.logs.turns import made_uid
from cloxy_plugins.copilot_cli.cards import Title
from cloxy_plugins.copilot_cli.roots import session_of_file
from cloxy_plugins.copilot_cli.state import LogState

Record = Mapping[str, object]

_NANOSECONDS = 1_000_000


class Run(Notes):
    """Collects what the events of one run say.

    Attributes:
        state: memory of the file.
    """

    def __init__(
        self, item: SourceItem, state: LogState, own_folder: Sequence[str], latest: int
    ) -> None:
        """Start a run.

        Args:
            item: the file; its name tells the session where no event does.
            state: what earlier runs left; changed as events come.
            own_folder: parts of the path of Cloxy's data directory, whose sessions are not taken.
            latest: last plausible point in time, milliseconds.
        """
        super().__init__()
        self.state = state
        self._item = item
        self._own_folder = tuple(own_folder)
        self._latest = latest
        self._at: int | None = None
        self._messages: list[Message] = []
        self._agents: dict[str, SessionFacts] = {}
        self._uids: set[tuple[str, str]] = set()
        self._title: Title = ("", 0)

    @property
    def key(self) -> str:
        """Key of the session that the file is of."""
        return self.state.own or session_of_file(self._item.uri)

    def time(self, value: object) -> None:
        """Take the time of an event."""
        self._at = instant(value, self._latest)
        self.state.at = self._at or self.state.at

    def strange(self) -> None:
        """Note that there was a conversation, understood or not."""
        self.state.silent = self.state.silent and self.state.ours

    def begin(self, session: str | None) -> None:
        """Take the id of the session; that of the first event counts."""
        if self.state.own is None and session is not None and not self.state.spoken:
            self.state.own = session

    def place(self, context: object) -> None:
        """Take where the session works."""
        if not isinstance(context, Mapping):
            return
        state = self.state
        cwd = text_of(context, "cwd") or text_of(context, "gitRoot")
        state.branch = text_of(context, "branch") or state.branch
        if cwd is None:
            return
        state.cwd = cwd
        state.root = state.root or cwd
        state.ours |= is_inside(cwd, self._own_folder)

    def title(self, text: str, rank: int) -> None:
        """Take a title of the session, if it is at least as good as the best so far."""
        if text and rank >= self.state.titled:
            self.state.titled = rank
            self._title = (text, rank)

    def say(
        self, event: Record, line: RawLine, role: Role, author: Author, text: str, agent: str | None
    ) -> None:
        """Take a message.

        Args:
            event: the event that brings it.
            line: its line.
            role: whose turn it was.
            author: who wrote it.
            text: its words.
            agent: the sub-agent whose event it is; None for the session's own agent.
        """
        self.strange()
        state = self.state
        if not text.strip() or state.ours:
            return
        key = self.key if agent is None else f"{self.key}/{agent}"
        uid = id_of(event, "id") or made_uid(key, role, str(event.get("timestamp")), text)
        if (key, uid) in self._uids:
            return
        self._uids.add((key, uid))
        if agent is not None:
            self._meet(key, agent, text)
            author = author if role == "summary" else "subagent"
        else:
            state.spoken = True
            if role == "user" and not state.titled:
                self.title(title_of_words(text), FIRST_WORDS)
        self._messages.append(
            Message(
                uid=uid,
                session=key,
                role=role,
                author=author,
                text=text,
                at=self._at or state.at or self._item.mtime_ns // _NANOSECONDS,
                start=line.start,
                end=line.end,
                cwd=state.cwd,
                branch=state.branch,
                model=self._model_of(event) if role == "assistant" else None,
                approximate=self._at is None,
            )
        )

    def result(self, title: Title | None) -> ParseResult:
        """All that was found.

        Args:
            title: title that the session's card has, if it has one.
        """
        state = self.state
        if self.bad_lines and not self.records:
            self.strange()
        if title is not None and state.spoken:
            self.title(*title)
        return ParseResult(
            messages=self._messages,
            sessions=self._sessions(),
            bad_lines=self.bad_lines,
            records=self.records,
            unknown=self.unknown_kinds,
            state=state.dump(),
            silent=state.silent,
        )

    def _sessions(self) -> Mapping[str, SessionFacts]:
        """Facts of sessions in which something was said; one without a word is none."""
        state = self.state
        if state.ours or not state.spoken:
            return self._agents
        text, rank = self._title
        own = SessionFacts(
            self.key, cwd=state.root, branch=state.branch, title=text or None, title_rank=rank
        )
        return {self.key: own, **self._agents}

    def _meet(self, key: str, agent: str, text: str) -> None:
        """Note facts of a sub-agent's session; its title is what it was told first."""
        first = self.state.first_of(agent)
        if key in self._agents:
            return
        self._agents[key] = SessionFacts(
            key,
            parent=self.key,
            cwd=self.state.root,
            branch=self.state.branch,
            title=title_of_words(text) if first else None,
            title_rank=FIRST_WORDS if first else 0,
            relation="subagent",
        )

    def _model_of(self, event: Record) -> str | None:
        data = event.get("data")
        said = id_of(data, "model") if isinstance(data, Mapping) else None
        return said or self.state.model
