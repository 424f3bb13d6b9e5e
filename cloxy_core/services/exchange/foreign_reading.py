"""From an export of another service to lines of an export of Cloxy.

Runs in a process of its own, since nobody vouches for what it reads: see `foreign`.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from typing import BinaryIO, Final

import orjson

from cloxy_core.services.exchange import foreign_chatgpt as chatgpt
from cloxy_core.services.exchange import foreign_claude_ai as claude_ai
from cloxy_core.services.exchange.foreign_archive import Archive
from cloxy_core.services.exchange.foreign_limits import LIMITS, ForeignLimits, ForeignTrouble
from cloxy_core.services.exchange.foreign_split import split_array
from cloxy_core.services.exchange.foreign_talk import NotUsableError, Object, Talk, mapping
from cloxy_core.services.exchange.form import FORMAT, VERSION, encode, time_text

ZIP: Final = b"PK"
_MOST_BAD: Final = 20
_TITLE: Final = 500
_NAME: Final = 200
_TITLE_RANK: Final = 2
"""A service's own title is better than the first words of a conversation."""

_UNKNOWN: Final = "it holds no conversations of ChatGPT or Claude.ai"
_UNKNOWN_HINT: Final = "give the zip that one of them sent, or the conversations.json in it"


@dataclass(slots=True)
class Report:
    """What was found; goes to the owner of the process as JSON.

    Attributes:
        agent: whose it is; empty when an export holds no conversation.
        conversations: conversations with messages.
        without: conversations without any.
        bad: conversations that could not be taken.
        told: of the first of them the number in the file, and why.
        first: of the earliest message, milliseconds.
        last: of the latest one.
        trouble: why reading ended early, in words.
        hint: what to do about it.
        kinds: of a memory system, how many notes of each sort it holds.
        homeless: likewise what has no place of its own here, by name.
    """

    agent: str = ""
    conversations: int = 0
    without: int = 0
    bad: int = 0
    told: list[tuple[int, str]] = field(default_factory=list)
    first: int | None = None
    last: int | None = None
    trouble: str | None = None
    hint: str | None = None
    kinds: dict[str, int] = field(default_factory=dict[str, int])
    homeless: dict[str, int] = field(default_factory=dict[str, int])

    def encoded(self) -> bytes:
        """As JSON."""
        return json.dumps(asdict(self)).encode()


@dataclass(frozen=True, slots=True)
class _Service:
    agent: str
    knows: Callable[[Object], bool]
    talk: Callable[[Object], Talk]


_SERVICES: Final = (
    _Service(chatgpt.AGENT, chatgpt.is_chatgpt, chatgpt.chatgpt_talk),
    _Service(claude_ai.AGENT, claude_ai.is_claude_ai, claude_ai.claude_ai_talk),
)


class ForeignReader:
    """Reads one file."""

    def __init__(self, limits: ForeignLimits = LIMITS) -> None:
        self.report = Report()
        self._limits = limits
        self._service: _Service | None = None
        self._number = 0
        self._sessions: set[str] = set()
        self._messages = 0

    def lines(self, file: BinaryIO) -> Iterator[bytes]:
        """Lines of an export of Cloxy; the last one only when all could be read.

        Raises:
            ForeignTrouble: the file cannot be read, or not to its end.
        """
        head: bytes | None = encode({"kind": "header", "format": FORMAT, "version": VERSION})
        for stream in self._streams(file):
            for item in split_array(stream, self._limits):
                found = self._item(item)
                if head is not None:
                    yield head
                    head = None
                if found is not None:
                    yield from self._encoded(found)
        if head is not None:
            yield head
        counts = {"sessions": len(self._sessions), "messages": self._messages, "notes": 0}
        yield encode({"kind": "end", **counts})

    def _streams(self, file: BinaryIO) -> Iterator[BinaryIO]:
        head = file.read(len(ZIP))
        file.seek(0)
        if head == ZIP:
            yield from Archive(file, self._limits).streams()
        else:
            yield file

    def _item(self, item: bytes | str) -> Talk | None:
        """A conversation; None for one without messages, and for one that is bad."""
        self._number += 1
        if isinstance(item, str):
            self._bad(item)
            return None
        try:
            value = decoded(item)
            if self._service is None:
                self._service = _recognised(value)
                self.report.agent = self._service.agent
            talk = self._service.talk(value)
        except NotUsableError as error:
            self._bad(str(error))
            return None
        except MemoryError:
            self._bad("it needs more memory than it may")
            return None
        if not talk.said:
            self.report.without += 1
            return None
        return talk

    def _bad(self, words: str) -> None:
        self.report.bad += 1
        if len(self.report.told) < _MOST_BAD:
            self.report.told.append((self._number, words))

    def _encoded(self, talk: Talk) -> Iterator[bytes]:
        agent = self.report.agent
        if talk.key not in self._sessions:
            self._sessions.add(talk.key)
            title = talk.title[:_TITLE] if talk.title else None
            yield encode(
                {
                    "kind": "session",
                    "agent": agent,
                    "key": talk.key,
                    "title": title,
                    "title_rank": _TITLE_RANK if title else 0,
                }
            )
        self.report.conversations = len(self._sessions)
        for said in talk.said:
            self._messages += 1
            if said.at is not None:
                self.report.first = min(said.at, self.report.first or said.at)
                self.report.last = max(said.at, self.report.last or said.at)
            yield encode(
                {
                    "kind": "message",
                    "agent": agent,
                    "session": talk.key,
                    "uid": said.uid,
                    "role": said.role,
                    "author": "human" if said.role == "user" else "assistant",
                    "text": said.text,
                    "time": time_text(said.at),
                    "model": said.model[:_NAME] if said.model else None,
                    "approximate": said.approximate,
                    "source": f"{agent}:export",
                }
            )


def decoded(data: bytes) -> Object:
    """The object that some bytes hold.

    Raises:
        NotUsableError: it is damaged.
    """
    try:
        return mapping(orjson.loads(data))
    except orjson.JSONDecodeError:
        pass
    try:
        # Half a character, as of a title that was cut, is refused by the faster one.
        return mapping(json.loads(data))
    except (ValueError, RecursionError):
        raise NotUsableError("it is not JSON") from None


def _recognised(value: Object) -> _Service:
    for service in _SERVICES:
        if service.knows(value):
            return service
    raise ForeignTrouble(_UNKNOWN, _UNKNOWN_HINT)
