"""Counts what was said in tasks of Cline, by other means than the plugin's.

Whole files are looked at, by regular JSON only. What the window shows counts where it is there,
else what was sent to a model: there a message of the user counts if a wrapper of a person's words
is in it, one of the assistant if anything is left beside its tool calls, or if it ends the task.
Sessions of Cline 4 count message by message. Shares no code with the plugin.

    python benchmarks/agents/cline_count.py FOLDER
"""

import json
import re
from collections import Counter
from pathlib import Path

from scratch import scratch
from totals import main

SHOWN, SENT = "ui_messages.json", "api_conversation_history.json"
HUMAN = {"task", "user_feedback"}
SPOKEN = {"say": {"text", "completion_result", "plan_completion_result"},
          "ask": {"followup", "plan_mode_respond", "act_mode_respond"}}  # fmt: skip
MATTERS = frozenset(
    {"ts", "type", "say", "ask", "text", "images", "contextCondense", "summary", "messages"}
    | {"role", "content", "id", "name", "input", "result", "question", "response", "tool_use_id"}
    | {"metadata", "kind"}
)
WRAPPED = re.compile(r"<(task|feedback|answer|user_message)>\s*\S")
CALLS = re.compile(r"<(?!result|question|response)(\w+)>.*?(?:</\1>|\Z)", re.S)


def environment(folder):
    """Variables with which the sources find a folder with `User`, or with Cline's own `data`."""
    place = scratch("cline")
    for user in sorted(Path(folder).rglob("User")):
        (place / "user-data").symlink_to(user.resolve().parent)
        break
    data = next(iter(sorted(Path(folder).rglob("data"))), place / "none")
    return {"VSCODE_PORTABLE": str(place), "CLINE_DATA_DIR": str(data.resolve())}


def of_window(messages):
    """Messages by role of what the window shows."""
    found, result, steps = Counter(), None, False
    tasks = [each for each in messages if each.get("say") in ("text", "task")][:1]
    for each in messages:
        kind = each.get("say") or each.get("ask")
        text = (each.get("text") or "").removesuffix("HAS_CHANGES").strip()
        if each in tasks or kind in HUMAN:
            found["user"] += bool(text or each.get("images"))
        elif kind == "task_progress":
            steps = steps or bool(text)
        elif kind == "completion_result":
            found["assistant"] += bool(text) and text != result
            result = text
        elif kind in SPOKEN[each["type"]]:
            fields = json.loads(text) if text.startswith("{") else {"question": text}
            found["assistant"] += bool(fields.get("question") or fields.get("response"))
            found["user"] += bool(fields.get("selected"))
        elif kind == "condense_context":
            found["summary"] += bool((each.get("contextCondense") or {}).get("summary"))
        elif kind == "tool" and '"tool":"summarizeTask"' in text:
            found["summary"] += 1
        elif kind in ("condense", "new_task"):
            found["summary"] += bool(text)
    found["assistant"] += steps
    return found


def of_model(messages):
    """Messages by role of what was sent."""
    found = Counter()
    for each in messages:
        content = each["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        text = "\n".join(block.get("text", "") for block in blocks if block["type"] == "text")
        if each["role"] == "user":
            found["user"] += bool(WRAPPED.search(text))
        else:
            ends = any(block.get("name") == "attempt_completion" for block in blocks)
            found["assistant"] += ends or bool(CALLS.sub("", text).strip())
    return found


def of_session(messages):
    """Messages by role of a session of Cline 4."""
    found = Counter()
    for each in messages:
        content = each["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        text = "".join(block["text"] for block in blocks if block["type"] == "text")
        if text.strip() and not each.get("metadata", {}).get("kind"):
            found[each["role"]] += 1
    return found


def count(folder):
    """Numbers of messages by session and role; tasks without a word left out."""
    totals = {}
    for path in sorted(Path(folder).rglob("*.json")):
        if path.name == SHOWN:
            found, key = of_window(json.loads(path.read_bytes())), path.parent.name
        elif path.name == SENT and not path.with_name(SHOWN).exists():
            found, key = of_model(json.loads(path.read_bytes())), path.parent.name
        elif path.name.endswith(".messages.json"):
            key = path.parent.name
            stem = path.name.removesuffix(".messages.json")
            found = of_session(json.loads(path.read_bytes())["messages"])
            key = key if stem == key else f"{key}/{stem}"
        else:
            continue
        if found := {role: number for role, number in found.items() if number}:
            totals[key] = found
    return totals


if __name__ == "__main__":
    main(count)
