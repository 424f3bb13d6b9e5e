"""Counts what was said in threads of Amp, by other means than the plugin's.

Whole files are looked at, by regular JSON only. A message of the user or the assistant counts if a
text of it is not empty, and each that has a summary. Shares no code with the plugin.

    python benchmarks/agents/amp_count.py FOLDER
"""

import json
from collections import Counter
from pathlib import Path

from totals import main


def numbers(thread):
    """Messages of a thread by role."""
    found = Counter()
    for message in thread["messages"]:
        kinds = {block["type"] for block in message["content"]
                 if block["type"] == "summary" or block.get("text", "").strip()}  # fmt: skip
        found["summary"] += "summary" in kinds
        if message["role"] in ("user", "assistant"):
            found[message["role"]] += "text" in kinds
    return {role: number for role, number in found.items() if number}


def count(folder):
    """Numbers of messages by session and role; threads without a word left out."""
    totals = {}
    for path in sorted(Path(folder).rglob("T-*.json")):
        thread = json.loads(path.read_bytes())
        if found := numbers(thread):
            totals[thread["id"]] = found
    return totals


if __name__ == "__main__":
    main(count)
