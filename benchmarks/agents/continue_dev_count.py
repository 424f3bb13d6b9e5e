"""Counts what was said in Continue's sessions, by other means than the plugin's.

A file beside `sessions.json` is a session. An entry of its history is a message when its content
has a text or a picture, thoughts at the start of an answer left out; a summary beside it is one
more, unless it is the content itself. Shares no code with the plugin.

    python benchmarks/agents/continue_dev_count.py FOLDER
"""

import json
import re
from collections import Counter
from pathlib import Path

from scratch import scratch
from totals import main


def environment(folder):
    """Variables with which the source finds a folder that holds `sessions`."""
    place = next((each.parent for each in Path(folder).rglob("sessions")), None)
    return {"CONTINUE_GLOBAL_DIR": str(place.resolve() if place else scratch("none"))}


def said(message):
    """Whether somebody said something."""
    content = message.get("content") or ""
    if isinstance(content, list):
        if any(part["type"] == "imageUrl" for part in content):
            return True
        content = " ".join(part.get("text") or "" for part in content)
    if message["role"] == "assistant" and content.lstrip().startswith("<think>"):
        content = re.split("</think>", content, maxsplit=1)[1:] and content.split("</think>", 1)[1]
    return bool(content and content.strip())


def count(folder):
    """Numbers of messages by session and role; sessions without a word left out."""
    totals = {}
    for path in sorted(Path(folder).rglob("sessions/*.json")):
        if path.name == "sessions.json":
            continue
        session = json.loads(path.read_text())
        found = Counter()
        for item in session["history"]:
            message, summary = item["message"], item.get("conversationSummary")
            found["summary"] += bool(summary)
            if message["role"] in ("user", "assistant") and message["content"] != summary:
                found[message["role"]] += said(message)
        if sum(found.values()):
            totals[session["sessionId"]] = {role: n for role, n in found.items() if n}
    return totals


if __name__ == "__main__":
    main(count)
