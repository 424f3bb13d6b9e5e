"""Event logs made by the tests."""

import json
from datetime import UTC, datetime, timedelta

from agents.line_logs import parse_in_runs

from cloxy_hookspecs import SourceItem
from cloxy_plugins.copilot_cli.parser import EventParser

NOW = 1_800_000_000_000
START = datetime(2026, 8, 5, 17, 2, tzinfo=UTC)
SESSION = "7d1f0a52-0000-4000-8000-0000000000c1"
CWD = "/srv/demo/harbour"
CONTEXT = {"cwd": CWD, "gitRoot": CWD, "branch": "main", "repository": "ann/harbour"}


class Log:
    """Events, each a while after the one before and chained to it."""

    def __init__(self, session=SESSION, *, prefix="e"):
        self.session = session
        self.prefix = prefix
        self.at = START
        self.last = None
        self.lines = []

    def event(self, kind, data=None, /, **more):
        number = f"{self.prefix}{len(self.lines)}"
        stamp = self.at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        head = {"type": kind, "data": data or {}, "id": number, "timestamp": stamp}
        self.lines.append({**head, "parentId": self.last, **more})
        self.last = number
        self.at += timedelta(seconds=2)
        return self

    def start(self, **more):
        data = {"sessionId": self.session, "copilotVersion": "1.0.78", "context": CONTEXT}
        self.event("session.start", data | more)
        return self.event("system.message", {"role": "system", "content": "You are an agent."})

    def user(self, text, /, agent=None, **more):
        sent = f"<current_datetime>now</current_datetime>\n\n{text}"
        data = {"content": text, "transformedContent": sent, "attachments": []}
        return self.event("user.message", data | more, **({"agentId": agent} if agent else {}))

    def agent(self, text, /, agent=None, **more):
        data = {"messageId": "m", "model": "model-x", "content": text, "toolRequests": []}
        self.event("assistant.turn_start", {"turnId": "0"})
        self.event("assistant.message", data | more, **({"agentId": agent} if agent else {}))
        return self.event("assistant.turn_end", {"turnId": "0"})

    def both(self, question, answer):
        return self.user(question).agent(answer)

    def data(self):
        return b"".join(json.dumps(line).encode() + b"\n" for line in self.lines)


def item_for(data=b"", session=SESSION):
    path = f"/srv/copilot/session-state/{session}/events.jsonl"
    return SourceItem(path, "1:1", len(data), NOW * 1_000_000)


def parser(title=None):
    return EventParser("/srv/cloxy", lambda: NOW, lambda uri: title)


def parse(log, *, cuts=(), title=None, session=SESSION):
    """Messages, facts and the last result, read in runs that end at some lines."""
    data = log if isinstance(log, bytes) else log.data()
    return parse_in_runs(parser(title), item_for(data, session), data, cuts)


def said(log, **more):
    return [(message.role, message.author, message.text) for message in parse(log, **more)[0]]
