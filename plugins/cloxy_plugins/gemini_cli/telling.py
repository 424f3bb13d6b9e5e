"""The records in which the source tells the parser what a log holds."""

import json
from collections.abc import Iterator

import orjson

from cloxy_hookspecs.logs.json_values import Record, id_of
from cloxy_plugins.gemini_cli.content import AGENTS, THANKS, answered, is_state
from cloxy_plugins.gemini_cli.replay import Conversation
from cloxy_plugins.gemini_cli.roots import Place, short_id

SESSION = "session"
MESSAGE = "message"
DAMAGE = "damage"
UNKNOWN = "unknown"


def lines_of(conversation: Conversation, place: Place, cwd: str | None) -> Iterator[Record]:
    """Records of one session: what is known of it, then its messages.

    Args:
        conversation: the session.
        place: where its log lies.
        cwd: its working directory.
    """
    head = conversation.head
    own = id_of(head, "sessionId") or (place.name if place.parent else short_id(place.name))
    key = own if place.parent is None else f"{place.parent}/{own}"
    common = {
        "session": key,
        "cwd": cwd,
        "subagent": place.parent is not None or head.get("kind") == "subagent",
    }
    yield {
        "record": SESSION,
        **common,
        "parent": place.parent,
        "title": head.get("summary"),
        "at": head.get("startTime") or head.get("lastUpdated"),
    }
    messages = list(conversation.messages.values())
    for number, message in enumerate(messages):
        if _is_thanks(message):
            continue
        behind = messages[number + 1] if number + 1 < len(messages) else {}
        summary = message.get("type") == "user" and (is_state(message) or _is_thanks(behind))
        yield {"record": MESSAGE, **message, **common, "summary": summary}


def damage(reason: str) -> Record:
    """Record of a damaged place."""
    return {"record": DAMAGE, "reason": reason}


def unknown(kind: str, count: int) -> Record:
    """Record of things of no known form."""
    return {"record": UNKNOWN, "kind": kind, "count": count}


def encode_record(record: Record) -> bytes:
    """A record as JSON, whatever numbers it holds."""
    try:
        return orjson.dumps(record)
    except TypeError:
        return json.dumps(record).encode()


def _is_thanks(message: Record) -> bool:
    # The agent itself has a model's name on what it says.
    return (
        message.get("type") in AGENTS
        and not message.get("model")
        and answered(message).strip() == THANKS
    )
