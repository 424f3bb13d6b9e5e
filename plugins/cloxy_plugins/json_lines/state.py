"""What the parser remembers of a log between two runs: names and places."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields


@dataclass(slots=True)
class LogState:
    """The memory of one file.

    Attributes:
        session: key of the session that records are of.
        cwd: its working directory.
        branch: its git branch.
        model: name of the model that answers.
        parent: session that started it.
        title: title that it was given, until that was told.
        spoken: whether anything was said in it.
        timed: whether records of the file have times.
        heard: whether anything in the file spoke of a conversation.
    """

    session: str | None = None
    cwd: str | None = None
    branch: str | None = None
    model: str | None = None
    parent: str | None = None
    title: str | None = None
    spoken: bool = False
    timed: bool = False
    heard: bool = False

    def leave(self) -> None:
        """Forget the session, since records of another one follow."""
        self.session = self.cwd = self.branch = self.model = self.parent = self.title = None
        self.spoken = False

    def dump(self) -> dict[str, object]:
        """The state as JSON-ready data."""
        return asdict(self)


def load_state(data: Mapping[str, object]) -> LogState:
    """The state that `dump` gave; what cannot be read of it counts as not known."""
    state = LogState()
    for field in fields(LogState):
        value = data.get(field.name)
        if isinstance(field.default, bool):
            setattr(state, field.name, value is True)
        elif isinstance(value, str):
            setattr(state, field.name, value)
    return state
