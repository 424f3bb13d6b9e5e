"""What the parser remembers of a log between two runs.

It is stored as it is, before any redaction. So it holds no text of a conversation, only names of
sessions, models and places.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

_AGENTS = 200


@dataclass(slots=True)
class LogState:
    """The memory of one file.

    Attributes:
        own: id of the session, as its first event says.
        root: first working directory.
        cwd: working directory now.
        branch: git branch.
        model: model that is chosen; None when it is chosen anew for each turn.
        at: time of the latest event, milliseconds.
        ours: whether it works in Cloxy's own folder, so that nothing of it is taken.
        spoken: whether anything was said in it yet.
        silent: whether nothing spoke of a conversation so far.
        titled: rank of the best title that was told.
        agents: sub-agents that were given a title already.
    """

    own: str | None = None
    root: str | None = None
    cwd: str | None = None
    branch: str | None = None
    model: str | None = None
    at: int | None = None
    ours: bool = False
    spoken: bool = False
    silent: bool = True
    titled: int = 0
    agents: list[str] = field(default_factory=list[str])

    def first_of(self, agent: str) -> bool:
        """Whether a sub-agent is met for the first time; it is remembered."""
        if agent in self.agents:
            return False
        self.agents = [*self.agents[-_AGENTS:], agent]
        return True

    def dump(self) -> dict[str, object]:
        """The state as JSON-ready data, bounded in size."""
        return {
            "own": self.own,
            "root": self.root,
            "cwd": self.cwd,
            "branch": self.branch,
            "model": self.model,
            "at": self.at,
            "ours": self.ours,
            "spoken": self.spoken,
            "silent": self.silent,
            "titled": self.titled,
            "agents": list(self.agents),
        }


def load_state(data: Mapping[str, object]) -> LogState:
    """The state that `dump` gave; what cannot be read of it counts as not known."""
    state = LogState()
    for key in ("own", "root", "cwd", "branch", "model"):
        value = data.get(key)
        if isinstance(value, str):
            setattr(state, key, value)
    for key in ("at", "titled"):
        value = data.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            setattr(state, key, value)
    state.ours = data.get("ours") is True
    state.spoken = data.get("spoken") is True
    state.silent = data.get("silent") is not False
    agents = data.get("agents")
    state.agents = (
        [each for each in agents if isinstance(each, str)] if isinstance(agents, list) else []
    )
    return state
