"""Counts what was said in chat sessions of VS Code, by other means than the plugin's.

Whole files are looked at, by regular JSON only; of several files of a session the fullest counts.
A request is a question if it has a text or a picture, and has an answer if any Markdown part of its
response has a word that is no fence. Shares no code with the plugin.

    python benchmarks/agents/copilot_vscode_count.py FOLDER
"""

import json
from collections import Counter
from pathlib import Path

from scratch import scratch
from totals import main


def environment(folder):
    """Variables with which the source finds a folder that holds `User`."""
    user = next(path for path in [Path(folder), *sorted(Path(folder).rglob("User"))]
                if path.name == "User")  # fmt: skip
    return {"VSCODE_PORTABLE": str(portable(user))}


def portable(user):
    """A folder in which `user-data` leads to the parent of a `User` folder."""
    place = scratch("vscode")
    (place / "user-data").symlink_to(user.resolve().parent)
    return place


def state(path):
    """The session in a file."""
    if path.suffix == ".json":
        return json.loads(path.read_text(encoding="utf-8"))
    session = {}
    for line in path.read_text(encoding="utf-8").split("\n"):
        if not line.strip():
            continue
        step = json.loads(line)
        if step["kind"] == 0:
            session = step["v"]
            continue
        *way, last = step["k"]
        target = session
        for key in way:
            target = target[key]
        if step["kind"] == 1:
            if isinstance(target, list) and last == len(target):
                target.append(None)
            target[last] = step.get("v")
        elif step["kind"] == 2:
            values = target.setdefault(last, []) if isinstance(target, dict) else target[last]
            if "i" in step:
                values[step["i"] :] = []
            values += step.get("v") or []
        elif step["kind"] == 3:
            target.pop(last, None)
    return session


def answers(response):
    """Whether a response says anything."""
    for part in response or []:
        value = part.get("value") if isinstance(part, dict) and "kind" not in part else None
        value = value.get("value") if isinstance(value, dict) else value
        if isinstance(value, str) and value.strip().strip("`").strip():
            return True
    return False


def numbers(session):
    found = Counter()
    for request in session.get("requests") or []:
        variables = (request.get("variableData") or {}).get("variables") or []
        picture = any(variable.get("kind") == "image" for variable in variables)
        found["user"] += bool(request["message"]["text"].strip() or picture)
        found["assistant"] += answers(request.get("response"))
    return {role: number for role, number in found.items() if number}


def count(folder):
    """Numbers of messages by session and role; sessions without a word left out."""
    totals = {}
    for path in sorted(Path(folder).rglob("*.json*")):
        if path.suffix not in (".json", ".jsonl") or "hat" not in path.parent.name:
            continue
        session = state(path)
        found = numbers(session)
        key = session.get("sessionId", path.stem)
        if sum(found.values()) > sum(totals.get(key, {}).values()):
            totals[key] = found
    return totals


if __name__ == "__main__":
    main(count)
