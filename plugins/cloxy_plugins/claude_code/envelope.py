"""What stands around the content of a record: session, place, speaker."""

from cloxy_hookspecs import Author
from cloxy_plugins.claude_code.decoding import Record

_ID_LIMIT = 200
_HUMAN_SOURCES = (None, "typed", "queued")
_PLACE_LIMIT = 4096


def text_of(record: Record, key: str) -> str | None:
    """A field that is a text with something in it, else None."""
    value = record.get(key)
    return value if isinstance(value, str) and value.strip() else None


def id_of(record: Record, key: str) -> str | None:
    """A field that can serve as an id, else None."""
    value = record.get(key)
    usable = isinstance(value, str) and 0 < len(value) <= _ID_LIMIT and value.isprintable()
    return str(value) if usable else None


def cwd_of(record: Record) -> str | None:
    """The working directory, as recorded."""
    cwd = text_of(record, "cwd")
    return cwd if cwd is not None and len(cwd) <= _PLACE_LIMIT else None


def branch_of(record: Record) -> str | None:
    """The git branch; a detached `HEAD` is none."""
    branch = text_of(record, "gitBranch")
    return branch if branch != "HEAD" and len(branch or "") <= _PLACE_LIMIT else None


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
