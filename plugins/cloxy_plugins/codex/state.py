"""What a parser remembers of a rollout between two runs.

It is stored as it is, before any redaction. So it holds no text of a conversation, only digests
of the last of them, and names: of threads, turns, models and places.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Literal, get_args

from cloxy_plugins.codex.meta import Speaker

Copy = Literal["", "keep", "drop"]
"""Whether lines repeat another thread: not, and then told as that one's, or left out."""

_BYTES = 9
_HEARD = 64
_POSITIONS = 8
_PLACES = 64
_PARTS = 8
_IMAGES = 16


def fingerprint(*parts: str) -> str:
    """A short digest of texts, to see that they came before."""
    text = "\0".join(parts)
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_BYTES).hexdigest()


@dataclass(slots=True)
class RolloutState:
    """The memory of one file.

    Attributes:
        own: id of the thread that the file is of; None before its meta line.
        born: when that thread was started, milliseconds.
        parent: the thread that it came from.
        relation: what it is to its parent.
        speaker: who speaks in the user's role.
        program: whether a program holds the conversation.
        ours: whether it works in Cloxy's own folder, so that nothing of it is taken.
        spoken: whether anything was said in it yet.
        copy: whether the lines repeat another thread.
        owner: the thread that they repeat, if they are told as its lines.
        guest: who speaks in the user's role there.
        guest_root: its working directory.
        seen: time of the latest line of a copy, milliseconds.
        root: first working directory.
        cwd: working directory now.
        branch: git branch.
        model: model of the turn.
        at: time of the latest line, milliseconds.
        turn: id of the turn; None where turns have none.
        number: how many user's messages there were.
        events: whether the user's messages come as events since the last meta line.
        images: what stands for pictures of a user's item whose event is yet to come.
        parts: digests of the parts of the user's item that was taken last.
        titled: rank of the best title that was told.
        silent: whether nothing spoke of a conversation so far.
        heard: how often a text was taken, and how often each form of record brought it.
        places: how many messages a turn has, by role.
    """

    own: str | None = None
    born: int | None = None
    parent: str | None = None
    relation: str | None = None
    speaker: Speaker = "human"
    program: bool = False
    ours: bool = False
    spoken: bool = False
    copy: Copy = ""
    owner: str | None = None
    guest: Speaker = "human"
    guest_root: str | None = None
    seen: int | None = None
    root: str | None = None
    cwd: str | None = None
    branch: str | None = None
    model: str | None = None
    at: int | None = None
    turn: str | None = None
    number: int = 0
    events: bool = False
    images: list[str] = field(default_factory=list[str])
    parts: list[str] = field(default_factory=list[str])
    titled: int = 0
    silent: bool = True
    heard: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    places: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])

    def hear(self, text: str, form: int, *, wanted: bool = True) -> bool:
        """Note that a form of record brought a text; whether it is to be taken.

        A message stands in several forms, in any order. It is taken from the form that is ahead:
        as often as the form that brought it most often.

        Args:
            text: digest of the text.
            form: 0 to 2.
            wanted: whether messages of this form are taken at all.
        """
        counts = self.heard.pop(text, None) or [0, 0, 0, 0]
        counts[form + 1] += 1
        taken = wanted and counts[form + 1] > counts[0]
        counts[0] += taken
        self.heard[text] = counts
        if len(self.heard) > _HEARD:
            del self.heard[next(iter(self.heard))]
        return taken

    def has_heard(self, text: str) -> bool:
        """Whether any form of record brought a text lately."""
        return text in self.heard

    def place(self, position: str, role: str) -> int:
        """How many messages of a role came before in a turn; counts one more."""
        roles = self.places.pop(position, None) or {}
        index = roles.pop(role, 0)
        roles[role] = index + 1
        if len(roles) > _PLACES:
            del roles[next(iter(roles))]
        self.places[position] = roles
        if len(self.places) > _POSITIONS:
            del self.places[next(iter(self.places))]
        return index

    def segment(self) -> None:
        """Begin anew with telling forms of records apart, as each start of the program does."""
        self.events = False
        self.images = []
        self.parts = []
        self.heard = {}

    def hand_to(self, copy: Copy, owner: str | None) -> None:
        """Take what comes as the lines of a thread, which counts its messages by itself."""
        self.segment()
        if owner != self.owner:
            self.turn, self.number, self.places = None, 0, {}
        self.copy, self.owner = copy, owner

    def dump(self) -> dict[str, object]:
        """The state as JSON-ready data, bounded in size."""
        return {
            "own": self.own,
            "born": self.born,
            "parent": self.parent,
            "relation": self.relation,
            "speaker": self.speaker,
            "program": self.program,
            "ours": self.ours,
            "spoken": self.spoken,
            "copy": self.copy,
            "owner": self.owner,
            "guest": self.guest,
            "guest_root": self.guest_root,
            "seen": self.seen,
            "root": self.root,
            "cwd": self.cwd,
            "branch": self.branch,
            "model": self.model,
            "at": self.at,
            "turn": self.turn,
            "number": self.number,
            "events": self.events,
            "images": self.images[:_IMAGES],
            "parts": self.parts[:_PARTS],
            "titled": self.titled,
            "silent": self.silent,
            "heard": [[text, *counts] for text, counts in self.heard.items()],
            "places": [[position, list(roles.items())] for position, roles in self.places.items()],
        }


def load_state(data: Mapping[str, object]) -> RolloutState:
    """The state that `dump` gave; what cannot be read of it counts as not known."""
    state = RolloutState()
    for key in (
        "own",
        "parent",
        "relation",
        "owner",
        "guest_root",
        "root",
        "cwd",
        "branch",
        "model",
        "turn",
    ):
        value = data.get(key)
        if isinstance(value, str):
            setattr(state, key, value)
    for key in ("born", "seen", "at", "number", "titled"):
        value = data.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            setattr(state, key, value)
    for key in ("program", "ours", "spoken", "events"):
        setattr(state, key, data.get(key) is True)
    state.silent = data.get("silent") is not False
    state.speaker = _speaker(data.get("speaker"))
    state.guest = _speaker(data.get("guest"))
    state.copy = next((c for c in get_args(Copy) if c == data.get("copy")), "")
    state.images = _texts(data.get("images"))
    state.parts = _texts(data.get("parts"))
    for text, *counts in _rows(data.get("heard")):
        if isinstance(text, str) and len(counts) == 4:
            state.heard[text] = [n if isinstance(n, int) else 0 for n in counts]
    for position, *rest in _rows(data.get("places")):
        if isinstance(position, str):
            state.places[position] = {
                str(role): n
                for role, n in (row for row in _rows(rest[0] if rest else None) if len(row) == 2)
                if isinstance(n, int)
            }
    return state


def _speaker(value: object) -> Speaker:
    return next((speaker for speaker in get_args(Speaker) if speaker == value), "human")


def _texts(value: object) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def _rows(value: object) -> Iterator[list[object]]:
    for row in value if isinstance(value, list) else ():
        if isinstance(row, list | tuple) and row:
            yield list(row)
