"""What a record of an agent means: who speaks in it, in what words, in which session."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cloxy_hookspecs import Author, Role
from cloxy_hookspecs.logs.json_values import Record
from cloxy_plugins.json_lines.fields import FieldPath, field_path, matches

FIELDS = (
    "session", "id", "role", "text", "time", "cwd", "branch", "model", "session_title", "parent",
    "subagent",
)  # fmt: skip
"""What can be said where it stands."""

SPEAKERS: Mapping[str, tuple[Role, Author]] = {
    "user": ("user", "human"),
    "assistant": ("assistant", "assistant"),
    "summary": ("summary", "summary"),
    "program": ("user", "program"),
}
"""Whose turn it was and who wrote it, by the key under which values of the role are listed."""

IGNORED = "ignore"

USUAL_ROLES: Mapping[str, Sequence[str]] = {
    "user": ("user", "human"),
    "assistant": ("assistant", "ai", "agent", "model"),
    "summary": ("summary",),
    IGNORED: ("system", "developer", "tool", "function"),
}

USUAL_FIELDS: Mapping[str, Sequence[str]] = {
    "role": ("role",),
    "text": ("text", "content", "content[].text"),
    "time": ("time", "timestamp"),
}


@dataclass(frozen=True, slots=True)
class Condition:
    """What stands in a field.

    Attributes:
        path: the field.
        wanted: one of these, as `matches` compares.
    """

    path: FieldPath
    wanted: tuple[str, ...]

    def holds(self, record: Record) -> bool:
        """Whether any value of the field is one of the wanted ones."""
        return any(
            matches(value, each) for value in self.path.values(record) for each in self.wanted
        )

    @property
    def words(self) -> str:
        """The condition for people."""
        return f"{self.path.text} = {' | '.join(self.wanted)}"


def _usual_fields() -> Mapping[str, tuple[FieldPath, ...]]:
    return {name: tuple(map(field_path, paths)) for name, paths in USUAL_FIELDS.items()}


def _usual_roles() -> Mapping[str, str]:
    return {value: key for key, values in USUAL_ROLES.items() for value in values}


@dataclass(frozen=True, slots=True)
class Format:
    """How the records of an agent are read.

    Attributes:
        fields: where things stand, by name; of several paths the first with a value counts.
        roles: key of `SPEAKERS`, or `IGNORED`, by the value of the role.
        where: conditions that all have to hold.
        unless: conditions of which none may hold.
        drop_tags: names of tags whose blocks are taken out of what a user says.
    """

    fields: Mapping[str, tuple[FieldPath, ...]] = field(default_factory=_usual_fields)
    roles: Mapping[str, str] = field(default_factory=_usual_roles)
    where: tuple[Condition, ...] = ()
    unless: tuple[Condition, ...] = ()
    drop_tags: tuple[str, ...] = ()

    def values(self, record: Record, name: str) -> Sequence[object]:
        """What stands in a record under a name."""
        for path in self.fields.get(name, ()):
            values = path.values(record)
            if any(_tells(value) for value in values):
                return values
        return ()

    def lacks(self, record: Record, name: str) -> bool:
        """Whether a record has none of the fields of a name, not even an empty one."""
        found = [path.is_there(record) for path in self.fields.get(name, ())]
        return False in found and True not in found

    def told(self, name: str) -> str:
        """Where a thing is looked for, for people."""
        return " or ".join(path.text for path in self.fields.get(name, ())) or "(nowhere)"


def _tells(value: object) -> bool:
    """Whether a value is a text or a number; a list or an object is not what was meant."""
    if isinstance(value, str):
        return bool(value.strip())
    return isinstance(value, (int, float))
