"""Counts what was said in transcripts of Windsurf, by other means than the plugin's.

Steps with words of a person or of the agent are counted, file by file, by regular JSON only. Shares
no code with the plugin.

    python benchmarks/agents/windsurf_count.py FOLDER
"""

import json
from collections import Counter
from pathlib import Path

from totals import main

WORDS = {"user_input": ("user", "user_response"), "planner_response": ("assistant", "response")}
MATTERS = frozenset({"type", "user_input", "user_response", "planner_response", "response"})


def environment(folder):
    """Variables with which the source finds a home folder that has `.windsurf` in it."""
    home = str(Path(folder).resolve())
    return {"HOME": home, "USERPROFILE": home}


def count(folder):
    """Numbers of messages by session and role.

    Args:
        folder: a home folder, with transcripts in `.windsurf/transcripts`.

    Returns:
        `{session: {"user": n, "assistant": n}}`, without sessions that say nothing.
    """
    totals = {}
    for path in sorted(Path(folder).glob(".windsurf/transcripts/*.jsonl")):
        numbers = Counter()
        for line in path.read_text(encoding="utf-8").split("\n"):
            step = json.loads(line or "{}")
            role, field = WORDS.get(step.get("type"), ("", ""))
            if role and step.get(step["type"], {}).get(field, "").strip():
                numbers[role] += 1
        if numbers:
            totals[path.stem] = dict(numbers)
    return totals


if __name__ == "__main__":
    main(count)
