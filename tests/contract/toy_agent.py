"""A plugin as somebody else would write it: two stores of an agent that nobody has.

Its older sessions are lines of files; its newer ones are rows of a database. The older ones have no
time of their own, and the agent has no resume command.
"""

import json

from cloxy_hookspecs import (
    BadLine,
    ForeignDatabaseError,
    LogReader,
    LogTree,
    Message,
    ParseResult,
    ParserProvider,
    RawLine,
    SessionFacts,
    Setting,
    SourceFailure,
    SourceItem,
    SourceProvider,
    hookimpl,
)

HOME: Setting[str] = Setting(
    name="toyagent.home", default="/nowhere", parse=str, help="Folder of the toy agent."
)


@hookimpl
def cloxy_settings():
    yield HOME


@hookimpl
def cloxy_sources():
    yield SourceProvider(
        name="toyagent-files",
        summary="Older sessions of the toy agent",
        agent="toy-agent",
        parser="toyagent-records",
        chunker="messages",
        origin="transcript",
        title="Toy Agent",
        create=create_files,
    )
    yield SourceProvider(
        name="toyagent-database",
        summary="Newer sessions of the toy agent",
        agent="toy-agent",
        parser="toyagent-records",
        chunker="messages",
        origin="transcript",
        rewritten=True,
        title="Toy Agent",
        create=ToyDatabase,
    )


@hookimpl
def cloxy_parsers():
    yield ParserProvider(
        name="toyagent-records",
        summary="Records of the toy agent",
        create=lambda context: ToyParser(),
    )


def create_files(context):
    folder = _home(context) / "old"
    return context.service(LogReader).lines([LogTree(folder, is_log)])


def is_log(parts):
    return parts[-1].endswith(".toy.jsonl")


def _home(context):
    from pathlib import Path

    return Path(context.settings[HOME])


class ToyDatabase:
    """One item for each row of `talks`; its version is the row's own."""

    def __init__(self, context):
        self._logs = context.service(LogReader)
        self._path = _home(context) / "toy.db"
        self._known = None

    def roots(self):
        return (self._path.parent,)

    def discover(self, failures, under=None):
        if under is not None and not (
            self._path.is_relative_to(under) or under.is_relative_to(self._path)
        ):
            return
        signature = self._logs.signature(self._path)
        if signature == (0, 0):
            return
        if self._known is None or self._known[0] != signature:
            try:
                self._known = (signature, self._listed())
            except ForeignDatabaseError as error:
                failures.append(SourceFailure(str(self._path), str(error)))
                return
        yield from self._known[1]

    def _listed(self):
        with self._logs.database(self._path) as database:
            return [
                SourceItem(f"{self._path}#{key}", f"toy:{key}", count, updated * 1_000_000)
                for key, updated, count in database.rows(
                    "SELECT key, updated, (SELECT count(*) FROM words WHERE talk = key)"
                    " FROM talks ORDER BY key"
                )
                if isinstance(key, str) and isinstance(updated, int)
            ]

    def read(self, item, offset):
        key = item.uri.partition("#")[2]
        with self._logs.database(self._path) as database:
            rows = database.rows(
                "SELECT id, who, text FROM words WHERE talk = ? AND length(text) < 1000000"
                " ORDER BY id",
                (key,),
            )
            for number, (uid, who, text) in enumerate(rows):
                record = {"id": str(uid), "talk": key, "who": who, "text": text}
                data = json.dumps(record, default=repr).encode()
                if number >= offset:
                    yield RawLine(number, number + 1, data)

    def excerpt(self, item, start, end):
        return b""


class ToyParser:
    """A record is a message; only humans and the agent speak."""

    def parse(self, item, lines, state):
        messages, bad, facts, unknown = [], [], {}, {}
        for line in lines:
            try:
                record = json.loads(line.data)
                who, text = record["who"], record["text"]
                key, uid = record["talk"], record["id"]
            except (ValueError, KeyError, TypeError, RecursionError):
                bad.append(BadLine(line.start, line.end, "is no record"))
                continue
            if not all(isinstance(each, str) and each for each in (who, text, key, uid)):
                bad.append(BadLine(line.start, line.end, "is no record"))
                continue
            if who not in ("user", "assistant"):
                unknown[who] = unknown.get(who, 0) + 1
                continue
            author = "human" if who == "user" else "assistant"
            facts[key] = SessionFacts(key, cwd=record.get("cwd"), relation=record.get("relation"))
            messages.append(
                Message(
                    uid, key, who, author, text.encode("utf-8", "replace").decode(), None,
                    line.start, line.end,
                    model="toy-1" if who == "assistant" else None, approximate=True,
                )
            )  # fmt: skip
        return ParseResult(messages, facts, bad, len(messages), unknown)
