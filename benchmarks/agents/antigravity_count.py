"""Counts what was said in the stores of Antigravity, by other means than the plugin's.

Whole transcripts are looked at, by regular JSON only; a step is counted once for its number in a
conversation. Databases of conversations without a transcript are read with plain SQL, and texts are
found in the steps by the bytes before them. Shares no code with the plugin.

    python benchmarks/agents/antigravity_count.py FOLDER
"""

import json
import re
import sqlite3
from collections import Counter
from pathlib import Path

from scratch import copied_database
from totals import main

ROLES = {"USER_INPUT": "user", "PLANNER_RESPONSE": "assistant", "CHECKPOINT": "summary"}
STEPS = {14: "user", 15: "assistant", 23: "summary"}
# Tag of the message with the text, its length, then the tag of the text: 19.2, 20.1 and 30.4.
TEXTS = {
    14: rb"\x9a\x01[\x00-\xff]{1,3}?\x12",
    15: rb"\xa2\x01[\x00-\xff]{1,3}?\x0a",
    23: rb"\xf2\x01[\x00-\xff]{1,3}?\x22",
}
MATTERS = frozenset({"step_index", "source", "type", "content", "thinking", "tool_calls"})


def environment(folder):
    """Variables with which the sources find `.gemini` in a folder."""
    return {"HOME": str(Path(folder).resolve()), "USERPROFILE": str(Path(folder).resolve())}


def said(record):
    """Whether a step says anything."""
    content = record.get("content") or ""
    if record["type"] == "USER_INPUT":
        content = re.sub(r"<(ADDITIONAL_METADATA|USER_SETTINGS_CHANGE)>.*", "", content, flags=re.S)
        content = re.sub(r"</?USER_REQUEST>", "", content)
    return bool(content.strip())


def of_transcripts(folder, totals):
    steps = {}
    for path in Path(folder).rglob(".system_generated/logs/transcript*.jsonl"):
        for line in path.read_text("utf-8").split("\n"):
            record = json.loads(line) if line.strip() else {}
            if record.get("type") in ROLES and said(record):
                conversation = path.parts[-4]
                steps[conversation, record["step_index"]] = ROLES[record["type"]]
    for (conversation, _number), role in steps.items():
        totals.setdefault(conversation, Counter())[role] += 1


def of_database(path, totals):
    found = Counter()
    rows = sqlite3.connect(copied_database(path)).execute(
        "SELECT step_type, step_payload FROM steps"
    )
    for kind, payload in rows:
        if kind in STEPS and re.search(TEXTS[kind], payload, re.S):
            found[STEPS[kind]] += 1
    if found:
        totals[path.stem] = found


def count(folder):
    """Numbers of messages by session and role; sessions without a word left out."""
    totals = {}
    of_transcripts(folder, totals)
    for path in sorted(Path(folder).rglob("conversations/*.db")):
        if path.stem not in totals:
            of_database(path, totals)
    return {key: dict(numbers) for key, numbers in totals.items()}


if __name__ == "__main__":
    main(count)
