"""Stores as Cursor writes them, made by the tests."""

import hashlib
import json
import sqlite3
from contextlib import closing
from pathlib import Path

from agents.sources import items, read

from cloxy_core.services.logs.reader import Logs
from cloxy_plugins.cursor.chats import Chats
from cloxy_plugins.cursor.editor import Editor
from cloxy_plugins.cursor.finding import Transcripts
from cloxy_plugins.cursor.transcripts import TranscriptFiles

AT = 1_783_397_624_574
SECRETS = {
    "blobEncryptionKey": "FAKE-BLOB-KEY",
    "speculativeSummarizationEncryptionKey": "FAKE-SUMMARY-KEY",
}
TABLES = (
    "CREATE TABLE IF NOT EXISTS ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)",
    "CREATE TABLE IF NOT EXISTS cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)",
)


def identifier(folder="/srv/demo/harbour"):
    uri = {"$mid": 1, "fsPath": folder, "external": f"file://{folder}", "path": folder}
    return {"id": "w1", "uri": {**uri, "scheme": "file"}}


def composer(key, *bubbles, **more):
    """A conversation and its messages, as rows."""
    head = {
        "_v": 16,
        "composerId": key,
        "createdAt": AT,
        "lastUpdatedAt": AT + 1000 * len(bubbles),
        "fullConversationHeadersOnly": [
            {"bubbleId": each["bubbleId"], "type": each["type"]} for each in bubbles
        ],
        "modelConfig": {"modelName": "model-x"},
        "text": "DRAFT NEVER SENT",
        **SECRETS,
        **more,
    }
    rows = {f"composerData:{key}": head}
    return rows | {f"bubbleId:{key}:{each['bubbleId']}": each for each in bubbles}


def bubble(key, kind, text, **more):
    return {
        "_v": 3,
        "bubbleId": key,
        "type": kind,
        "text": text,
        "richText": json.dumps({"root": "SAME AGAIN"}),
        "thinking": {"text": "SECRET THOUGHTS"},
        "createdAt": f"2026-07-07T04:13:{int(key[1:]):02}.000Z",
        "toolFormerData": {"name": "run", "result": "TOOL OUTPUT"} if kind == 2 else None,
        **more,
    }


def talk(key="c1", **more):
    return composer(
        key,
        bubble("b1", 1, "Why does the crane overheat?"),
        bubble("b2", 2, ""),
        bubble("b3", 2, "It never idles."),
        bubble("b4", 1, "Add a test for Ünïcödé 港"),
        bubble("b5", 2, "Done."),
        **{"workspaceIdentifier": identifier(), "name": "Crane", **more},
    )


CHAT = [
    ("user", "Why does the crane overheat?"),
    ("assistant", "It never idles."),
    ("user", "Add a test for Ünïcödé 港"),
    ("assistant", "Done."),
]


def write(path, rows, items=None, *, wal=False):
    """Put rows of both tables into a database; values that are no text become JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as database:
        if wal:
            database.execute("PRAGMA journal_mode=WAL")
        for statement in TABLES:
            database.execute(statement)
        put(database, "cursorDiskKV", rows)
        put(database, "ItemTable", items or {})
        database.commit()
    return path


def put(database, table, rows):
    values = [
        (key, each if each is None or isinstance(each, (str, bytes)) else json.dumps(each))
        for key, each in rows.items()
    ]
    database.executemany(f"INSERT OR REPLACE INTO {table} VALUES (?, ?)", values)


def store_of(user):
    return user / "globalStorage" / "state.vscdb"


def workspace(user, name="w1", folder="file:///srv/demo/harbour", items=None):
    place = user / "workspaceStorage" / name
    place.mkdir(parents=True, exist_ok=True)
    if folder:
        record = folder if isinstance(folder, dict) else {"folder": folder}
        (place / "workspace.json").write_text(json.dumps(record))
    if items is not None:
        write(place / "state.vscdb", {}, items)
    return place


def line(role, *texts, **more):
    blocks = [{"type": "text", "text": text} for text in texts]
    blocks += [{"type": "tool_use", "name": "Grep", "input": {"q": "TOOL INPUT"}}]
    return json.dumps({"role": role, "message": {"content": blocks}, **more}) + "\n"


def query(text):
    time = "<timestamp>Tuesday, Sep 8, 2026, 10:04 AM (UTC+2)</timestamp>"
    return f"{time}\n<user_query>\n{text}\n</user_query>"


TRANSCRIPT = (
    line("user", query("Why does the crane overheat?"))
    + line("assistant", "It never idles.\n\n[REDACTED]")
    + '{"type":"turn_ended","status":"success"}\n'
)


def transcript(cursor, key="c1", data=TRANSCRIPT, *, slug="srv-demo-harbour", form="nested"):
    folder = cursor / "projects" / slug / "agent-transcripts"
    path = {
        "nested": folder / key / f"{key}.jsonl",
        "flat": folder / f"{key}.txt",
        "child": folder / "c1" / "subagents" / f"{key}.jsonl",
    }[form]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(data)
    return path


def chat(cursor, *messages, key="chat-1", digest=None, meta=None, more=()):
    """The database of a chat of the command line."""
    name = digest or hashlib.md5(b"/srv/demo/harbour", usedforsecurity=False).hexdigest()
    path = cursor / "chats" / name / key / "store.db"
    path.parent.mkdir(parents=True, exist_ok=True)
    blobs = [json.dumps(each).encode() for each in messages]
    names = [hashlib.sha256(each).hexdigest() for each in blobs]
    root = b"".join(b"\x0a\x20" + bytes.fromhex(each) for each in [*names, *more])
    root += b"\x12\x20" + bytes(32) + b"\x2a\x02\x08\x01"
    top = hashlib.sha256(root).hexdigest()
    about = {
        "agentId": key,
        "latestRootBlobId": top,
        "name": "Crane chat",
        "createdAt": AT,
        "lastUsedModel": "default",
        **(meta or {}),
    }
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE IF NOT EXISTS blobs (id TEXT PRIMARY KEY, data BLOB)")
        database.execute("CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT)")
        rows = [*zip(names, blobs, strict=True), (top, root)]
        database.executemany("INSERT OR REPLACE INTO blobs VALUES (?, ?)", rows)
        value = json.dumps(about).encode().hex()
        database.execute("INSERT OR REPLACE INTO meta VALUES ('0', ?)", (value,))
        database.commit()
    return path


SPOKEN = (
    {"role": "system", "content": "SYSTEM PROMPT"},
    {"role": "user", "content": "<user_info>OS</user_info>\n\n<git_status>x</git_status>"},
    {"role": "user", "content": [{"type": "text", "text": query("Why?")}]},
    {
        "id": "1",
        "role": "assistant",
        "content": [
            {"type": "reasoning", "text": "SECRET THOUGHTS"},
            {"type": "text", "text": "Because.\n"},
            {"type": "tool-call", "toolName": "ls", "args": {}},
        ],
    },
    {"role": "tool", "content": [{"type": "tool-result", "result": "TOOL OUTPUT"}]},
    {"id": "1", "role": "assistant", "content": [{"type": "text", "text": "Fixed."}]},
)


class Stores:
    """The folders of a user, and the sources over them."""

    def __init__(self, folder, known=()):
        self.user = Path(folder) / "User"
        self.cursor = Path(folder) / "dot-cursor"
        self.store = store_of(self.user)
        self.logs = Logs(Path(folder) / "copies")
        self.logs.folders = [Path(each) for each in known]
        self.editor = Editor(self.logs, [self.user], Transcripts(self.logs, [self.cursor]))
        found = Transcripts(self.logs, [self.cursor])
        others = (Editor(self.logs, [self.user], found), Chats(self.logs, [self.cursor], found))
        self.transcripts = TranscriptFiles(self.logs, found, others)
        self.chats = Chats(self.logs, [self.cursor], Transcripts(self.logs, [self.cursor]))


def only(made):
    (item,), failures = items(made)
    assert [each for each in failures if not each.deliberate] == []
    return read(made, item)


def at_home(folder, monkeypatch):
    """Folders of Cursor that the environment names: its own, and that of the editor's user."""
    monkeypatch.setenv("HOME", str(folder / "home"))
    monkeypatch.setenv("CURSOR_CONFIG_DIR", str(folder / "dot-cursor"))
    monkeypatch.setenv("VSCODE_PORTABLE", str(folder / "portable"))
    for name in ("VSCODE_APPDATA", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    return folder / "dot-cursor", folder / "portable" / "user-data" / "User"
