"""Counts what was said in sessions of the Gemini CLI, by other means than the plugin's.

All messages that ever stood in any file of a session are gathered by their ids, the latest form of
each is looked at. Shares no code with the plugin.

    python benchmarks/agents/gemini_cli_count.py FOLDER
"""

import json
import re
from pathlib import Path

from totals import by_session, main

PUT_IN = re.compile(
    r"--- Content from referenced files ---.*?(--- End of content ---|\Z)"
    r"|\A\s*<(session_context|hook_context)>.*?(</\2>|\Z)"
    r"|\AI ran the following shell command:.*"
    r"|\A(/[a-z?]+(\s.*)?|\?)\Z",
    re.DOTALL,
)
ROLES = {"user": "user", "gemini": "assistant"}
MATTERS = frozenset(
    {"id", "sessionId", "type", "content", "displayContent", "text", "thought", "inlineData"}
    | {"$set", "$rewindTo", "messages", "messageId", "message"}
)


def environment(folder):
    """Variables with which the source finds a folder that has `.gemini` in it."""
    return {"GEMINI_CLI_HOME": str(Path(folder).resolve())}


def text_of(content):
    """Words of a content in any of its forms, an image as a word."""
    parts = content if isinstance(content, list) else [content]
    found = [part if isinstance(part, str) else part.get("text", "") for part in parts if part]
    found += ["image" for part in parts if isinstance(part, dict) and "inlineData" in part]
    return "\n".join(found)


def messages(path):
    """Session and message of everything that a file ever held."""
    raw = path.read_text(encoding="utf-8", errors="replace")
    records = [json.loads(raw)] if path.suffix == ".json" else map(json.loads, raw.splitlines())
    session = None
    for record in records:
        fields = record.get("$set", record)
        session = fields.get("sessionId", session)
        for message in [*fields.get("messages", ()), *([record] if "type" in record else ())]:
            inside = path.parent.name != "chats"
            yield f"{path.parent.name}/{session}" if inside else session, message


def role_of(message):
    """Who speaks in a message; None when nobody does."""
    role = ROLES.get(message["type"])
    shown = text_of(message.get("displayContent")) or text_of(message["content"])
    if role == "user" and shown.startswith("<state_snapshot"):
        return "summary"
    return role if (PUT_IN.sub("", shown) if role == "user" else shown).strip() else None


def count(folder):
    """Numbers of messages by session and role.

    Args:
        folder: with `.gemini` in it.

    Returns:
        `{session: {"user": n, "assistant": n, "summary": n}}`, without sessions that say nothing.
    """
    tmp = Path(folder) / ".gemini" / "tmp"
    latest = {}
    for path in [*sorted(tmp.glob("*/chats/session-*.json*")), *tmp.glob("*/chats/*/*.jsonl")]:
        for session, message in messages(path):
            if message.get("content") or (session, message["id"]) not in latest:
                latest[session, message["id"]] = message
    known = {session for session, _uid in latest}
    for path in tmp.glob("*/logs.json"):
        for entry in json.loads(path.read_text(encoding="utf-8")):
            if entry["sessionId"] not in known:
                prompt = {"type": "user", "content": entry["message"]}
                latest[entry["sessionId"], entry["messageId"]] = prompt
    said = ((session, role_of(message)) for (session, _uid), message in latest.items())
    return by_session((session, role) for session, role in said if role is not None)


if __name__ == "__main__":
    main(count)
