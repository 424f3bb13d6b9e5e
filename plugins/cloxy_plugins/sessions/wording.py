"""Outputs as text for a model: plain here; the door puts a fence around it.

A field never leaves its line, and a text cannot begin a line as an item of ours begins.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Final

from cloxy_plugins.sessions.models import (
    ListedOutput,
    MessageOutput,
    SessionOutput,
    SessionsOutput,
)

_ITEM: Final = re.compile(r"^(?=#\d+ \[)", re.MULTILINE)
_SPEAKERS: Final = {
    ("user", "human"): "the user",
    ("user", "program"): "a program in the user's place",
    ("assistant", "assistant"): "the assistant",
}


def listed(output: SessionsOutput) -> str:
    """One line a session."""
    lines = [_line(session) for session in output.sessions] or ["No sessions were found."]
    if output.next is not None and output.sessions:
        lines.append("(There are older ones: give an earlier `until`, or a higher `limit`.)")
    return "\n".join(lines)


def shown(output: SessionOutput) -> str:
    """A stretch of a session: what it is, and its messages."""
    parts = ["\n".join(_head(output)), *map(_message, output.messages)]
    if output.next is not None:
        parts.append(f"(It goes on: call again with start={output.next}.)")
    return "\n\n".join(parts)


def _line(session: ListedOutput) -> str:
    facts = [
        _local(session.ended_at or session.started_at),
        _one_line(session.agent),
        _one_line(session.project),
        _one_line(session.title) or "no title",
        _count(session.messages),
    ]
    if session.relation:
        facts.append(f"a {session.relation} of {_one_line(session.parent) or 'another'}")
    return f"{' · '.join(fact for fact in facts if fact)} (id {_one_line(session.id)})"


def _head(output: SessionOutput) -> Iterator[str]:
    title = _one_line(output.title) or "no title"
    yield f"Session {_one_line(output.id)} of {_one_line(output.agent)}: {title}"
    if output.project:
        branch = f", branch {_one_line(output.branch)}" if output.branch else ""
        yield f"project {_one_line(output.project)}{branch}"
    if output.parent:
        yield f"{output.relation or 'part'} of the session {_one_line(output.parent)}"
    if output.children:
        yield "sessions out of it: " + ", ".join(_one_line(one.id) for one in output.children)
    span = f"from {_local(output.started_at)} to {_local(output.ended_at)}"
    yield f"{_count(output.total)}, {span}"
    if output.here is not None:
        yield f"the memory asked for is message {output.here}"


def _message(message: MessageOutput) -> str:
    near = "about " if message.approximate else ""
    speaker = _SPEAKERS.get((message.role, message.author)) or _speaker(message)
    model = f", {_one_line(message.model)}" if message.model else ""
    return f"#{message.number} [{near}{_local(message.at)}] {speaker}{model}\n{_text(message)}"


def _text(message: MessageOutput) -> str:
    if message.withheld:
        return "(left out: what Cloxy's own model answered is not told to a model again)"
    return "(its text is damaged)" if message.damaged else _ITEM.sub(r"\\", message.text)


def _speaker(message: MessageOutput) -> str:
    return {"subagent": "a sub-agent", "summary": "a summary", "own": "Cloxy's own model"}.get(
        message.author, f"{message.role} ({message.author})"
    )


def _count(messages: int) -> str:
    return f"{messages:,} message{'' if messages == 1 else 's'}"


def _one_line(text: str | None) -> str:
    return " ".join((text or "").split())


def _local(at: str | None) -> str:
    """An instant as people of this machine write it, to the minute."""
    if at is None:
        return "time unknown"
    try:
        return datetime.fromisoformat(at).astimezone().strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):
        return at
