"""Session logs made by the tests."""

import json
from datetime import UTC, datetime, timedelta

from agents.line_logs import parse_in_runs

from cloxy_hookspecs import SourceItem
from cloxy_plugins.qwen_code.parser import RecordParser

NOW = 1_800_000_000_000
START = datetime(2026, 4, 8, 13, 51, tzinfo=UTC)
SESSION = "5b3c0f7e-0000-4000-8000-0000000000a1"
CWD = "C:\\work\\Harbour"


class Log:
    """Records, each a while after the one before and chained to it."""

    def __init__(self, session=SESSION, *, prefix="q", agent=None):
        self.session = session
        self.prefix = prefix
        self.agent = agent
        self.at = START
        self.last = None
        self.lines = []

    def record(self, kind, subtype=None, /, **more):
        uuid = f"{self.prefix}{len(self.lines)}"
        stamp = self.at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        head = {"uuid": uuid, "parentUuid": self.last, "sessionId": self.session}
        head |= {"timestamp": stamp, "type": kind, "cwd": CWD, "version": "0.14.3"}
        head |= {"gitBranch": "main"} | ({"subtype": subtype} if subtype else {})
        if self.agent:
            head |= {"agentId": self.agent, "agentName": "explore", "isSidechain": True}
        self.lines.append(head | more)
        self.last = uuid
        self.at += timedelta(seconds=2)
        return self

    def parts(self, *parts, kind="user", subtype=None, **more):
        role = "model" if kind == "assistant" else "user"
        return self.record(kind, subtype, message={"role": role, "parts": list(parts)}, **more)

    def user(self, text, /, subtype=None, **more):
        return self.parts({"text": text}, subtype=subtype, **more)

    def agent_says(self, text, /, **more):
        self.system("ui_telemetry", {"uiEvent": {"event.name": "qwen-code.api_response"}})
        thought = {"text": "I should answer.", "thought": True}
        return self.parts(thought, {"text": text}, kind="assistant", model="model-q", **more)

    def system(self, subtype, payload=None):
        return self.record("system", subtype, systemPayload=payload or {})

    def both(self, question, answer):
        return self.user(question).agent_says(answer)

    def data(self):
        return b"".join(json.dumps(line).encode() + b"\n" for line in self.lines)


def item_for(data=b"", name=f"chats/{SESSION}.jsonl"):
    path = f"/srv/qwen/projects/c--work-harbour/{name}"
    return SourceItem(path, "1:1", len(data), NOW * 1_000_000)


def parser():
    return RecordParser("/srv/cloxy", lambda: NOW)


def parse(log, *, cuts=(), **more):
    """Messages, facts and the last result, read in runs that end at some lines."""
    data = log if isinstance(log, bytes) else log.data()
    return parse_in_runs(parser(), item_for(data, **more), data, cuts)


def said(log, **more):
    return [(message.role, message.author, message.text) for message in parse(log, **more)[0]]
