"""Stores as Kiro writes them, made by the tests."""

import base64
import hashlib
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

from agents.sources import items, read

from cloxy_core.services.logs.reader import Logs
from cloxy_hookspecs.logs.databases import Databases
from cloxy_plugins.kiro.ide import chats_in
from cloxy_plugins.kiro.sessions import sessions_in
from cloxy_plugins.kiro.store import Conversations, Store
from cloxy_plugins.kiro.store import Logs as LogsOfKiro

AT = 1_783_397_600
CWD = "/srv/demo/harbour"
A, B, C = (f"{n}0000000-0000-4000-8000-00000000000{n}" for n in "abc")


def part(kind, data):
    return {"kind": kind, "data": data}


def tool_use(text=""):
    use = {"toolUseId": "t1", "name": "shell", "input": {"command": "TOOL INPUT"}}
    return [part("text", text), part("toolUse", use)]


class Log:
    """A log of the flat form; ids are a prefix and a number."""

    def __init__(self, prefix="m", start=AT):
        self.prefix = prefix
        self.at = start
        self.lines = []

    def add(self, kind, **data):
        uid = f"{self.prefix}{len(self.lines)}"
        record = {"version": "v1", "kind": kind, "data": {"message_id": uid, **data}}
        self.lines.append(record)
        return self

    def user(self, text, *more, **data):
        content = [part("text", text), *more]
        self.at += 10
        return self.add("Prompt", content=content, meta={"timestamp": self.at}, **data)

    def agent(self, text, *more):
        return self.add("AssistantMessage", content=[part("text", text), *more])

    def tool(self, text=""):
        self.add("AssistantMessage", content=tool_use(text))
        result = {"toolUseId": "t1", "content": [part("text", "TOOL OUTPUT")]}
        return self.add("ToolResults", content=[part("toolResult", result)], results={"t1": {}})

    def both(self, question, answer):
        return self.user(question).agent(answer)

    def copy_of(self, other, count):
        self.lines += [dict(line) for line in other.lines[:count]]
        return self

    def ids(self):
        return [line["data"]["message_id"] for line in self.lines]

    def data(self):
        return b"".join(json.dumps(line).encode() + b"\n" for line in self.lines)


def chat():
    return (
        Log()
        .user("Why does the crane overheat?")
        .tool()
        .agent("It never idles.")
        .both("Add a test for Ünïcödé 港", "Done.")
    )


def iso(seconds):
    return f"2026-07-07T04:{seconds // 60 % 60:02}:{seconds % 60:02}.250000Z"


def card(key=A, *, ends=(), model="model-k", **more):
    turns = [
        {"message_ids": ids, "end_timestamp": end, "result": {"Ok": {"content": "SAME AGAIN"}}}
        for ids, end in ends
    ]
    return {
        "session_id": key,
        "cwd": CWD,
        "created_at": "2026-07-07T04:13:20.5Z",
        "updated_at": "2026-07-07T04:20:00.5Z",
        "title": "Why does the crane overheat?",
        "session_created_reason": "subagent",
        "session_state": {
            "version": "v1",
            "conversation_metadata": {"user_turn_metadatas": turns, "last_request": None},
            "rts_model_state": {"model_info": {"model_id": model, "model_name": model}},
            "permissions": {"allowed_commands": ["FAKE-SECRET"]},
        },
        **more,
    }


class Bucketed:
    """A log of the other form."""

    def __init__(self, prefix="v"):
        self.prefix = prefix
        self.lines = []

    def add(self, kind, content=None, **more):
        number = len(self.lines)
        payload = {"type": kind, **more} | ({} if content is None else {"content": content})
        at = (AT + 10 * number) * 1000
        record = {"id": f"{self.prefix}{number}", "timestamp": at, "payload": payload}
        self.lines.append(record)
        return self

    def data(self):
        return b"".join(json.dumps(line).encode() + b"\n" for line in self.lines)


def talk(key=A, turns=None, **more):
    """The value of a conversation in a database."""
    given = turns or [("Why does the crane overheat?", "It never idles."), ("Add a test", "Done.")]
    history = []
    for number, (question, answer) in enumerate(given):
        env = {"env_state": {"current_working_directory": CWD, "operating_system": "linux"}}
        prompt = {"Prompt": {"prompt": question}}
        if question is None:
            prompt = {"ToolUseResults": {"tool_use_results": [{"content": "TOOL OUTPUT"}]}}
        history.append(
            {
                "user": {
                    "additional_context": "HOOK OUTPUT",
                    "env_context": env,
                    "content": prompt,
                    "timestamp": iso(200 + 20 * number) if question else None,
                    "images": None,
                },
                "assistant": {"Response": {"message_id": f"{key}-r{number}", "content": answer}},
                "request_metadata": {
                    "stream_end_timestamp_ms": (AT + 10 * number) * 1000,
                    "model_id": "model-q",
                },
            }
        )
    facts = {"conversation_id": key, "history": history, "transcript": ["> SAME AGAIN"]}
    return facts | {"latest_summary": None, "model_info": {"model_id": "model-z"}, **more}


def store(folder, *talks, old=(), wal=False):
    """A database with conversations, in the newer table and in the older one."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "data.sqlite3"
    with closing(sqlite3.connect(path)) as database:
        if wal:
            database.execute("PRAGMA journal_mode=WAL")
        database.execute("CREATE TABLE IF NOT EXISTS auth_kv (key TEXT PRIMARY KEY, value TEXT)")
        database.execute("INSERT OR REPLACE INTO auth_kv VALUES ('token', 'FAKE-TOKEN')")
        database.execute(
            "CREATE TABLE IF NOT EXISTS conversations_v2 (key TEXT NOT NULL,"
            " conversation_id TEXT NOT NULL, value TEXT NOT NULL, created_at INTEGER NOT NULL,"
            " updated_at INTEGER NOT NULL, PRIMARY KEY (key, conversation_id))"
        )
        put(database, *talks)
        if old:
            database.execute("CREATE TABLE IF NOT EXISTS conversations (key TEXT PRIMARY KEY,"
                             " value TEXT)")  # fmt: skip
            for where, value in old:
                text = value if isinstance(value, str) else json.dumps(value)
                database.execute("INSERT OR REPLACE INTO conversations VALUES (?, ?)",
                                 (where, text))  # fmt: skip
        database.commit()
    return path


def put(database, *talks, folder=CWD, at=AT * 1000):
    for value in talks:
        key = value["conversation_id"] if isinstance(value, dict) else A
        text = value if isinstance(value, (str, bytes)) else json.dumps(value)
        row = (folder, key, text, at, at + len(text))
        database.execute("INSERT OR REPLACE INTO conversations_v2 VALUES (?, ?, ?, ?, ?)", row)


PLACE = hashlib.sha256(CWD.encode()).hexdigest()[:32]
"""Folder of the editor's agent for what was done in `CWD`."""


def say(run, text, **more):
    return {"executionId": run, "actionType": "say", "output": {"message": text}, **more}


def told_before():
    """What a log of a run has besides: all that was said before, and what was put in."""
    put_in = [
        {"role": "human", "entries": [{"type": "text", "text": "<identity>RULES</identity>"}]},
        {"role": "bot", "entries": [{"type": "text", "text": "Understood."}]},
        {"role": "tool", "entries": [{"type": "toolUseResponse", "message": "TOOL OUTPUT"}]},
        {"role": "bot", "entries": [{"type": "text", "text": "SAME AGAIN"}]},
    ]
    return {
        "input": {"data": {"messagesFromExecutionId": put_in}},
        "context": {"messages": put_in},
    }


class Stores:
    """The folders of a user, and the sources over them."""

    def __init__(self, folder, known=()):
        folder = Path(folder)
        self.sessions = folder / "dot-kiro" / "sessions"
        self.data = folder / "share" / "kiro-cli"
        self.older = folder / "share" / "amazon-q"
        self.editor = folder / "config" / "Kiro" / "User" / "globalStorage" / "kiro.kiroagent"
        self.reader = Logs(folder / "copies")
        self.reader.folders = [Path(each) for each in known]
        stores = [self.data, self.older]
        self.logs = sessions_in(self.reader, [self.sessions], Store(self.reader, stores))
        told = LogsOfKiro(self.reader, [self.sessions]).conversations
        self.store = Databases(self.reader, "kiro", lambda: stores, Conversations(), told)
        self.chats = chats_in(self.reader, [self.editor])

    def log(self, log, key=A, facts=None):
        path = self.sessions / "cli" / f"{key}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(log if isinstance(log, bytes) else log.data())
        if facts is not None:
            data = facts if isinstance(facts, bytes) else json.dumps(facts).encode()
            path.with_suffix(".json").write_bytes(data)
        return path

    def bucketed(self, log, key="sess_one", facts=None, bucket="c25a05601239adfe"):
        path = self.sessions / bucket / key / "messages.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(log if isinstance(log, bytes) else log.data())
        if facts is not None:
            path.with_name("session.json").write_text(json.dumps(facts))
        return path

    def run(self, name, turns, *, place="0" * 32, **metadata):
        path = self.editor / place / f"{name}.chat"
        path.parent.mkdir(parents=True, exist_ok=True)
        chat = [{"role": role, "content": text} for role, text in turns]
        facts = {"modelId": "model-e", "workflowId": "w1", "startTime": AT * 1000, **metadata}
        path.write_text(json.dumps({"executionId": name, "chat": chat, "metadata": facts}))
        return path

    def run_log(self, run, actions, *, place=PLACE, name=None, **more):
        """A log of a run; a text among the actions is something that it says."""
        digest = hashlib.md5((name or run).encode(), usedforsecurity=False).hexdigest()
        path = self.editor / place / ("f" * 32) / digest
        path.parent.mkdir(parents=True, exist_ok=True)
        whole = [say(run, each) if isinstance(each, str) else each for each in actions]
        record = {"executionId": run, "actions": whole, **told_before(), **more}
        path.write_text(json.dumps(record))
        return path

    def session(self, key, turns, listed=None, folder=CWD, **more):
        name = base64.b64encode(folder.encode()).decode().replace("=", "_")
        path = self.editor / "workspace-sessions" / name / f"{key}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        history = [
            {"message": {"role": role, "content": text}, **({"executionId": run[0]} if run else {})}
            for role, text, *run in turns
        ]
        path.write_text(json.dumps({"sessionId": key, "history": history, **more}))
        if listed is not None:
            path.with_name("sessions.json").write_text(json.dumps(listed))
        return path


def every(made):
    """Results by the name of the file, or the key of the conversation."""
    found, failures = items(made)
    assert failures == []
    names = [item.uri.rpartition("#")[2].rpartition("/")[2] for item in found]
    return {
        name.removesuffix(".jsonl"): read(made, item)
        for name, item in zip(names, found, strict=True)
    }


def said(result):
    return [(message.role, message.author, message.text) for message in result.messages]


def texts(result):
    return [message.text for message in result.messages]


def at_home(folder, monkeypatch):
    """Folders of Kiro, on Linux, that the environment names."""
    monkeypatch.setenv("HOME", str(folder / "home"))
    monkeypatch.setenv("USERPROFILE", str(folder / "home"))
    monkeypatch.setenv("KIRO_HOME", str(folder / "dot-kiro"))
    monkeypatch.setenv("XDG_DATA_HOME", str(folder / "share"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
    for name in ("store", "ide"):
        linux = SimpleNamespace(platform="linux")
        monkeypatch.setattr(f"cloxy_plugins.kiro.{name}.sys", linux)
    return Stores(folder)
