"""What the parser remembers of a session between two runs; no text of a conversation."""

from collections.abc import Mapping
from dataclasses import dataclass

from cloxy_hookspecs.logs.json_values import whole_of


@dataclass(slots=True)
class TalkState:
    """The memory of one session.

    Attributes:
        key: its id.
        directory: its working directory.
        child: whether another session's agent speaks in the user's role.
        ours: whether it works in Cloxy's own folder, so that nothing of it is taken.
        spoken: whether anything was said in it yet.
        titled: whether its first words were told as title.
        silent: whether it had no message so far.
        at: time of the latest message, milliseconds.
    """

    key: str | None = None
    directory: str | None = None
    child: bool = False
    ours: bool = False
    spoken: bool = False
    titled: bool = False
    silent: bool = True
    at: int | None = None

    def dump(self) -> dict[str, object]:
        """The state as JSON-ready data."""
        return {
            "key": self.key,
            "directory": self.directory,
            "child": self.child,
            "ours": self.ours,
            "spoken": self.spoken,
            "titled": self.titled,
            "silent": self.silent,
            "at": self.at,
        }


def load_state(data: Mapping[str, object]) -> TalkState:
    """The state that `dump` gave; what cannot be read of it counts as not known."""
    state = TalkState()
    for key in ("key", "directory"):
        value = data.get(key)
        if isinstance(value, str):
            setattr(state, key, value)
    for key in ("child", "ours", "spoken", "titled"):
        setattr(state, key, data.get(key) is True)
    state.silent = data.get("silent") is not False
    state.at = whole_of(data, "at")
    return state
