"""Prompts from the list that the Gemini CLI keeps of them, all that is left of old sessions.

The list is `[{sessionId, messageId, type, message, timestamp}]`; commands are in it too.
"""

from collections.abc import Collection, Mapping

import orjson

from cloxy_hookspecs.logs.instants import instant
from cloxy_plugins.gemini_cli.replay import Conversation, Replay

_SHORT = 8


def prompts_of(data: bytes, recorded: Collection[str], before: int) -> Replay:
    """Sessions of a list that have no log; never raises.

    Args:
        data: bytes of the list.
        recorded: first characters of the ids of sessions with a log.
        before: sessions whose last prompt is later are left out, milliseconds.
    """
    found = Replay()
    try:
        entries = orjson.loads(data)
    except ValueError:
        found.damage.append("not a JSON list")
        return found
    if not isinstance(entries, list):
        found.unknown["prompts"] = 1
        return found
    sessions: dict[str, Conversation] = {}
    latest: dict[str, int] = {}
    for entry in entries:
        session = entry.get("sessionId") if isinstance(entry, Mapping) else None
        if isinstance(session, str) and session[:_SHORT] in recorded:
            continue
        if not session or not isinstance(session, str) or not isinstance(entry.get("message"), str):
            found.unknown["prompt"] = found.unknown.get("prompt", 0) + 1
            continue
        at = instant(entry.get("timestamp"), 1 << 62)
        latest[session] = max(latest.get(session, 0), at or 0)
        conversation = sessions.setdefault(session, Conversation({"sessionId": session}))
        uid = f"prompt-{entry.get('messageId')}"
        conversation.messages[uid] = {
            "id": uid,
            "timestamp": entry.get("timestamp"),
            "type": entry.get("type"),
            "content": entry.get("message"),
        }
    found.conversations = [
        conversation for session, conversation in sessions.items() if latest[session] < before
    ]
    return found
