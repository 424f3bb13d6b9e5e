"""Sessions as text for a terminal.

Stored text is escaped and indented, so that it neither acts on a terminal nor passes for a line of
ours.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from cloxy_core.cli import fields, output

TITLE = 60
"""Characters of a title that a list shows."""

INDENT = "   "
DAMAGED = "(its text is damaged; run `cloxy doctor`)"
_SPEAKERS = {
    ("user", "human"): "the user",
    ("user", "program"): "a program in the user's place",
    ("assistant", "assistant"): "the assistant",
}
_AUTHORS = {"subagent": "a sub-agent", "summary": "a summary", "own": "Cloxy's own model"}
_FOLDERS = re.compile(r"[\\/]+")


def list_lines(sessions: Sequence[Mapping[str, object]]) -> Iterator[str]:
    """A table of sessions."""
    if sessions:
        heading = ("DATE", "AGENT", "PROJECT", "TITLE", "MESSAGES", "ID")
        yield from output.table([heading, *map(_row, sessions)])


def _row(session: Mapping[str, object]) -> tuple[str, ...]:
    title = fields.text(session, "title")
    project = fields.text(session, "project")
    parts = [part for part in _FOLDERS.split(project) if part]
    return (
        fields.local_time(fields.text(session, "ended_at") or fields.text(session, "started_at")),
        fields.text(session, "agent"),
        parts[-1] if parts else project,
        title if len(title) <= TITLE else title[: TITLE - 1] + "…",
        f"{fields.count(session, 'messages'):,}",
        fields.text(session, "id"),
    )


def facts(session: Mapping[str, object]) -> list[tuple[str, str]]:
    """What is known of a session, as names and values; values are not safe yet."""
    times = [fields.text(session, name) for name in ("started_at", "ended_at")]
    span = " to ".join(fields.local_time(time) for time in times if time)
    parent = fields.text(session, "parent")
    relation = fields.text(session, "relation") or "part"
    children = list(fields.records(session, "children"))
    known = [
        ("agent", fields.text(session, "agent")),
        ("id", fields.text(session, "id")),
        ("project", fields.text(session, "project")),
        ("folder", _other_folder(session)),
        ("branch", fields.text(session, "branch")),
        ("time", span),
        ("messages", f"{fields.count(session, 'total'):,}"),
        ("came from", f"{parent} ({relation})" if parent else ""),
        *((fields.text(child, "relation") or "part", _child(child)) for child in children),
        ("resume", fields.text(fields.record(session, "resume"), "line")),
    ]
    return [(name, value) for name, value in known if value]


def _other_folder(session: Mapping[str, object]) -> str:
    folder = fields.text(session, "cwd")
    return "" if folder == fields.text(session, "project") else folder


def _child(child: Mapping[str, object]) -> str:
    title = fields.text(child, "title")
    return " · ".join(part for part in (fields.text(child, "id"), title) if part)


def head_lines(session: Mapping[str, object], *, raw: bool = False) -> Iterator[str]:
    """Title and facts of a session.

    Args:
        session: as the server tells it.
        raw: whether stored text is printed as it is.
    """
    safe = _as_it_is if raw else output.escape
    yield output.bold(safe(fields.text(session, "title") or "(no title)"))
    known = facts(session)
    width = max(len(name) for name, _value in known) if known else 0
    for name, value in known:
        yield f"{INDENT}{safe(name).ljust(width)}  {safe(value)}"


def message_lines(
    message: Mapping[str, object], *, here: int | None = None, raw: bool = False
) -> Iterator[str]:
    """A message, with an empty line before it.

    Args:
        message: as the server tells it.
        here: number of the message that was asked for; None when none was.
        raw: whether stored text is printed as it is.
    """
    number = fields.count(message, "number")
    mark = "  <- here" if here is not None and number == here else ""
    safe = _as_it_is if raw else output.escape
    yield ""
    yield output.bold(f"{number}. {safe(' · '.join(message_facts(message)))}{mark}")
    text = fields.text(message, "text")
    shown = DAMAGED if message.get("damaged") is True else text
    shown = shown if raw else output.escape(shown, lines=True)
    # The indent is what tells stored lines from ours.
    for line in shown.split("\n"):
        yield f"{INDENT}{line}".rstrip(" ")


def message_facts(message: Mapping[str, object]) -> list[str]:
    """Speaker, time and model of a message, of whichever are known; not safe yet."""
    role, author = fields.text(message, "role"), fields.text(message, "author")
    speaker = _SPEAKERS.get((role, author)) or _AUTHORS.get(author) or f"{role} ({author})"
    time = fields.local_time(fields.text(message, "at"))
    if time and message.get("approximate") is True:
        time = f"about {time}"
    return [part for part in (speaker, time, fields.text(message, "model")) if part]


def _as_it_is(text: object) -> str:
    return str(text)
