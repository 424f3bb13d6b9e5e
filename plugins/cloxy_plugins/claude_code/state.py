"""What a parser remembers of a file between two runs.

It is stored as it is, before any redaction. So it holds no text of a conversation, only what
cannot be turned back into it.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

from cloxy_hookspecs.logs.turns import fingerprint

_SESSIONS = 16
_SAID = 64
_RECENT = 32
_DIGEST_DIGITS = 24
_DIGITS = frozenset("0123456789abcdef")


@dataclass(slots=True)
class SessionMark:
    """What is known of a session already.

    Attributes:
        rank: rank of the best title that was told.
        placed: whether its working directory was told.
        own: whether it works in Cloxy's own folder, so that nothing of it is taken.
    """

    rank: int = 0
    placed: bool = False
    own: bool = False


class FileState:
    """The memory of one file."""

    def __init__(self) -> None:
        self.sessions: dict[str, SessionMark] = {}
        self.last: str | None = None
        self.silent = True
        self.recent: deque[str] = deque(maxlen=_RECENT)
        self._said: dict[str, bool] = {}

    def meet(self, uuid: str) -> None:
        """Note the id of a record; as a digest, since the record may be forgotten one day."""
        self.recent.append(fingerprint(uuid))

    def met(self, uuid: str) -> bool:
        """Whether a record of this id came lately."""
        return fingerprint(uuid) in self.recent

    def mark(self, key: str) -> SessionMark:
        """The mark of a session; a new one when it was not met before."""
        mark = self.sessions.get(key)
        if mark is None:
            mark = self.sessions[key] = SessionMark()
        return mark

    def say(self, key: str, text: str) -> bool:
        """Note that words were said in a session; whether they are new there, lately."""
        digest = fingerprint(key, text)
        new = self._said.pop(digest, True)
        self._said[digest] = False
        if len(self._said) > _SAID:
            del self._said[next(iter(self._said))]
        return new

    def dump(self) -> dict[str, object]:
        """The state as JSON-ready data, bounded in size."""
        latest = list(self.sessions.items())[-_SESSIONS:]
        return {
            "sessions": {key: [mark.rank, mark.placed, mark.own] for key, mark in latest},
            "last": self.last,
            "silent": self.silent,
            "recent": list(self.recent),
            "said": list(self._said),
        }


def load_state(data: Mapping[str, object]) -> FileState:
    """The state that `dump` gave; what cannot be read of it counts as not known."""
    state = FileState()
    sessions = data.get("sessions")
    if isinstance(sessions, Mapping):
        for key, values in sessions.items():
            if isinstance(key, str) and isinstance(values, list | tuple) and len(values) == 3:
                rank = values[0] if isinstance(values[0], int) else 0
                state.sessions[key] = SessionMark(rank, bool(values[1]), bool(values[2]))
    last = data.get("last")
    state.last = last if isinstance(last, str) else None
    state.silent = data.get("silent") is not False
    # Earlier versions noted the ids themselves.
    state.recent.extend(
        text if _is_digest(text) else fingerprint(text) for text in _texts(data.get("recent"))
    )
    state._said.update(dict.fromkeys(_texts(data.get("said"))[-_SAID:], False))
    return state


def _texts(value: object) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def _is_digest(text: str) -> bool:
    return len(text) == _DIGEST_DIGITS and _DIGITS.issuperset(text)
