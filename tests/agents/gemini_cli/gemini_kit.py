"""Sessions made by the tests, in both forms."""

import hashlib
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cloxy_core.services.logs.reader import Logs
from cloxy_hookspecs import LogTree
from cloxy_plugins.gemini_cli import roots
from cloxy_plugins.gemini_cli.parser import GeminiParser
from cloxy_plugins.gemini_cli.source import GeminiLogs

NOW = 1_800_000_000_000
START = datetime(2026, 6, 12, 10, 55, tzinfo=UTC)
SESSION = "c01d5ea7-0000-4000-8000-0000000000f1"
NAME = "session-2026-06-12T10-55-c01d5ea7"
ROOT = "/srv/demo/harbour"
HASH = hashlib.sha256(ROOT.encode()).hexdigest()
THANKS = "Got it. Thanks for the additional context!"


class Log:
    """A session, message by message."""

    def __init__(self, session=SESSION, *, prefix="m", **head):
        self.session = session
        self.prefix = prefix
        self.at = START
        self.count = 0
        self.lines = []
        self.head(**head)

    def stamp(self):
        self.at += timedelta(seconds=2)
        return self.at.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def head(self, **more):
        at = self.stamp()
        head = {"sessionId": self.session, "projectHash": HASH, "startTime": at}
        return self.line({**head, "lastUpdated": at, "kind": "main"} | more)

    def line(self, record):
        self.lines.append(record)
        return self

    def make(self, kind, content, /, **more):
        uid = f"{self.prefix}{self.count}"
        self.count += 1
        return {"id": uid, "timestamp": self.stamp(), "type": kind, "content": content} | more

    def message(self, kind, content, /, **more):
        self.line(self.make(kind, content, **more))
        return self.set(lastUpdated=self.stamp())

    def set(self, **fields):
        return self.line({"$set": fields})

    def user(self, *texts, **more):
        return self.message("user", [{"text": text} for text in texts], **more)

    def gemini(self, text, /, **more):
        thoughts = [{"subject": "Hm", "description": "secret thought"}]
        return self.message("gemini", text, **({"model": "g-1", "thoughts": thoughts} | more))

    def both(self, question, answer):
        return self.user(question).gemini(answer)

    def data(self):
        return b"".join(json.dumps(line).encode() + b"\n" for line in self.lines)

    def document(self):
        """The old form, indented as the CLI wrote it."""
        messages = [line for line in self.lines if "type" in line]
        return json.dumps(self.lines[0] | {"messages": messages}, indent=2).encode()


class Folder:
    """A folder of the Gemini CLI and the source that reads it."""

    def __init__(self, base: Path):
        self.gemini = base / ".gemini"
        self.tmp = self.gemini / "tmp"
        self.logs = Logs(base / "copies")
        tree = LogTree(self.tmp, roots.is_log, roots.may_hold_logs)
        self.source = GeminiLogs(self.logs, [tree], lambda: NOW)
        self.parser = GeminiParser("/srv/cloxy", lambda: NOW)

    def write(self, data, name=f"harbour/chats/{NAME}.jsonl"):
        path = self.tmp / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(data, Log):
            data = data.data() if name.endswith("l") else data.document()
        path.write_bytes(data if isinstance(data, bytes) else json.dumps(data).encode())
        return path

    def items(self):
        failures = []
        found = sorted(self.source.discover(failures), key=lambda item: item.uri)
        assert failures == []
        return found

    def results(self):
        return [
            self.parser.parse(item, list(self.source.read(item, 0)), {}) for item in self.items()
        ]

    def parse(self):
        """Messages and facts of all logs, and the last result."""
        messages, facts, result = [], {}, None
        for result in self.results():
            messages += result.messages
            facts |= result.sessions
        return messages, facts, result

    def said(self):
        return [(message.role, message.author, message.text) for message in self.parse()[0]]
