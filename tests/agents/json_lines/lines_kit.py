"""Logs of an agent that nobody knows, and descriptions of it, made by the tests."""

import json
import tomllib
from pathlib import Path

from agents.line_logs import parse_in_runs

from cloxy_hookspecs import SourceItem
from cloxy_hookspecs.logs.turns import TurnParser
from cloxy_plugins.json_lines.descriptions import of_document, read_descriptions
from cloxy_plugins.json_lines.parser import RecordParser

NOW = 1_800_000_000_000
WRITTEN = 1_790_000_000_000
HOME = Path("/home/ann")
PATHS = 'paths = ["/srv/agent/**/*.jsonl"]\n'

PLAIN = """
session = "meta.session"
id = "uid"
role = "said.by"
text = "said.parts[type=text].text"
time = "at"
cwd = "meta.cwd"
branch = "meta.branch"
model = "meta.model"
session_title = "[kind=title].title"
parent = "meta.parent"
subagent = "meta.agent"
"""


def describe(folder, words, *, name="my-agent", head=PATHS):
    """The agent of a description, read from a file."""
    file = folder / "json_lines.toml"
    file.write_text(f"[agents.{name}]\n{head}{words}", encoding="utf-8")
    (agent,) = read_descriptions(file, HOME, named=True).agents
    return agent


def rules(words=""):
    """The format of a description that has nothing wrong in it."""
    document = tomllib.loads(f"[agents.my-agent]\n{PATHS}{words}")
    (agent,) = of_document(document, HOME, b"").agents
    assert not agent.problem, agent.problem
    return agent.format


def says(by, words, uid=None, **more):
    """A record of a message; `more` are fields of its head."""
    record = {"kind": "message", "said": {"by": by, "parts": [{"type": "text", "text": words}]}}
    if uid is not None:
        record |= {"uid": uid, "at": f"2026-04-12T18:17:{len(uid):02}.000Z"}
    return record | ({"meta": more} if more else {})


def lines(*records):
    return b"".join(json.dumps(each).encode() + b"\n" for each in records)


def parser(words=PLAIN):
    return RecordParser(TurnParser("/srv/cloxy", lambda: NOW), rules(words))


def item_for(data=b"", name="talk.jsonl"):
    return SourceItem(f"/srv/agent/{name}", "1:1", len(data), WRITTEN * 1_000_000)


def parse(data, words=PLAIN, *, cuts=(), **more):
    """Messages, facts and the last result, read in runs that end at some lines."""
    data = data if isinstance(data, bytes) else lines(*data)
    return parse_in_runs(parser(words), item_for(data, **more), data, cuts)


def said(data, words=PLAIN, **more):
    return [
        (message.role, message.author, message.text) for message in parse(data, words, **more)[0]
    ]
