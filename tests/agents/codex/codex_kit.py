"""Rollouts made by the tests, in every shape that versions of Codex wrote."""

import json
from datetime import UTC, datetime, timedelta

from agents.line_logs import parse_in_runs

from cloxy_hookspecs import SourceItem
from cloxy_plugins.codex.parser import RolloutParser

NOW = 1_800_000_000_000
START = datetime(2026, 5, 2, 9, tzinfo=UTC)
CWD = "/srv/demo/harbour"


def uuid7(moment, number=0):
    """A UUID of version 7 of a moment."""
    digits = f"{int(moment.timestamp() * 1000):012x}"
    return f"{digits[:8]}-{digits[8:]}-7000-8000-{number:012x}"


THREAD = uuid7(START)


class Log:
    """Lines of a rollout; every line comes a while after the one before."""

    def __init__(self, at=START, step=2.0):
        self.at = at
        self.step = step
        self.lines = []

    def line(self, kind, payload, **more):
        """A wrapped line."""
        stamp = self.at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self.lines.append({"timestamp": stamp, **more, "type": kind, "payload": payload})
        self.at += timedelta(seconds=self.step)
        return self

    def bare(self, record):
        """A line as it was before lines were wrapped."""
        self.lines.append(record)
        return self

    def meta(self, thread=THREAD, **more):
        payload = {
            "id": thread,
            "timestamp": self.at.isoformat(),
            "cwd": CWD,
            "originator": "codex-tui",
            "source": "cli",
            "git": {"branch": "main"},
            "base_instructions": {"text": "You are an agent."},
        }
        return self.line("session_meta", payload | more)

    def turn(self, turn, *, model="gpt-x", **more):
        self.event("task_started", turn_id=turn, **more)
        return self.line("turn_context", {"turn_id": turn, "cwd": CWD, "model": model})

    def item(self, role, *texts, **more):
        kind = "output_text" if role == "assistant" else "input_text"
        content = [
            text if isinstance(text, dict) else {"type": kind, "text": text} for text in texts
        ]
        payload = {"type": "message", "role": role, "content": content}
        return self.line("response_item", payload | more)

    def event(self, kind, /, **more):
        return self.line("event_msg", {"type": kind, **more})

    def done(self, kind, text=None, /, **more):
        item = {"type": kind, "id": "item"}
        if text is not None:
            item["content"] = [{"type": "text" if kind == "UserMessage" else "Text", "text": text}]
        return self.event("item_completed", item=item | more)

    def both(self, question, answer):
        """A question and its answer, each as item and as event."""
        self.item("user", question).event("user_message", message=question, images=[])
        return self.event("agent_message", message=answer).item("assistant", answer)

    def data(self):
        return b"".join(json.dumps(line).encode() + b"\n" for line in self.lines)


def item_for(data=b"", thread=THREAD, folder="/srv/codex/sessions/2026/05/02"):
    path = f"{folder}/rollout-2026-05-02T11-00-00-{thread}.jsonl"
    return SourceItem(path, "1:1", len(data), NOW * 1_000_000)


def parser(name_of=None):
    return RolloutParser("/srv/cloxy", lambda: NOW, *([name_of] if name_of else []))


def parse(log, *, cuts=(), thread=THREAD):
    """Messages and the last result, read in runs that end at some lines."""
    data = log if isinstance(log, bytes) else log.data()
    return parse_in_runs(parser(), item_for(data, thread), data, cuts)


def said(log):
    """Roles and words."""
    return [(message.role, message.text) for message in parse(log)[0]]


def authors(log):
    return [(message.role, message.author) for message in parse(log)[0]]
