"""What one record says, or why it says nothing."""

from dataclasses import dataclass

from cloxy_hookspecs import Author, Role
from cloxy_hookspecs.logs.json_values import Record
from cloxy_plugins.json_lines.formats import IGNORED, SPEAKERS, Format
from cloxy_plugins.json_lines.words import joined, without_blocks

_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Said:
    """What a record says.

    Attributes:
        role: whose turn it was.
        author: who wrote it.
        text: the words.
    """

    role: Role
    author: Author
    text: str


@dataclass(frozen=True, slots=True)
class Left:
    """A record that gives no message.

    Attributes:
        reason: why, for people.
        kind: what it is counted as among what is not known; empty for what is left out by a rule.
        speaks: whether it is of the kind that makes a conversation.
    """

    reason: str
    kind: str = ""
    speaks: bool = True


def judged(record: Record, rules: Format) -> Said | Left:
    """What a record says by the rules of an agent."""
    for condition in rules.where:
        if not condition.holds(record):
            return Left(f"where: not {condition.words}", speaks=False)
    for condition in rules.unless:
        if condition.holds(record):
            return Left(f"unless: {condition.words}", speaks=False)
    roles = [_shown(value) for value in rules.values(record, "role")]
    if not roles:
        return Left(f"no role: nothing at {rules.told('role')}", kind="(no role)")
    name = roles[0]
    speaker = rules.roles.get(name)
    if speaker == IGNORED:
        return Left(f"ignore: the role is {name}", speaks=False)
    if speaker is None:
        return Left(f"the role is {name}, which no list has", kind=f"role {name}")
    text = joined(rules.values(record, "text"))
    if not text:
        kind = f"role {name} without text" if rules.lacks(record, "text") else ""
        return Left(f"no words: nothing at {rules.told('text')}", kind=kind)
    role, author = SPEAKERS[speaker]
    if role == "user":
        text = without_blocks(text, rules.drop_tags)
        if not text.strip():
            return Left("no words outside of drop_tags")
    return Said(role, author, text)


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)[:_SHOWN] if isinstance(value, (str, int, float)) else ""
