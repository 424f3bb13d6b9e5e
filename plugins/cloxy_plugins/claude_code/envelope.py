"""What stands around the content of a record: session, place, speaker."""

from cloxy_hookspecs import Author
from cloxy_hookspecs.logs.json_values import Record, text_of

_HUMAN_SOURCES = (None, "typed", "queued")


def branch_of(record: Record) -> str | None:
    """The git branch; a detached `HEAD` is none."""
    branch = text_of(record, "gitBranch")
    return branch if branch != "HEAD" else None


def is_program(record: Record) -> bool:
    """Whether a program runs the session through an SDK."""
    entrypoint = record.get("entrypoint")
    return isinstance(entrypoint, str) and entrypoint.startswith("sdk")


def speaker_of(record: Record) -> Author | None:
    """Who speaks in a user line outside of a sub-agent; None for the harness.

    In doubt it is a program, not a person.
    """
    origin = record.get("origin")
    kind = origin.get("kind") if isinstance(origin, dict) else origin
    source = record.get("promptSource")
    if kind == "task-notification" or source == "system":
        return None
    human = kind == "human" if kind is not None else source in _HUMAN_SOURCES
    return "human" if human and not is_program(record) else "program"
