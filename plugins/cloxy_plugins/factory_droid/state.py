"""What the parser remembers of a log between two runs: names and places."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields


@dataclass(slots=True)
class LogState:
    """The memory of one file.

    Attributes:
        session: key of its session, as the header says.
        cwd: working directory.
        title: title that the header gave, until something is said.
        rank: how good that title is.
        parent: session that started it, or that it is a copy of.
        forked: whether it is a copy.
        copied: id of the last message that was copied, while it has not come yet.
        agent: whether a sub-agent speaks in it.
        begun: whether a message was seen.
        heard: whether anything spoke of a conversation.
    """

    session: str | None = None
    cwd: str | None = None
    title: str | None = None
    rank: int = 0
    parent: str | None = None
    forked: bool = False
    copied: str | None = None
    agent: bool = False
    begun: bool = False
    heard: bool = False

    def dump(self) -> dict[str, object]:
        """The state as JSON-ready data."""
        return asdict(self)


def load_state(data: Mapping[str, object]) -> LogState:
    """The state that `dump` gave; what cannot be read of it counts as not known."""
    state = LogState()
    for field in fields(LogState):
        value = data.get(field.name)
        if isinstance(getattr(state, field.name), bool):
            setattr(state, field.name, value is True)
        elif isinstance(value, bool):
            continue
        elif isinstance(value, int if field.name == "rank" else str):
            setattr(state, field.name, value)
    return state
