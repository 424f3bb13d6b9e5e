"""Keeping a turn of a chat and its answer, where the client asks for it."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import PurePosixPath, PureWindowsPath

from cloxy_hookspecs import (
    Author,
    ChatMessage,
    CloxyError,
    Conversation,
    HostContext,
    Message,
    Role,
    SessionFacts,
    TranscriptKeeper,
)
from cloxy_plugins.model_api.errors import told
from cloxy_plugins.model_api.memory_place import human_turns
from cloxy_plugins.model_api.memory_wish import MemoryWish
from cloxy_plugins.model_api.turn_words import spoken

AGENT = "cloxy"
SECONDS = 10.0
"""What keeping may delay the end of an answer; it goes on behind."""
TITLE = 80
NOT_KEPT = "the turn was not kept"


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn of a person that is to be kept.

    Attributes:
        session: key of its session.
        cwd: folder that it is about; None when it names none.
        position: place of the turn in the conversation, system messages aside.
        answer_position: place of the answer.
        text: what the person said.
        title: beginning of the conversation.
        at: when it was said, milliseconds.
    """

    session: str
    cwd: str | None
    position: int
    answer_position: int
    text: str
    title: str
    at: int


class TurnKeeper:
    """Keeps turns as transcripts."""

    def __init__(self, context: HostContext, seconds: float = SECONDS) -> None:
        """Take what it needs of the host.

        Args:
            context: the host.
            seconds: how long an answer waits for it.
        """
        self._keeper = context.maybe(TranscriptKeeper)
        self._clock, self._log = context.clock, context.log
        self._seconds = seconds
        self._running: set[asyncio.Task[str | None]] = set()

    def turn(
        self,
        messages: Sequence[ChatMessage],
        wish: MemoryWish,
        humans: Sequence[int] | None = None,
    ) -> Turn | None:
        """The turn that a request is about; None when it has none, or it is not to be kept.

        Args:
            messages: the conversation as the client sent it, without memories.
            wish: what is wanted.
            humans: indices of the turns in which a person speaks; every user's turn when None.
        """
        turns = human_turns(messages) if humans is None else sorted(humans)
        if not wish.store or not turns:
            return None
        first, last = (spoken(messages[turn].text) for turn in (turns[0], turns[-1]))
        now = self._clock.now_ms()
        return Turn(
            session=wish.session or _session(first, now),
            cwd=wish.project if _is_absolute(wish.project) else None,
            position=_position(messages, turns[-1]),
            answer_position=_position(messages, len(messages)),
            text=last,
            title=" ".join(first[: TITLE * 4].split())[:TITLE],
            at=now,
        )

    async def keep(self, turn: Turn, answer: str) -> str | None:
        """Keep a turn and its answer; a note when that failed.

        Args:
            turn: the turn.
            answer: the text of the answer; empty when there is none.
        """
        task = self._begin(turn, answer)
        done, _ = await asyncio.wait({task}, timeout=self._seconds)
        return task.result() if done else f"{NOT_KEPT} yet: the memory is busy"

    def keep_behind(self, turn: Turn, answer: str = "") -> None:
        """Keep a turn without waiting for it, when nobody reads the answer any more."""
        self._begin(turn, answer)

    async def settled(self) -> None:
        """Wait until everything that was begun is done."""
        if self._running:
            await asyncio.wait(self._running)

    def _begin(self, turn: Turn, answer: str) -> asyncio.Task[str | None]:
        # A task of its own: a client that goes away must not cut a write short.
        task = asyncio.create_task(self._kept(turn, answer))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task

    async def _kept(self, turn: Turn, answer: str) -> str | None:
        if self._keeper is None:
            return f"{NOT_KEPT}: nothing here keeps conversations"
        try:
            await self._keeper.keep(_conversation(turn, answer, self._clock.now_ms()))
        except CloxyError as error:
            self._log.warning("a turn of a chat was not kept: %s", error.code)
            return f"{NOT_KEPT}: {error.message}"
        except Exception as error:
            # The answer stands without it; the log names the place.
            self._log.error("a turn of a chat was not kept: %s", told(error))
            return f"{NOT_KEPT}: the memory failed"
        return None


def _conversation(turn: Turn, answer: str, now: int) -> Conversation:
    messages = [_message(turn, turn.position, "user", "human", turn.text, turn.at)]
    if answer.strip():
        said = _message(turn, turn.answer_position, "assistant", "own", answer, now)
        messages.append(said)
    facts = SessionFacts(key=turn.session, cwd=turn.cwd, title=turn.title or None)
    return Conversation(
        agent=AGENT, place=turn.session, messages=messages, facts={turn.session: facts}
    )


def _message(turn: Turn, position: int, role: Role, author: Author, text: str, at: int) -> Message:
    named = "\0".join((turn.session, str(position), role, text)).encode("utf-8", "replace")
    return Message(
        uid=sha256(named).hexdigest()[:32],
        session=turn.session,
        role=role,
        author=author,
        text=text,
        at=at,
        start=position,
        end=position + 1,
        cwd=turn.cwd,
    )


def _session(first: str, now: int) -> str:
    day = f"{datetime.fromtimestamp(now / 1000, UTC):%Y-%m-%d}"
    return "chat-" + sha256(f"{day}\0{first}".encode("utf-8", "replace")).hexdigest()[:24]


def _position(messages: Sequence[ChatMessage], index: int) -> int:
    return sum(message.role != "system" for message in messages[:index])


def _is_absolute(path: str | None) -> bool:
    if not path:
        return False
    return PurePosixPath(path).is_absolute() or PureWindowsPath(path).is_absolute()
