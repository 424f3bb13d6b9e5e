"""Counts what was said in session logs of Qwen Code, by other means than the plugin's.

Whole files are looked at, by regular JSON only; a message is counted once for each uuid in a
session. Shares no code with the plugin.

    python benchmarks/agents/qwen_code_count.py FOLDER
"""

import json
import re
from collections import Counter
from pathlib import Path

from totals import main

SILENT = {"notification", "goal_runtime"}
PUT_IN = re.compile(
    r"--- Content from referenced files ---.*?(--- End of content ---|\Z)"
    r"|\A\s*<(session_context|hook_context|system-reminder|task-notification)>.*?(</\2>|\Z)"
    r"|\AI ran the following shell command:.*",
    re.DOTALL,
)

MATTERS = frozenset(
    {"uuid", "sessionId", "agentId", "forkedFrom", "messageUuid", "type", "subtype", "message"}
    | {"role", "parts", "text", "thought", "inlineData", "systemPayload", "compressedHistory"}
)


def environment(folder):
    """Variables with which the source finds a folder that has `projects` in it."""
    return {"QWEN_HOME": str(Path(folder).resolve()), "QWEN_RUNTIME_DIR": ""}


def said(record):
    """Whether a record says anything."""
    parts = record["message"]["parts"]
    if any("inlineData" in part or "fileData" in part for part in parts):
        return True
    text = "\n".join(part.get("text", "") for part in parts if not part.get("thought"))
    return bool((PUT_IN.sub("", text) if record["type"] == "user" else text).strip())


def messages(path):
    """Session, role and uuid of what a file says."""
    for raw in path.read_text(encoding="utf-8", errors="replace").split("\n"):
        if not raw.strip():
            continue
        record = json.loads(raw)
        origin = record.get("forkedFrom", record)["sessionId"]
        key = f"{origin}/{record['agentId']}" if "agentId" in record else origin
        subtype = record.get("subtype")
        if record["type"] in ("user", "assistant") and subtype not in SILENT:
            if said(record):
                yield key, record["type"], record["uuid"]
        elif subtype == "chat_compression" and record["systemPayload"]["compressedHistory"]:
            yield key, "summary", record["uuid"]


def count(folder):
    """Numbers of messages by session and role.

    Args:
        folder: with logs, at any depth.

    Returns:
        `{session: {"user": n, "assistant": n, "summary": n}}`, without sessions that say nothing.
    """
    totals = {}
    paths = [path for path in sorted(Path(folder).rglob("*.jsonl")) if path.name.count(".") == 1]
    for key, role, _uid in {found for path in paths for found in messages(path)}:
        totals.setdefault(key, Counter())[role] += 1
    recorded = set(totals)
    for path in sorted(Path(folder).rglob("tmp/*/logs.json")):
        for entry in json.loads(path.read_bytes()):
            # The list of prompts counts for sessions that have no other log.
            if entry["type"] == "user" and entry["sessionId"] not in recorded:
                totals.setdefault(entry["sessionId"], Counter())["user"] += 1
    return {key: dict(numbers) for key, numbers in totals.items()}


if __name__ == "__main__":
    main(count)
