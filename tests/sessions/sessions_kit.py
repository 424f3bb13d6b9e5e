"""A running server with sessions of two agents, one of which somebody else's plugin reads."""

import json
import os
from contextlib import contextmanager

import pytest
from server.live_server import LiveServer, line

PLUGIN = """
import json
import os
from pathlib import Path

from cloxy_hookspecs import (
    LogReader, LogTree, Message, ParseResult, ParserProvider, SessionFacts, SourceProvider,
    hookimpl,
)


FACTS = ("parent", "cwd", "branch", "title", "program", "relation")


class Lines:
    def parse(self, item, lines, state):
        messages, known = [], {}
        for line in lines:
            record = json.loads(line.data)
            key = record["session"]
            if "text" in record:
                messages.append(Message(
                    record["id"], key, record.get("role", "user"), record.get("author", "human"),
                    record["text"], record.get("at"), line.start, line.end,
                    cwd=record.get("cwd"), branch=record.get("branch"),
                    model=record.get("model"), approximate=record.get("near", False),
                ))
            told = known.setdefault(key, {})
            told.update({name: record[name] for name in FACTS if name in record})
        facts = {key: SessionFacts(key, title_rank=5, **told) for key, told in known.items()}
        return ParseResult(messages, facts, (), len(messages), silent=not messages)


@hookimpl
def cloxy_sources():
    yield SourceProvider(
        name="gull-logs",
        summary="Sessions of Gull",
        agent="gull",
        parser="gull-lines",
        chunker="messages",
        origin="transcript",
        title="Gull",
        resume=("gull", "--go-on={session}"),
        create=lambda context: context.service(LogReader).lines(
            [LogTree(Path(os.environ["GULL_HOME"]), lambda parts: parts[-1].endswith(".gull"))]
        ),
    )


@hookimpl
def cloxy_parsers():
    yield ParserProvider(
        name="gull-lines", summary="Lines of Gull", create=lambda context: Lines()
    )
"""
DAY = 86_400_000
FIRST = 1_778_000_000_000  # 2026-05-05
LONG = "Ein langer Satz über Möwen 🐦 und Häfen. " * 400 + "  the end \n"


class Gulls(LiveServer):
    """The server, and what the agent Gull writes."""

    def __init__(self, folder):
        site = folder / "site"
        info = site / "cloxy_gull-1.0.dist-info"
        info.mkdir(parents=True)
        (site / "cloxy_gull.py").write_text(PLUGIN)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: cloxy-gull\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("[cloxy.plugins]\ngull = cloxy_gull\n")
        self.gull = folder / "gull"
        self.gull.mkdir()
        super().__init__(
            folder,
            PYTHONPATH=_joined(site),
            GULL_HOME=str(self.gull),
            CLOXY_WATCH_DIRS="",
            CLOXY_EMBED_PROVIDER="none",
            TZ="UTC",
        )
        self.claude = folder / ".claude" / "projects"

    def say(self, name, *records):
        """Lines of Gull's log of that name."""
        with (self.gull / f"{name}.gull").open("a", encoding="utf-8") as file:
            file.writelines(json.dumps({"session": name, **each}) + "\n" for each in records)

    def say_claude(self, session, *texts):
        """A session of Claude Code."""
        file = self.claude / "-srv-demo-shop" / f"{session}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(
            "".join(line(f"{session}-{n}", text, session=session) for n, text in enumerate(texts))
        )

    def take(self):
        """Read all logs."""
        status, report = self.ask("POST", "/ingest_convos", {})
        assert (status, report["errors"], report["drift"]) == (200, [], [])

    def get(self, path):
        """A good answer."""
        status, answer = self.ask("GET", path)
        assert status == 200, answer
        return answer


def _joined(site):
    return os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])


@contextmanager
def gulls(folder):
    """That server, with a home of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        with Gulls(folder) as server:
            yield server
