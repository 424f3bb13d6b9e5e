"""One run of the parser over lines of one rollout."""

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
from cloxy_hookspecs.logs.instants import instant, instant_of_uuid
from cloxy_hookspecs.logs.json_values import id_of
from cloxy_hookspecs.logs.notes import Notes
from cloxy_hookspecs.logs.titles import FIRST_WORDS, NAMED, title_of_name, title_of_words
from cloxy_plugins.codex.content import Spoken, with_images
from cloxy_plugins.codex.copies import meet_thread
from cloxy_plugins.codex.facts import facts_of_own, facts_of_owner, message_id
from cloxy_plugins.codex.meta import Speaker, author_of_user, place_of, thread_of
from cloxy_plugins.codex.names import thread_of_file
from cloxy_plugins.codex.state import RolloutState, fingerprint

ITEM, EVENT, COMPLETED = 0, 1, 2
"""Forms in which a message stands in a rollout."""

_PLAN = "plan"
_NANOSECONDS = 1_000_000


class Run(Notes):
    """Collects what the records of one run say.

    Attributes:
        state: memory of the file.
    """

    def __init__(
        self, item: SourceItem, state: RolloutState, own_folder: Sequence[str], latest: int
    ) -> None:
        """Start a run.

        Args:
            item: the file; its name tells the thread where no line does.
            state: what earlier runs left; changed as records come.
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
        self._repeated: dict[str, SessionFacts] = {}
        self._title: tuple[str | None, int] = (None, 0)

    @property
    def key(self) -> str:
        """Key of the session whose lines these are."""
        return self.state.owner or self.own_key

    @property
    def own_key(self) -> str:
        """Key of the session that the file is of."""
        return self.state.own or thread_of_file(self._item.uri)

    @property
    def at(self) -> int | None:
        """Time of the line, milliseconds."""
        return self._at

    @property
    def left_out(self) -> bool:
        """Whether nothing of these lines is taken."""
        return self.state.ours or self.state.copy == "drop"

    def time(self, value: object) -> None:
        """Take the time of a line."""
        self._at = instant(value, self._latest)
        if self._at is not None and not self.state.copy:
            self.state.at = self._at

    def strange(self) -> None:
        """Note that there was a conversation, understood or not."""
        if not self.left_out:
            self.state.silent = False

    def meta(self, payload: Mapping[str, object]) -> bool:
        """Take a meta line: of this thread, or of one that is repeated.

        Returns:
            Whether it names a thread.
        """
        thread = thread_of(payload, self._latest)
        if thread is None:
            self.strange()
            return False
        state = self.state
        if state.spoken and thread.id != self.own_key:
            # The first line is lost; what was said is of the thread that the file is named after.
            state.own = self.own_key
        if meet_thread(state, thread, self._at):
            state.branch = thread.branch or state.branch
            # Times of a copy are those of its writing; the thread's own start is nearer.
            if state.owner is not None or state.at is None:
                state.at = thread.at
            self._settle(thread.cwd)
        return True

    def place(self, cwd: str | None) -> None:
        """Take a working directory."""
        if cwd is not None and self.state.copy != "drop":
            self._settle(cwd)

    def context(self, payload: Mapping[str, object]) -> None:
        """Take the circumstances of a turn."""
        self.turn(payload)
        if self.state.copy != "drop":
            self.state.model = id_of(payload, "model") or self.state.model
            self.place(place_of(payload))

    def turn(self, payload: Mapping[str, object]) -> None:
        """Take the id of a turn."""
        turn = id_of(payload, "turn_id")
        if turn is not None and turn != self.state.turn and self.state.copy != "drop":
            self.state.turn = turn

    def name(self, thread: str | None, name: str) -> None:
        """Take the name that a thread was given."""
        if thread in (None, self.own_key) and not self.left_out:
            self.title(title_of_name(name), NAMED)

    def title(self, text: str, rank: int) -> None:
        """Take a title of the file's own session, if it is at least as good as the best so far."""
        if text and rank >= self.state.titled:
            self.state.titled = rank
            self._title = (text, rank)

    def user(self, line: RawLine, spoken: Spoken, form: int) -> None:
        """Take what stands in the user's role.

        Once an event told a user's message, events tell them all, and items are what the harness
        sends: only their pictures are kept for the event.
        """
        self.place(spoken.place)
        state = self.state
        if not spoken.understood:
            self.strange()
        if not spoken.texts and not spoken.images:
            return
        text = _letters("user", "".join(spoken.texts))
        if form == ITEM:
            taken = state.hear(text, form, wanted=not state.events)
            state.images = spoken.images
            if taken:
                parts = spoken.texts if len(spoken.texts) > 1 else ()
                state.parts = [_letters("user", part) for part in parts]
        else:
            state.events = True
            taken = state.hear(text, form) and text not in state.parts
            spoken.images = state.images or spoken.images
            state.images, state.parts = [], []
        if taken:
            author = author_of_user(self._speaker())
            self.say(line, "user", author, with_images(spoken.words, spoken.images))

    def is_new_plan(self, text: str, form: int) -> bool:
        """Whether a plan did not come in another form of record before."""
        return self._hear(_PLAN, text, form)

    def agent(
        self, line: RawLine, text: str, form: int, *, besides: str, plans: Sequence[str]
    ) -> None:
        """Take what the agent said.

        Args:
            line: its line.
            text: the words, plans that came before left out.
            form: form of the record.
            besides: the words without any plan, by which other forms of it are recognised.
            plans: plans in it that did not come before.
        """
        role, author = self._agent()
        if besides.strip() and self._hear(role, besides, form):
            self.say(line, role, author, text if besides == text else text.strip())
        elif plans:
            self.say(line, role, author, "\n\n".join(plans))

    def plan(self, line: RawLine, text: str, form: int) -> None:
        """Take a plan that comes as a record of its own."""
        if text.strip() and self.is_new_plan(text, form):
            self.say(line, "summary", "summary", text)

    def summary(self, line: RawLine, text: str) -> None:
        """Take what the agent wrote of the conversation so far, once."""
        if text.strip() and not self.state.has_heard(digest := _letters("summary", text)):
            self.state.hear(digest, ITEM)
            self.say(line, "summary", "summary", text)

    def _hear(self, kind: str, text: str, form: int) -> bool:
        """Whether a text is to be taken from this form of record."""
        return self.state.hear(_letters(kind, text), form)

    def say(self, line: RawLine, role: Role, author: Author, text: str) -> None:
        """Take a message."""
        state = self.state
        if self.left_out:
            return
        if role == "user":
            state.number += 1
        uid = message_id(state, self.key, role, text)
        if state.owner is None:
            state.spoken = True
            if role == "user" and not state.titled:
                self.title(title_of_words(text), FIRST_WORDS)
        at, approximate = self._time()
        if state.owner is not None:
            self._repeated[state.owner] = facts_of_owner(state, state.owner)
        self._messages.append(
            Message(
                uid=uid,
                session=self.key,
                role=role,
                author=author,
                text=text,
                at=at,
                start=line.start,
                end=line.end,
                cwd=state.cwd,
                branch=state.branch,
                model=state.model if role != "user" else None,
                approximate=approximate,
            )
        )

    def result(self, name: str | None) -> ParseResult:
        """All that was found.

        Args:
            name: name that the thread has in the list of threads, if it has one.
        """
        state = self.state
        if self.bad_lines and not self.records:
            self.strange()
        if name and state.spoken and not state.ours:
            self.title(title_of_name(name), NAMED)
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
        """Facts of sessions in which something was said; a thread without a word is none."""
        if self.state.ours or not self.state.spoken:
            return self._repeated
        own = facts_of_own(self.state, self.own_key, self._title)
        return {**self._repeated, self.own_key: own}

    def _speaker(self) -> Speaker:
        return self.state.speaker if self.state.owner is None else self.state.guest

    def _agent(self) -> tuple[Role, Author]:
        speaker = self._speaker()
        if speaker == "compact":
            return "summary", "summary"
        return "assistant", "subagent" if speaker == "subagent" else "assistant"

    def _settle(self, cwd: str | None) -> None:
        """Take a working directory of the session whose lines these are."""
        if cwd is None:
            return
        self.state.cwd = cwd
        if self.state.owner is None and self.state.root is None:
            self.state.root = cwd
        self.state.ours |= is_inside(cwd, self._own_folder)

    def _time(self) -> tuple[int, bool]:
        """Time of a message, and whether it is only near it."""
        state = self.state
        if state.owner is not None:
            began = instant_of_uuid(state.turn)
            return began or state.at or self._file_time(), True
        if self._at is not None:
            return self._at, False
        return state.at or self._file_time(), True

    def _file_time(self) -> int:
        return self._item.mtime_ns // _NANOSECONDS


def _letters(kind: str, text: str) -> str:
    """Digest of a text without its spaces, in which forms of one message differ."""
    return fingerprint(kind, "".join(text.split()))
