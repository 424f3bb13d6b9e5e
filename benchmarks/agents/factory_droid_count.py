"""Counts what was said in session logs of Factory Droid, by other means than the plugin's.

Whole files are looked at, by regular JSON only; a message is counted once for each id in a
session. Shares no code with the plugin.

    python benchmarks/agents/factory_droid_count.py FOLDER
"""

import json
import re
from pathlib import Path

from totals import by_session, main

REMINDER = re.compile(
    r"\A(\s*<system-reminder>.*?(</system-reminder>|\Z))+"
    r"|(\s*<system-reminder>((?!<system-reminder>).)*</system-reminder>)+\s*\Z",
    re.DOTALL,
)
MATTERS = frozenset(
    {"type", "id", "message", "role", "content", "text", "summaryText", "visibility"}
)


def environment(folder):
    """Variables with which the source finds a folder that has `sessions` in it."""
    return {"FACTORY_DIR": str(Path(folder).resolve())}


def blocks(content):
    """Texts of a content, and whether anything else is shown in it."""
    if isinstance(content, str):
        return [content], False
    texts = [block if isinstance(block, str) else block.get("text", "") for block in content
             if isinstance(block, str) or block.get("type", "text") == "text"]  # fmt: skip
    shown = any(
        isinstance(block, dict) and block.get("type") in ("image", "document") for block in content
    )
    return texts, shown


def said(message):
    """Whether a message says anything."""
    beside = message.get("visibility") in ("llm_only", "user_only")
    if beside or message.get("hookEventName") or message.get("isUserVisible") is False:
        return False
    texts, shown = blocks(message["content"])
    if message["role"] == "user":
        texts = [REMINDER.sub("", text) for text in texts]
    return shown or any(text.strip() for text in texts)


def messages(path):
    """Session, role and id of what a file says."""
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    records = [json.loads(line) for line in lines if line.strip()]
    starts = [record for record in records if record["type"] == "session_start"]
    header = {**starts[0], **starts[0].get("session", {})} if starts else {}
    key, origin = header.get("id", path.stem), header.get("parent")
    boundary = header.get("forkedAtMessageId")
    told = [record for record in records if record["type"] == "message"]
    copied = set()
    if origin and boundary and told and not told[0].get("parentId"):
        ids = [record.get("id") for record in records]
        end = ids.index(boundary) if boundary in ids else len(ids)
        copied = set(range(end + 1))
    for number, record in enumerate(records):
        session = origin if number in copied else key
        uid = record.get("id", f"{path}:{number}")
        if record["type"] == "message" and record["message"]["role"] in ("user", "assistant"):
            if said(record["message"]):
                yield session, record["message"]["role"], uid
        elif record["type"] == "compaction_state":
            yield session, "summary", uid


def count(folder):
    """Numbers of messages by session and role.

    Args:
        folder: with logs, at any depth.

    Returns:
        `{session: {"user": n, "assistant": n, "summary": n}}`, without sessions that say nothing.
    """
    paths = [path for path in sorted(Path(folder).rglob("*.jsonl")) if path.name.count(".") == 1]
    found = {each for path in paths for each in messages(path)}
    return by_session((key, role) for key, role, _uid in found)


if __name__ == "__main__":
    main(count)
