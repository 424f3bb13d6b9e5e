"""Builders of Claude Code session logs, and the parser over them."""

import json
from dataclasses import dataclass, field

from cloxy_core.services.logs.lines import LineLogs
from cloxy_hookspecs import RawLine, SourceItem
from cloxy_plugins.claude_code.parser import ClaudeCodeParser
from cloxy_plugins.claude_code.source import trees_of

NOW = 1_790_000_000_000
OWN = "/home/ann/.cloxy"


def record(kind, uuid, content=None, **extra):
    """A record as Claude Code writes it; `content` goes into its message."""
    made = {
        "type": kind,
        "uuid": uuid,
        "sessionId": "s-aaa",
        "timestamp": "2026-05-02T09:00:00.000Z",
        "cwd": "/srv/shop",
        "gitBranch": "main",
        "isSidechain": False,
    }
    if content is not None:
        made["message"] = {"role": kind, "content": content}
    return {**made, **extra}


def text(*parts):
    """Text blocks."""
    return [{"type": "text", "text": part} for part in parts]


def dumped(*records):
    """Records, or raw bytes, as lines of a file."""
    return b"".join(
        (r if isinstance(r, bytes) else json.dumps(r).encode()) + b"\n" for r in records
    )


@dataclass
class Logs:
    """Parses data as if it stood in a file."""

    parser: ClaudeCodeParser = field(default_factory=lambda: ClaudeCodeParser(OWN, lambda: NOW))
    uri: str = "/home/ann/.claude/projects/-srv-shop/s-aaa.jsonl"
    mtime_ns: int = 0

    def result(self, *records, uri=None, state=None):
        data = dumped(*records)
        item = SourceItem(uri or self.uri, "1:1", len(data), self.mtime_ns)
        lines, start = [], 0
        for part in data.split(b"\n")[:-1]:
            lines.append(RawLine(start, start + len(part) + 1, part))
            start += len(part) + 1
        return self.parser.parse(item, lines, state or {})

    def said(self, *records, **options):
        return [m.text for m in self.result(*records, **options).messages]


def write(path, *records):
    """Write records to a file, with the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(dumped(*records))
    return path


def source_of(roots):
    """The source over folders."""
    return LineLogs(trees_of(roots))
