"""Transcripts of Windsurf made by the tests."""

import json
from pathlib import Path

from cloxy_hookspecs import SourceItem
from cloxy_hookspecs.logs.documents import Document
from cloxy_hookspecs.logs.turns import TurnParser, raw_lines
from cloxy_plugins.windsurf.steps import records_of

NOW = 1_800_000_000_000
WRITTEN = 1_790_000_000_000
SESSION = "3f6d1a90-0000-4000-8000-0000000000e1"


def step(kind, told=None, **more):
    return {"status": "done", "type": kind, kind: told if told is not None else {}, **more}


def user(words):
    return step("user_input", {"user_response": words, "rules_applied": {}})


def agent(words):
    return step("planner_response", {"response": words})


def tool(kind="code_action"):
    return step(kind, {"path": "a.py", "new_content": "secret = 1"})


def lines(*steps):
    return b"".join(json.dumps(each).encode() + b"\n" for each in steps)


def chat():
    return [user("why does it flake?"), tool("grep_search"), agent("A clock race."), tool()]


def parse(data, *, name=SESSION):
    """The result of a whole transcript."""
    path = Path("/home/ann/.windsurf/transcripts") / f"{name}.jsonl"
    document = Document(path.parent, path, data, WRITTEN * 1_000_000)
    item = SourceItem(str(path), "1:1", len(data), WRITTEN * 1_000_000)
    records = list(raw_lines(records_of(document), 0))
    return TurnParser("/srv/cloxy", lambda: NOW).parse(item, records, {})


def said(*steps):
    return [(m.role, m.author, m.text) for m in parse(lines(*steps)).messages]


def put(home, data, name=SESSION):
    """Write a transcript where Windsurf does."""
    path = home / ".windsurf" / "transcripts" / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path
