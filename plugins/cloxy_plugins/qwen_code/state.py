"""What the parser remembers of a log between two runs.

It is stored as it is, before any redaction. So it holds no text of a conversation, only names of
sessions and places.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from cloxy_hookspecs.logs.json_values import whole_of

_SESSIONS = 50


@dataclass(slots=True)
class LogState:
    """The memory of one file.

    Attributes:
        parent: session that the file's session was branched off, or that started it.
        branched: whether it is a branch.
        started: whether another session started it, which speaks in the user's role.
        cwd: first working directory.
        branch: last git branch.
        at: time of the latest record, milliseconds.
        ours: whether it works in Cloxy's own folder, so that nothing of it is taken.
        silent: whether nothing spoke of a conversation so far.
        titled: rank of the best title that was told, by session in which something was said.
    """

    parent: str | None = None
    branched: bool = False
    started: bool = False
    cwd: str | None = None
    branch: str | None = None
    at: int | None = None
    ours: bool = False
    silent: bool = True
    titled: dict[str, int] = field(default_factory=dict[str, int])

    def meet(self, session: str) -> None:
        """Remember that something was said in a session."""
        self.titled.setdefault(session, 0)
        if len(self.titled) > _SESSIONS:
            del self.titled[next(iter(self.titled))]

    def title(self, session: str, rank: int) -> bool:
        """Whether a title is at least as good as the best so far; it is remembered.

        A session in which nothing was said has none.
        """
        if rank < self.titled.get(session, rank + 1):
            return False
        self.titled[session] = rank
        return True

    def dump(self) -> dict[str, object]:
        """The state as JSON-ready data, bounded in size."""
        return {
            "parent": self.parent,
            "branched": self.branched,
            "started": self.started,
            "cwd": self.cwd,
            "branch": self.branch,
            "at": self.at,
            "ours": self.ours,
            "silent": self.silent,
            "titled": dict(self.titled),
        }


def load_state(data: Mapping[str, object]) -> LogState:
    """The state that `dump` gave; what cannot be read of it counts as not known."""
    state = LogState()
    for key in ("parent", "cwd", "branch"):
        value = data.get(key)
        if isinstance(value, str):
            setattr(state, key, value)
    state.at = whole_of(data, "at")
    for key in ("branched", "started", "ours"):
        setattr(state, key, data.get(key) is True)
    state.silent = data.get("silent") is not False
    titled = data.get("titled")
    for session, rank in titled.items() if isinstance(titled, Mapping) else ():
        if isinstance(session, str) and isinstance(rank, int):
            state.titled[session] = rank
    return state
