"""One run of the parser over records of one log."""

from collections import Counter
from collections.abc import Iterator

from cloxy_hookspecs import BadLine, RawLine, SourceItem
from cloxy_hookspecs.logs.json_values import TEXT_LIMIT, Record, encode, usable_id
from cloxy_hookspecs.logs.titles import NAMED, title_of_name
from cloxy_hookspecs.logs.turns import made_uid, message, session
from cloxy_plugins.json_lines.formats import Format
from cloxy_plugins.json_lines.judging import Left, Said, judged
from cloxy_plugins.json_lines.places import session_of_file
from cloxy_plugins.json_lines.state import LogState

_UNKNOWN_KINDS = 100
_NANOSECONDS = 1_000_000
_FINER = 1_000
# As seconds, far away; as milliseconds the year 5138: more can only be a finer unit.
_MILLISECONDS_BELOW = 100_000_000_000_000
_NEVER = 10**21


class Run:
    """Collects what the records of one run say.

    Attributes:
        state: memory of the file.
        damaged: damaged lines.
        unknown: what is not known of the records, with numbers.
        understood: how many records were understood.
    """

    def __init__(self, item: SourceItem, state: LogState, rules: Format) -> None:
        """Start a run.

        Args:
            item: the file; its name tells the session where no record does.
            state: what earlier runs left; changed as records come.
            rules: how records are read.
        """
        self.state = state
        self.damaged: list[BadLine] = []
        self.unknown: Counter[str] = Counter()
        self.understood = 0
        self._item = item
        self._rules = rules
        self._facts: dict[str, Record] = {}
        self._turns: list[tuple[Record, RawLine]] = []
        self._said: set[tuple[str, str]] = set()

    def bad(self, line: RawLine, reason: str) -> None:
        """Note a damaged line."""
        self.damaged.append(BadLine(line.start, line.end, reason))
        self.state.heard = True

    def take(self, record: Record, line: RawLine) -> None:
        """Take what a record says."""
        self._learn(record)
        found = judged(record, self._rules)
        if isinstance(found, Said):
            self._say(record, line, found)
        elif not self._left(found):
            return
        self.understood += 1

    def turns(self) -> Iterator[RawLine]:
        """Records of turns: sessions first, then their messages, each at its line."""
        self._tell_title()
        for facts in self._facts.values():
            yield RawLine(0, 0, encode(facts))
        for turn, line in self._turns:
            yield RawLine(line.start, line.end, encode(turn))

    def _key(self) -> str:
        return self.state.session or session_of_file(self._item.uri)

    def _left(self, found: Left) -> bool:
        """Count a record that says nothing; whether it is understood."""
        self.state.heard = self.state.heard or found.speaks
        if not found.kind:
            return True
        if found.kind in self.unknown or len(self.unknown) < _UNKNOWN_KINDS:
            self.unknown[found.kind] += 1
        return False

    def _learn(self, record: Record) -> None:
        """Take facts of any record, as far as it tells them; they hold until others come."""
        state = self.state
        key = self._id(record, "session")
        if key is not None and key != state.session:
            if state.session is not None:
                self._tell_title()
                state.leave()
            state.session = key
        state.cwd = self._short(record, "cwd") or state.cwd
        state.branch = self._short(record, "branch") or state.branch
        state.model = self._id(record, "model") or state.model
        state.parent = self._id(record, "parent") or state.parent
        title = title_of_name(self._short(record, "session_title") or "")
        if title:
            state.title = title

    def _say(self, record: Record, line: RawLine, said: Said) -> None:
        state = self.state
        state.heard = True
        above = self._key()
        agent = self._id(record, "subagent")
        key, parent = (above, state.parent) if agent is None else (f"{above}/{agent}", above)
        parent = None if parent == key else parent
        at = self._time(record)
        # A log without times is told apart by place: the same words may be said twice.
        place = str(line.start) if at is None else str(at)
        uid = self._id(record, "id") or made_uid(key, said.role, place, said.text)
        if (key, uid) in self._said:
            return
        self._said.add((key, uid))
        agents = parent is not None and said.role != "summary"
        state.timed = state.timed or at is not None
        turn = message(
            key,
            uid,
            said.role,
            "subagent" if agents else said.author,
            said.text,
            # Without any times in the log, that of the file is nearest.
            at=at if state.timed else self._item.mtime_ns // _NANOSECONDS,
            approximate=at is None,
            cwd=state.cwd,
            branch=state.branch,
            model=state.model if said.role == "assistant" else None,
        )
        self._turns.append((turn, line))
        state.spoken = state.spoken or agent is None
        self._tell(key, parent)

    def _tell_title(self) -> None:
        """Tell a title that came behind the last message of its session."""
        state, key = self.state, self._key()
        if state.title is not None and state.spoken:
            self._tell(key, None if state.parent == key else state.parent)

    def _tell(self, key: str, parent: str | None) -> None:
        """Tell the facts of a session; what it was called by an earlier record stays."""
        state = self.state
        title = self._facts.get(key, {}).get("title")
        if key == self._key() and state.title is not None:
            title, state.title = state.title, None
        self._facts[key] = session(
            key,
            cwd=state.cwd,
            branch=state.branch,
            title=title if isinstance(title, str) else None,
            rank=NAMED,
            parent=parent,
            relation="subagent",
        )

    def _id(self, record: Record, name: str) -> str | None:
        """An id or a name; programs also count with numbers."""
        for value in self._rules.values(record, name):
            is_number = isinstance(value, int) and not isinstance(value, bool)
            found = usable_id(str(value) if is_number else value)
            if found is not None:
                return found
        return None

    def _short(self, record: Record, name: str) -> str | None:
        for value in self._rules.values(record, name):
            if isinstance(value, str) and value.strip() and len(value) <= TEXT_LIMIT:
                return value
        return None

    def _time(self, record: Record) -> object:
        """The time of a record, in seconds or milliseconds or as text."""
        for value in self._rules.values(record, "time"):
            if isinstance(value, str):
                return value
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                number: int | float = value
                while _MILLISECONDS_BELOW <= number < _NEVER:
                    number /= _FINER
                return number
        return None
