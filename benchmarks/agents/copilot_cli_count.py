"""Counts what was said in event logs of the Copilot CLI, by other means than the plugin's.

Whole files are looked at, by regular JSON only; a message is counted once for each event id in a
session. Shares no code with the plugin.

    python benchmarks/agents/copilot_cli_count.py FOLDER
"""

import json
from pathlib import Path

from totals import by_session, main

SUMMARIES = {
    "session.compaction_complete": "summaryContent",
    "session.task_complete": "summary",
    "session.handoff": "summary",
}

MATTERS = frozenset(
    {"type", "data", "id", "content", "source", "attachments", "summaryContent", "summary"}
    | {"agentId", "parentToolCallId"}
)


def logs(folder):
    """Paths of logs: a folder each, or in the flat form a file each."""
    for path in sorted(Path(folder).rglob("*.jsonl")):
        if path.name == "events.jsonl" or path.parent in (
            Path(folder),
            Path(folder, "session-state"),
        ):
            yield path


def messages(path):
    """Session, role and event id of what a file says."""
    raw = path.read_text(encoding="utf-8", errors="replace").split("\n")
    events = [json.loads(line) for line in raw if line.strip().startswith("{")]
    starts = [e["data"]["sessionId"] for e in events if e["type"] == "session.start"]
    named = path.parent.name if path.name == "events.jsonl" else path.stem
    session = starts[0] if starts else named
    for event in events:
        data, kind = event["data"], event["type"]
        agent = event.get("agentId") or data.get("parentToolCallId")
        key = f"{session}/{agent}" if agent else session
        said = data.get("content") if kind in ("user.message", "assistant.message") else None
        if kind == "user.message" and not str(data.get("source") or "").startswith(
            ("skill", "system")
        ):
            if (said or "").strip() or data.get("attachments"):
                yield key, "user", event["id"]
        elif kind == "assistant.message" and (said or "").strip():
            yield key, "assistant", event["id"]
        elif kind in SUMMARIES and (data.get(SUMMARIES[kind]) or "").strip():
            yield key, "summary", event["id"]


def count(folder):
    """Numbers of messages by session and role.

    Args:
        folder: with logs, at any depth.

    Returns:
        `{session: {"user": n, "assistant": n, "summary": n}}`, without sessions that say nothing.
    """
    found = {each for path in logs(folder) for each in messages(path)}
    return by_session((key, role) for key, role, _uid in found)


if __name__ == "__main__":
    main(count)
