"""How logs of an agent that nobody knows are described, for `mutations.py`.

The folder has logs, and `description.toml`, which is the inside of a table `[agents.tried]` but for
`paths`. What the source makes of logs is compared with other sources by `json_lines_check.py`.
"""

import json
from pathlib import Path

from scratch import scratch


def settings(folder):
    """Settings with which the source finds the logs of a folder."""
    described = scratch("described") / "json_lines.toml"
    words = (Path(folder) / "description.toml").read_text("utf-8")
    described.write_text(f'[agents.tried]\npaths = ["{folder}/**/*.jsonl"]\n{words}', "utf-8")
    return {"json_lines.file": str(described)}


def well_formed(path, data):
    """Whether each line says something where the agent says it: `said.by` with `said.parts`.

    What else stands there nobody knows of an agent that is not known: a part of another type, or a
    record of another kind, may be its own.
    """
    if path.suffix != ".jsonl":
        return True
    try:
        records = [json.loads(line) for line in data.decode("utf-8").split("\n") if line.strip()]
    except (ValueError, RecursionError):
        return False
    return all(map(_is_whole, records))


def _is_whole(record):
    if not isinstance(record, dict):
        return False
    said = record.get("said")
    if said is None:
        return record.get("kind") in ("start", "title")
    if not isinstance(said, dict) or not isinstance(said.get("parts"), list):
        return False
    texts = [part.get("text") for part in said["parts"]
             if isinstance(part, dict) and part.get("type") == "text"]  # fmt: skip
    return said.get("by") in ("user", "assistant", "tool", "weird") and all(
        isinstance(text, str) for text in texts
    )
