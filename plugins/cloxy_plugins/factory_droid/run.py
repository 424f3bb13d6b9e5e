"""One run of the parser over records of one log."""

from collections import Counter
from collections.abc import Iterator

from cloxy_hookspecs import Author, BadLine, RawLine, Role, SourceItem
from cloxy_hookspecs.logs.json_values import Record, encode, id_of, record_of, text_of
from cloxy_hookspecs.logs.titles import LISTED, NAMED, title_of_name
from cloxy_hookspecs.logs.turns import made_uid, message, session
from cloxy_plugins.factory_droid.content import TASK, content_of, has_summary, summary_of
from cloxy_plugins.factory_droid.places import session_of_file
from cloxy_plugins.factory_droid.state import LogState

_NOISE = frozenset({"todo_state", "session_settings", "agent_turn_outcome", "session_end"})
_SPEAKERS = ("user", "assistant")
_OTHERS = frozenset({"system", "tool"})
_UNNAMED = frozenset({"New Session", "Untitled Session"})
_KIND_LIMIT = 60
_UNKNOWN_KINDS = 100


class Run:
    """Collects what the records of one run say.

    Attributes:
        state: memory of the file.
        damaged: damaged lines.
        unknown: kinds of records and blocks that are not known, with their numbers.
        understood: how many records were understood.
    """

    def __init__(self, item: SourceItem, state: LogState) -> None:
        """Start a run.

        Args:
            item: the file; its name tells the session where no record does.
            state: what earlier runs left; changed as records come.
        """
        self.state = state
        self.damaged: list[BadLine] = []
        self.unknown: Counter[str] = Counter()
        self.understood = 0
        self._item = item
        self._turns: list[tuple[Record, RawLine]] = []
        self._said: set[tuple[str, str]] = set()

    def bad(self, line: RawLine, reason: str) -> None:
        """Note a damaged line."""
        self.damaged.append(BadLine(line.start, line.end, reason))
        self.state.heard = True

    def take(self, record: Record, line: RawLine) -> None:
        """Take what a record says."""
        named = record.get("type")
        kind = named if isinstance(named, str) else "(no type)"
        if kind == "session_start":
            self._start(record)
        elif kind == "message":
            if not self._message(record, line):
                return
        elif kind == "compaction_state":
            self._say(record, line, "summary", "summary", summary_of(record))
            if not has_summary(record):
                self._strange(kind)
                return
        elif kind not in _NOISE:
            self._strange(kind)
            return
        self.understood += 1

    def turns(self) -> Iterator[RawLine]:
        """Records of turns: sessions first, then their messages, each at its line."""
        for key in dict.fromkeys(str(turn["session"]) for turn, _line in self._turns):
            yield RawLine(0, 0, encode(self._session(key)))
        for turn, line in self._turns:
            yield RawLine(line.start, line.end, encode(turn))

    def _key(self) -> str:
        return self.state.session or session_of_file(self._item.uri)

    def _strange(self, kind: str) -> None:
        self.state.heard = True
        kind = kind[:_KIND_LIMIT]
        if kind in self.unknown or len(self.unknown) < _UNKNOWN_KINDS:
            self.unknown[kind] += 1

    def _start(self, record: Record) -> None:
        """Take what the header says, which some versions put one level deeper."""
        header = {**record, **record_of(record.get("session"))}
        state = self.state
        state.session = id_of(header, "id") or state.session
        state.cwd = text_of(header, "cwd") or text_of(header, "workspace_root") or state.cwd
        caller, parent = id_of(header, "callingSessionId"), id_of(header, "parent")
        if caller is not None and caller != state.session:
            state.parent, state.agent = caller, True
        elif parent is not None and parent != state.session:
            state.parent, state.forked = parent, True
            state.copied = id_of(header, "forkedAtMessageId")
        for name, rank in (("title", LISTED), ("sessionTitle", NAMED)):
            title = title_of_name(text_of(header, name) or "")
            if title and title not in _UNNAMED and not title.startswith((TASK, "<")):
                state.title, state.rank = title, rank

    def _message(self, record: Record, line: RawLine) -> bool:
        """Take a message; false when it is none of a known form."""
        told = record_of(record.get("message"))
        named = told.get("role")
        role = named if isinstance(named, str) else "(no role)"
        if role in _OTHERS:
            return True
        content = content_of(told, typed=role == "user")
        if role not in _SPEAKERS or content is None:
            self._strange(f"message/{'(no content)' if role in _SPEAKERS else role}")
            return False
        for kind in content.unknown:
            self._strange(f"block/{kind}")
        state = self.state
        state.heard = True
        uid = id_of(record, "id")
        if not state.begun:
            state.begun = True
            # A copy begins where its origin began, else its first message follows another one.
            if id_of(record, "parentId") is not None:
                state.copied = None
        if not _is_hidden(told):
            if role == "user":
                state.agent = state.agent or content.text.startswith(TASK)
                automatic = told.get("userMessageSource") == "automation"
                author: Author = "program" if automatic else "human"
                self._say(record, line, "user", author, content.text)
            else:
                model = id_of(told, "modelId") or id_of(told, "model")
                self._say(record, line, "assistant", "assistant", content.text, model)
        if uid is not None and uid == state.copied:
            state.copied = None
        return True

    def _say(
        self,
        record: Record,
        line: RawLine,
        role: Role,
        author: Author,
        text: str,
        model: str | None = None,
    ) -> None:
        state = self.state
        state.heard = True
        if not text:
            return
        # What a fork begins with was said in the session that it was copied from.
        key = state.parent if state.copied and state.parent else self._key()
        stamp = record.get("timestamp")
        place = str(stamp) if stamp else str(line.start)
        uid = id_of(record, "id") or made_uid(key, role, place, text)
        if (key, uid) in self._said:
            return
        self._said.add((key, uid))
        if state.agent and role != "summary":
            author = "subagent"
        turn = message(
            key, uid, role, author, text, at=stamp, near=record.get("created_at"), model=model
        )
        self._turns.append((turn, line))

    def _session(self, key: str) -> Record:
        state = self.state
        if key != self._key():
            return session(key, cwd=state.cwd)
        # Told once: what it is called now may be a name that somebody gave it meanwhile.
        title, rank = state.title, state.rank
        state.title, state.rank = None, 0
        return session(
            key,
            cwd=state.cwd,
            title=title,
            rank=rank,
            parent=state.parent,
            relation="fork" if state.forked else "subagent",
            program=state.agent and state.parent is None,
        )


def _is_hidden(told: Record) -> bool:
    """Whether a message is what the program tells the model, or shows beside the conversation."""
    return (
        told.get("visibility") in ("llm_only", "user_only")
        or told.get("hookEventName") is not None
        or told.get("isUserVisible") is False
        or told.get("hiddenFromUser") is True
    )
