"""What the first line of a rollout says about its thread."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from cloxy_hookspecs import Author, Relation
from cloxy_hookspecs.logs.instants import instant, instant_of_uuid
from cloxy_hookspecs.logs.json_values import id_of, text_of

Record = Mapping[str, object]
Speaker = Literal["human", "program", "subagent", "compact"]
"""Who speaks in the user's role; `compact` is a worker that writes a summary."""

_PEOPLE = frozenset({"cli", "vscode"})
_MACHINES = frozenset({"exec", "mcp", "internal"})
_NO_PERSON = ("exec", "sdk", "mcp")
_KNOWN_FRONT = "codex"


@dataclass(frozen=True, slots=True)
class Thread:
    """A thread, as its meta line tells of it.

    Attributes:
        id: its id.
        at: when it was started, milliseconds; None when that is not told.
        parent: the thread that it was forked from, or that started it.
        forked: whether it begins with a copy of its parent's turns.
        relation: what it is to its parent.
        speaker: who speaks in the user's role.
        program: whether a program holds the conversation.
        cwd: working directory.
        branch: git branch.
    """

    id: str
    at: int | None
    parent: str | None
    forked: bool
    relation: Relation | None
    speaker: Speaker
    program: bool
    cwd: str | None
    branch: str | None


def thread_of(meta: Record, latest: int) -> Thread | None:
    """The thread of a meta line; None when it has no id.

    Args:
        meta: the payload, or the whole line where nothing is wrapped.
        latest: last plausible point in time.
    """
    identifier = id_of(meta, "id") or id_of(meta, "session_id")
    if identifier is None:
        return None
    source = meta.get("source")
    started = _started_by(meta, source)
    forked = id_of(meta, "forked_from_id")
    speaker, program = _speaker(meta, source, started=started is not None)
    parent = started or forked
    relation: Relation | None = None
    if parent is not None:
        relation = "subagent" if started or speaker in ("subagent", "compact") else "fork"
    return Thread(
        id=identifier,
        at=instant_of_uuid(identifier) or instant(meta.get("timestamp"), latest),
        parent=parent,
        forked=forked is not None,
        relation=relation,
        speaker=speaker,
        program=program,
        cwd=place_of(meta),
        branch=branch_of(meta),
    )


def author_of_user(speaker: Speaker) -> Author:
    """Who wrote what stands in the user's role."""
    return "program" if speaker == "compact" else speaker


def place_of(record: Record) -> str | None:
    """The working directory, as recorded."""
    return text_of(record, "cwd")


def branch_of(meta: Record) -> str | None:
    """The git branch; a detached `HEAD` is none."""
    git = meta.get("git")
    branch = text_of(git, "branch") if isinstance(git, Mapping) else None
    return branch if branch != "HEAD" else None


def _started_by(meta: Record, source: object) -> str | None:
    """The thread that started this one as its sub-agent."""
    found = id_of(meta, "parent_thread_id")
    if found is not None or not isinstance(source, Mapping):
        return found
    agent = source.get("subagent")
    spawn = agent.get("thread_spawn") if isinstance(agent, Mapping) else None
    return id_of(spawn, "parent_thread_id") if isinstance(spawn, Mapping) else None


def _speaker(meta: Record, source: object, *, started: bool) -> tuple[Speaker, bool]:
    """Who speaks, and whether a program holds the conversation; in doubt it is no person."""
    kind, detail = _kind_of(source)
    if "compact" in (kind, detail):
        return "compact", True
    if kind in ("subagent", "review") or meta.get("thread_source") == "subagent" or started:
        return "subagent", False
    front = meta.get("originator")
    front = front.lower() if isinstance(front, str) else ""
    if kind in _MACHINES or any(word in front for word in _NO_PERSON):
        return "program", True
    if meta.get("thread_source") not in (None, "", "user"):
        return "program", True
    # Programs of others write rollouts, too; who types there is not known.
    known = not front or front.startswith(_KNOWN_FRONT)
    return ("human" if known and kind in (None, *_PEOPLE) else "program"), False


def _kind_of(source: object) -> tuple[str | None, str | None]:
    """The kind of a source, and what kind of sub-agent it is."""
    if isinstance(source, str):
        return source.lower() or None, None
    if not isinstance(source, Mapping) or not source:
        return None if source is None else "unknown", None
    kind, value = next(iter(source.items()))
    if isinstance(value, Mapping) and value:
        value = next(iter(value))
    return str(kind).lower().replace("sub_agent", "subagent"), (
        value.lower() if isinstance(value, str) else None
    )
