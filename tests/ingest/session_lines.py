"""Lines of Claude Code's session files, for tests."""

import itertools
import json
import time
from datetime import UTC, datetime

_COUNTER = itertools.count(1)
START = 1_780_000_000_000


def instant(number):
    """An instant as the agent writes it, one second a number."""
    return datetime.fromtimestamp(START / 1000 + number, UTC).isoformat().replace("+00:00", "Z")


def now(offset_seconds=0.0):
    """The present as the agent writes it."""
    return datetime.fromtimestamp(time.time() + offset_seconds, UTC).isoformat()


def said(text, uid=None, *, session="s1", role="user", at=None, **more):
    """The record of one message."""
    number = next(_COUNTER)
    record = {
        "type": role,
        "uuid": uid or f"u{number}",
        "sessionId": session,
        "cwd": "/srv/demo/app",
        "gitBranch": "main",
        "timestamp": at or instant(number),
        "message": {"role": role, "content": text},
    }
    return record | more


def line(record):
    """A record as the bytes of a whole line."""
    return json.dumps(record, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"


def lines(*records):
    """Several whole lines."""
    return b"".join(map(line, records))


def turns(count, *, session="s1", stem="turn", first=0, **more):
    """A conversation: user and assistant take turns; ids and texts by number."""
    return [
        said(
            f"{stem} {number} of {session}",
            f"{session}-{stem}-{number}",
            session=session,
            role="user" if number % 2 == 0 else "assistant",
            at=instant(number),
            **more,
        )
        for number in range(first, first + count)
    ]


def pairs(*records):
    """Id and text of each record, as they are expected to be stored."""
    return [(record["uuid"], record["message"]["content"]) for record in records]


def title(text, *, session="s1", kind="ai-title"):
    """The record of a title."""
    field = {"ai-title": "aiTitle", "custom-title": "customTitle", "agent-name": "agentName"}[kind]
    return {"type": kind, field: text, "sessionId": session}
