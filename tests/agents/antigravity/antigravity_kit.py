"""Stores as Antigravity writes them, made by the tests."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from agents.sources import items, read

from cloxy_core.services.logs.reader import Logs
from cloxy_plugins.antigravity.store import databases_in
from cloxy_plugins.antigravity.transcripts import transcripts_in

NOW = 1_800_000_000_000
AT = 1_783_397_600
CWD = "/srv/demo/harbour"
A, B, C = (f"{n}0000000-0000-4000-8000-00000000000{n}" for n in "abc")
CHOICE = (
    "<USER_SETTINGS_CHANGE>\nThe user changed setting `Model Selection` from None to {}."
    " No need to comment on this change.\n</USER_SETTINGS_CHANGE>"
)


def request(text, *behind):
    block = "<ADDITIONAL_METADATA>\nThe current local time is: NOW.\n{}</ADDITIONAL_METADATA>"
    metadata = block.format("".join(f"{each}\n" for each in behind))
    return f"<USER_REQUEST>\n{text}\n</USER_REQUEST>\n{metadata}"


def stamp(number):
    return f"2026-07-07T04:{13 + number // 60:02}:{20 + number % 40:02}Z"


class Log:
    """Steps of a conversation."""

    def __init__(self):
        self.lines = []

    def step(self, source, kind, content=None, **more):
        number = len(self.lines)
        head = {"step_index": number, "source": source, "type": kind, "status": "DONE"}
        said = {} if content is None else {"content": content}
        self.lines.append(head | {"created_at": stamp(number)} | said | more)
        return self

    def user(self, text, *behind, model=None, source="USER_EXPLICIT"):
        choice = f"\n{CHOICE.format(model)}" if model else ""
        return self.step(source, "USER_INPUT", request(text, *behind) + choice)

    def agent(self, text=None, **more):
        self.step("SYSTEM", "EPHEMERAL_MESSAGE", "REMINDER")
        return self.step("MODEL", "PLANNER_RESPONSE", text, thinking="SECRET THOUGHTS", **more)

    def both(self, question, answer):
        return self.user(question).agent(answer)

    def tool(self):
        self.agent(tool_calls=[{"name": "view_file", "args": {"path": "TOOL INPUT"}}])
        return self.step("MODEL", "VIEW_FILE", "TOOL OUTPUT")

    def summary(self, text="They met."):
        return self.step("SYSTEM", "CHECKPOINT", f"{{{{ CHECKPOINT 0 }}}}\n{text}")

    def starts(self, key, folder=CWD):
        address = {"conversationId": key, "workspaceUris": [f"file://{folder}"]}
        text = f"Created the following subagents:\n{json.dumps(address, indent=2)}\nWait."
        return self.step("MODEL", "INVOKE_SUBAGENT", text)

    def data(self):
        return b"".join(json.dumps(line).encode() + b"\n" for line in self.lines)


def chat():
    return (
        Log()
        .user("Why does the crane overheat?", model="Gemini 9 Pro (High)")
        .step("SYSTEM", "CONVERSATION_HISTORY")
        .tool()
        .agent("It never idles.")
        .summary()
        .both("Add a test for Ünïcödé 港", "Done.")
    )


SAID = [
    ("user", "human", "Why does the crane overheat?"),
    ("assistant", "assistant", "It never idles."),
    ("summary", "summary", "{{ CHECKPOINT 0 }}\nThey met."),
    ("user", "human", "Add a test for Ünïcödé 港"),
    ("assistant", "assistant", "Done."),
]


def varint(number):
    out = b""
    while number > 0x7F:
        out, number = out + bytes([number & 0x7F | 0x80]), number >> 7
    return out + bytes([number])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def payload(kind, text, at=AT):
    """A step as the database has it."""
    time = field(1, at) + field(2, 250_000_000)
    head = field(1, kind) + field(4, 3) + field(5, field(1, time) + field(3, 4))
    inside = {
        14: lambda: field(19, field(2, text) + field(3, field(1, text)) + field(12, b"")),
        15: lambda: field(20, field(1, text) + field(3, "SECRET THOUGHTS") + field(8, text)),
        23: lambda: field(30, field(4, text) + field(15, "file:///x") + field(19, "OTHER")),
        90: lambda: field(103, field(1, "REMINDER")),
    }
    return head + inside[kind]()


STEPS = [
    (14, "Why does the crane overheat?"),
    (90, ""),
    (15, "It never idles."),
    (23, "They met."),
    (14, "Add a test for Ünïcödé 港"),
    (15, "Done."),
]


def database(path, steps=None, key=A, *, names=None, wal=False):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as made:
        if wal:
            made.execute("PRAGMA journal_mode=WAL")
        made.execute(
            "CREATE TABLE trajectory_meta (trajectory_id text, cascade_id text,"
            " trajectory_type integer, source integer, PRIMARY KEY (trajectory_id))"
        )
        made.execute(
            "CREATE TABLE steps (idx integer, step_type integer NOT NULL DEFAULT 0,"
            " status integer NOT NULL DEFAULT 0, metadata blob, step_payload blob,"
            " step_format integer NOT NULL DEFAULT 0, PRIMARY KEY (idx))"
        )
        for number, name in enumerate([key] if names is None else names):
            row = (f"t{number}", name)
            made.execute("INSERT INTO trajectory_meta VALUES (?, ?, 4, 17)", row)
        put(made, STEPS if steps is None else steps)
        made.commit()
    return path


def put(made, steps):
    for number, (kind, text) in enumerate(steps):
        data = text if isinstance(text, bytes) else payload(kind, text, AT + number)
        statement = "INSERT OR REPLACE INTO steps VALUES (?, ?, 3, NULL, ?, 0)"
        made.execute(statement, (number, kind, data))


class Stores:
    """The folders of a user, and the sources over them."""

    def __init__(self, folder, known=()):
        folder = Path(folder)
        self.home = folder / "home" / ".gemini" / "antigravity-cli"
        self.editor = folder / "home" / ".gemini" / "antigravity"
        self.reader = Logs(folder / "copies")
        self.reader.folders = [Path(each) for each in known]
        places = [self.home, self.editor]
        self.logs = transcripts_in(self.reader, [place / "brain" for place in places])
        self.store = databases_in(self.reader, places)

    def log(self, log, key=A, name="transcript.jsonl", home=None):
        place = (home or self.home) / "brain" / key / ".system_generated" / "logs"
        place.mkdir(parents=True, exist_ok=True)
        data = log if isinstance(log, bytes) else log.data()
        (place / name).write_bytes(data)
        return place / name

    def full(self, log, key=A):
        return self.log(log, key, "transcript_full.jsonl")

    def database(self, steps=None, key=A, **more):
        return database(self.home / "conversations" / f"{key}.db", steps, key, **more)

    def prompts(self, *lines):
        text = "".join(
            (line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines
        )
        self.home.mkdir(parents=True, exist_ok=True)
        (self.home / "history.jsonl").write_text(text)

    def last(self, value):
        path = self.home / "cache" / "last_conversations.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(value if isinstance(value, str) else json.dumps(value))


def every(made):
    """Results by conversation."""
    found, failures = items(made)
    assert failures == []
    results = [read(made, item) for item in found]
    return {next(iter(result.sessions)): result for result in results if result.sessions}


def said(result):
    return [(message.role, message.author, message.text) for message in result.messages]


def texts(result):
    return [message.text for message in result.messages]
