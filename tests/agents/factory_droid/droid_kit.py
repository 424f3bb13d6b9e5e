"""Session logs of Droid made by the tests."""

import json
from datetime import UTC, datetime, timedelta

from agents.line_logs import parse_in_runs

from cloxy_hookspecs import SourceItem
from cloxy_hookspecs.logs.turns import TurnParser
from cloxy_plugins.factory_droid.parser import RecordParser

NOW = 1_800_000_000_000
START = datetime(2026, 4, 12, 18, 17, tzinfo=UTC)
SESSION = "7c1d0b52-0000-4000-8000-0000000000d1"
CWD = "/srv/harbour"


class Log:
    """A header and records, each a while after the one before and chained to it."""

    def __init__(self, session=SESSION, *, prefix="d", **header):
        self.prefix = prefix
        self.at = START
        self.last = None
        known = {"id": session, "title": "New Session", "sessionTitle": "New Session"}
        known |= {"owner": "ann", "version": 2, "cwd": CWD}
        self.lines = [{"type": "session_start", **known, **header}]

    def stamp(self):
        self.at += timedelta(seconds=2)
        return self.at.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def record(self, kind, /, **more):
        self.lines.append({"type": kind, **more})
        return self

    def says(self, role, content, /, **more):
        """A message; `more` are fields of the message itself."""
        uid = f"{self.prefix}{len(self.lines)}"
        chain = {"parentId": self.last} if self.last else {}
        message = {"role": role, "content": content, **more}
        self.last = uid
        return self.record("message", id=uid, timestamp=self.stamp(), **chain, message=message)

    def user(self, *texts, **more):
        return self.says("user", [text(each) for each in texts], **more)

    def agent(self, *texts, **more):
        thought = {"type": "thinking", "thinking": "I should answer.", "text": "I should answer."}
        call = {"type": "tool_use", "id": "t", "name": "Read", "input": {"file_path": "secret"}}
        blocks = [thought, *(text(each) for each in texts), call]
        return self.says("assistant", blocks, modelId="model-d", **more)

    def both(self, question, answer):
        return self.user(question).agent(answer)

    def tool(self):
        result = {"type": "tool_result", "tool_use_id": "t", "content": [text("secret = 1")]}
        return self.says("user", [result])

    def data(self):
        return b"".join(json.dumps(line).encode() + b"\n" for line in self.lines)


def text(words):
    return {"type": "text", "text": words}


def item_for(data=b"", name=f"-srv-harbour/{SESSION}.jsonl"):
    return SourceItem(f"/srv/factory/sessions/{name}", "1:1", len(data), NOW * 1_000_000)


def parser():
    return RecordParser(TurnParser("/srv/cloxy", lambda: NOW))


def parse(log, *, cuts=(), **more):
    """Messages, facts and the last result, read in runs that end at some lines."""
    data = log if isinstance(log, bytes) else log.data()
    return parse_in_runs(parser(), item_for(data, **more), data, cuts)


def said(log, **more):
    return [(message.role, message.author, message.text) for message in parse(log, **more)[0]]
