"""Stores of Goose made by the tests: databases of its versions 1 to 17, and the files before."""

import json

from agents.database_files import DatabaseFile

from cloxy_core.services.logs.reader import Logs
from cloxy_hookspecs.logs.databases import Databases
from cloxy_hookspecs.logs.documents import DocumentKind, Documents
from cloxy_hookspecs.logs.turns import TurnParser
from cloxy_plugins.goose.files import records_of
from cloxy_plugins.goose.places import databases_in, files_in
from cloxy_plugins.goose.source import Unimported
from cloxy_plugins.goose.tables import Sessions

NOW = 1_800_000_000_000
T = 1_790_000_000
BEGAN = "2026-09-21 09:33:20"
CWD = "/srv/demo/harbour"
A, B, C = "20260921_1", "20260921_2", "20260921_3"
LAST = 17
COMPACTED_EVERY = 50

FIRST = """
CREATE TABLE schema_version (version INTEGER PRIMARY KEY,
    applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP);
CREATE TABLE sessions (id TEXT PRIMARY KEY, description TEXT NOT NULL DEFAULT '',
    working_dir TEXT NOT NULL, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
    updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, extension_data TEXT DEFAULT '{}',
    total_tokens INTEGER, schedule_id TEXT, recipe_json TEXT);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT NOT NULL REFERENCES sessions(id), role TEXT NOT NULL,
    content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL,
    timestamp TIMESTAMP DEFAULT CURRENT_TIMESTAMP, tokens INTEGER);
CREATE INDEX idx_messages_session ON messages(session_id);
CREATE TABLE provider_inventory_entries (id TEXT, api_key TEXT);
INSERT INTO provider_inventory_entries VALUES ('a', 'CANARY');
"""
STEPS = {
    2: "ALTER TABLE sessions ADD COLUMN user_recipe_values_json TEXT",
    3: "ALTER TABLE messages ADD COLUMN metadata_json TEXT",
    4: "ALTER TABLE sessions ADD COLUMN name TEXT DEFAULT '';"
    "ALTER TABLE sessions ADD COLUMN user_set_name BOOLEAN DEFAULT FALSE",
    5: "ALTER TABLE sessions ADD COLUMN session_type TEXT NOT NULL DEFAULT 'user'",
    6: "ALTER TABLE sessions ADD COLUMN provider_name TEXT;"
    "ALTER TABLE sessions ADD COLUMN model_config_json TEXT",
    7: "ALTER TABLE messages ADD COLUMN message_id TEXT;"
    "UPDATE messages SET message_id = 'msg_' || session_id || '_' || id;"
    "CREATE INDEX idx_messages_message_id ON messages(message_id)",
    8: "ALTER TABLE sessions ADD COLUMN goose_mode TEXT NOT NULL DEFAULT 'auto'",
    10: "ALTER TABLE sessions ADD COLUMN thread_id TEXT;"
    "CREATE TABLE threads (id TEXT PRIMARY KEY, name TEXT NOT NULL DEFAULT 'New Chat',"
    " user_set_name BOOLEAN DEFAULT FALSE, working_dir TEXT, metadata_json TEXT DEFAULT '{}');"
    "CREATE TABLE thread_messages (id INTEGER PRIMARY KEY, thread_id TEXT, session_id TEXT,"
    " message_id TEXT, role TEXT, content_json TEXT, created_timestamp INTEGER);"
    "INSERT INTO threads (id, metadata_json) VALUES ('t', 'CANARY');"
    "INSERT INTO thread_messages VALUES (1, 't', 's', 'm', 'user', '[\"CANARY\"]', 1)",
    12: "ALTER TABLE sessions ADD COLUMN archived_at TIMESTAMP;"
    "ALTER TABLE sessions ADD COLUMN project_id TEXT",
    13: "ALTER TABLE sessions ADD COLUMN accumulated_cost REAL",
    14: "ALTER TABLE sessions ADD COLUMN cache_read_tokens INTEGER",
    15: "ALTER TABLE sessions ADD COLUMN parent_session_id TEXT;"
    "CREATE TABLE usage_ledger (id INTEGER PRIMARY KEY, session_id TEXT, model TEXT)",
    16: "CREATE INDEX idx_messages_session_created ON messages(session_id, created_timestamp, id)",
    17: "ALTER TABLE sessions ADD COLUMN parent_delegation TEXT",
}
SHOWN = {"userVisible": True, "agentVisible": True}
FOLDED = {"userVisible": True, "agentVisible": False}
AGENTS = {"userVisible": False, "agentVisible": True}
NOBODYS = {"userVisible": False, "agentVisible": False}
BEHIND = (
    "Your context was compacted. The previous message contains a summary of the conversation so"
    " far.\nDo not mention that you read a summary."
)


def text(words):
    return {"type": "text", "text": words}


def blocks(*parts):
    return [text(each) if isinstance(each, str) else each for each in parts]


class Store(DatabaseFile):
    """A database; every message comes a second after the one before."""

    def __init__(self, folder, version=LAST):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / "sessions.db"
        self.version = 0
        self.at = T
        self.said = 0
        with self.open() as connection:
            connection.executescript(FIRST)
        self.migrate(1)
        self.migrate(version)

    def migrate(self, version):
        with self.open() as connection:
            for step in range(self.version + 1, version + 1):
                connection.executescript(STEPS.get(step, ""))
                connection.execute("INSERT INTO schema_version (version) VALUES (?)", (step,))
        self.version = version
        return self

    def session(self, key=A, **facts):
        given = {"id": key, "working_dir": CWD, "created_at": BEGAN, "updated_at": BEGAN, **facts}
        given.setdefault("name" if self.version >= 4 else "description", "Cranes")
        names = ", ".join(given)
        marks = ", ".join("?" * len(given))
        self.run(f"INSERT INTO sessions ({names}) VALUES ({marks})", *given.values())
        return self

    def thread(self, key, name, *, named):
        """A thread, as versions 10 and 11 show a session to an editor."""
        self.run(
            "INSERT OR REPLACE INTO threads (id, name, user_set_name) VALUES (?, ?, ?)",
            key, name, named,
        )  # fmt: skip
        return self

    def say(self, role, *parts, session=A, key=None, at=None, meta=SHOWN):
        """A message; texts are blocks of that type."""
        self.at += 1
        self.said += 1
        return self.row(role, json.dumps(blocks(*parts)), session, key, at or self.at, meta)

    def row(self, role, content, session=A, key=None, at=None, meta=SHOWN):
        at = self.at if at is None else at
        given = {
            "session_id": session, "role": role, "content_json": content, "created_timestamp": at,
            "timestamp": "2026-09-21 10:00:00",
        }  # fmt: skip
        if self.version >= 3:
            given["metadata_json"] = json.dumps(meta) if isinstance(meta, dict) else meta
        if self.version >= 7:
            key = key or f"msg_{session}_5f0c1c1e-51a4-4d39-8f51-{self.said:012d}"
            given["message_id"] = key
        names = ", ".join(given)
        marks = ", ".join("?" * len(given))
        self.run(f"INSERT INTO messages ({names}) VALUES ({marks})", *given.values())
        self.run("UPDATE sessions SET updated_at = datetime(?, 'unixepoch')", self.at)
        return key

    def chat(self, session=A, words="Why does the crane overheat?", answer="It never idles."):
        self.say("user", words, session=session)
        self.say("assistant", answer, session=session)

    def replace(self, *rows, session=A):
        """Write a conversation anew, as compaction does: `(role, words, id, time, metadata)`."""
        self.run("DELETE FROM messages WHERE session_id = ?", session)
        for role, words, key, at, meta in rows:
            self.said += 1
            self.row(role, json.dumps(blocks(words)), session, key, at, meta)

    def copy(self, session, new, **facts):
        """A copy of a session, as Goose makes it: its messages keep their ids."""
        self.session(new, **facts)
        self.run(
            "INSERT INTO messages (session_id, role, content_json, created_timestamp, timestamp,"
            " metadata_json, message_id) SELECT ?, role, content_json, created_timestamp,"
            " timestamp, metadata_json, message_id FROM messages WHERE session_id = ? ORDER BY id",
            new, session,
        )  # fmt: skip


def message(role, *parts, at=T, **more):
    return {"id": None, "role": role, "created": at, "content": blocks(*parts), **more}


def file(folder, *lines, name="20250601_101500", head=True):
    """A file of a session of versions before 1.10."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.jsonl"
    told = {"description": "Cranes", "working_dir": CWD, "message_count": len(lines)}
    given = [{**told, **head}] if isinstance(head, dict) else [told] if head else []
    path.write_text("".join(json.dumps(line) + "\n" for line in [*given, *lines]))
    return path


def database(tmp_path, folder=None, reader=None):
    reader = reader or Logs(tmp_path / "copies")
    talks = Sessions(databases_in, lambda: NOW)
    return Databases(reader, "goose", lambda: [folder or tmp_path / "sessions"], talks)


def files(tmp_path, folder=None, reader=None):
    reader = reader or Logs(tmp_path / "copies")
    kind = DocumentKind(tree=files_in, records=records_of, chosen=Unimported(reader).of)
    return Documents(reader, lambda: [folder or tmp_path / "sessions"], kind)


def parser():
    return TurnParser("/srv/cloxy", lambda: NOW)


def results(made, failures=None):
    """What is said in each item that a source finds."""
    items = list(made.discover([] if failures is None else failures))
    return [parser().parse(item, list(made.read(item, 0)), {}) for item in items]


def messages(made):
    return [message for result in results(made) for message in result.messages]


def said(made):
    """Roles, authors and words."""
    return [(message.role, message.author, message.text) for message in messages(made)]


def facts(made, key=A):
    """Facts of a session."""
    return next(result.sessions[key] for result in results(made) if key in result.sessions)
