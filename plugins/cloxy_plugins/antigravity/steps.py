"""What the steps of a conversation say.

A step is known by its number in the conversation, in every store of it. Transcripts are not written
in the order of the numbers.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from cloxy_hookspecs.logs.json_lines import LineRecovery
from cloxy_hookspecs.logs.json_values import Record, has_nearly, words_of
from cloxy_hookspecs.logs.turns import made_uid, message, unknown
from cloxy_hookspecs.logs.whole_lines import records_in
from cloxy_hookspecs.types.ingest import Author, Role
from cloxy_plugins.antigravity.words import model_chosen, request_of

TYPED, ANSWERED, SUMMED_UP = "USER_INPUT", "PLANNER_RESPONSE", "CHECKPOINT"
PERSON = "USER_EXPLICIT"

_ROLES: dict[str, Role] = {TYPED: "user", ANSWERED: "assistant", SUMMED_UP: "summary"}
_OF_TOOLS = "MODEL"
_NOISE = frozenset(
    {
        "CONVERSATION_HISTORY",
        "EPHEMERAL_MESSAGE",
        "ERROR_MESSAGE",
        "INVOKE_SUBAGENT",
        "KNOWLEDGE_ARTIFACTS",
        "SYSTEM_MESSAGE",
    }
)
_OF_ANSWERS = ("thinking", "tool_calls")
_KIND_LIMIT = 40
_LARGEST = 2**53
_RECOVERY = LineRecovery(
    ("step_index", "source", "type"), lambda record: "step_index" in record and "type" in record
)


@dataclass(frozen=True, slots=True)
class Step:
    """A step that says something, or may.

    Attributes:
        number: its number in the conversation; None when it has none.
        kind: type of it.
        source: whose it is, as the store has it.
        content: all of its text.
        at: its time, as the store has it.
    """

    number: int | None
    kind: str
    source: str
    content: str
    at: object


@dataclass(slots=True)
class Found:
    """What a transcript has.

    Attributes:
        steps: steps that say something.
        problems: records of what could not be read or is not known.
    """

    steps: list[Step] = field(default_factory=list[Step])
    problems: list[Record] = field(default_factory=list[Record])


def steps_in(data: bytes) -> Found:
    """The steps of a transcript; nothing raises."""
    found = Found()
    strange: Counter[str] = Counter()
    for record in records_in(data, _RECOVERY, found.problems):
        _take(found, record, strange)
    found.problems += [unknown(name, count) for name, count in strange.items()]
    return found


def merged(*stores: Iterable[Step]) -> list[Step]:
    """Steps of several stores in order; of one number the last that says something counts."""
    numbered: dict[int, Step] = {}
    others: dict[Step, None] = {}
    for step in (each for store in stores for each in store):
        if step.number is None:
            others[step] = None
        elif step.content.strip() or step.number not in numbered:
            numbered[step.number] = step
    return [*(numbered[number] for number in sorted(numbered)), *others]


def messages_of(
    key: str, steps: Iterable[Step], *, cwd: str | None, subagent: bool
) -> Iterator[Record]:
    """Records of the messages of a conversation.

    Args:
        key: its id.
        steps: its steps in order.
        cwd: its folder.
        subagent: whether another agent holds it.
    """
    model: str | None = None
    for step in steps:
        role = _ROLES[step.kind]
        text = step.content
        if role == "user":
            model = model_chosen(text) or model
            text = request_of(text)
        if not text.strip():
            continue
        uid = made_uid(role, str(step.at), text) if step.number is None else f"step-{step.number}"
        yield message(
            key,
            uid,
            role,
            _author(step, subagent=subagent),
            text,
            at=step.at,
            cwd=cwd,
            model=model if role == "assistant" else None,
        )


def _author(step: Step, *, subagent: bool) -> Author:
    if step.kind == SUMMED_UP:
        return "summary"
    if subagent:
        return "subagent"
    if step.kind == ANSWERED:
        return "assistant"
    return "human" if step.source == PERSON else "program"


def _take(found: Found, record: Record, strange: Counter[str]) -> None:
    kind, source = record.get("type"), record.get("source")
    content = record.get("content")
    if isinstance(kind, str) and kind in _ROLES:
        if not isinstance(content, str) and not (content is None and _is_wordless(record, kind)):
            strange[f"{kind} of another form"] += 1
        else:
            number = _number(record.get("step_index"))
            person = source if isinstance(source, str) else ""
            words = words_of(record, "content")
            found.steps.append(Step(number, kind, person, words, _time(record.get("created_at"))))
    elif not (isinstance(kind, str) and (kind in _NOISE or _is_of_tools(record))):
        strange[kind[:_KIND_LIMIT] if isinstance(kind, str) and kind else "(no type)"] += 1


def _is_wordless(record: Record, kind: str) -> bool:
    """Whether a step is an answer that only thinks, or calls tools."""
    beside = kind == ANSWERED and any(name in record for name in _OF_ANSWERS)
    return beside and not has_nearly(record, "content")


def _is_of_tools(record: Record) -> bool:
    """Whether a step is what a tool gave: of those there are many types, and new ones come."""
    thought = any(name in record for name in _OF_ANSWERS)
    return record.get("source") == _OF_TOOLS and not thought


def _number(value: object) -> int | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value < _LARGEST else None


def _time(value: object) -> object:
    """A time that can be told apart from others."""
    return value if isinstance(value, (str, int, float)) else None
