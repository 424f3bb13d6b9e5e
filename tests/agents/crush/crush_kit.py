"""Databases of Crush made by the tests, with its own schema and triggers."""

import json

from agents.database_files import DatabaseFile

from cloxy_core.services.logs.reader import Logs
from cloxy_hookspecs.logs.turns import TurnParser
from cloxy_plugins.crush.places import Projects
from cloxy_plugins.crush.source import CrushDatabases

NOW = 1_800_000_000_000
T = 1_790_000_000
A, B = "0a8e7c1e-51a4-4d39-8f51-0c3f6c0f7a01", "0b8e7c1e-51a4-4d39-8f51-0c3f6c0f7a02"

SCHEMA = """
CREATE TABLE goose_db_version (id INTEGER PRIMARY KEY, version_id INTEGER, is_applied INTEGER);
CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT NOT NULL,
    message_count INTEGER NOT NULL DEFAULT 0 CHECK (message_count >= 0),
    prompt_tokens INTEGER NOT NULL DEFAULT 0, completion_tokens INTEGER NOT NULL DEFAULT 0,
    cost REAL NOT NULL DEFAULT 0.0, updated_at INTEGER NOT NULL, created_at INTEGER NOT NULL,
    summary_message_id TEXT);
CREATE TABLE files (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, path TEXT NOT NULL,
    content TEXT NOT NULL, version INTEGER NOT NULL DEFAULT 0);
CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, role TEXT NOT NULL,
    parts TEXT NOT NULL default '[]', model TEXT, created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL, finished_at INTEGER, provider TEXT);
CREATE INDEX idx_messages_session_id ON messages (session_id);
CREATE TRIGGER count_messages AFTER INSERT ON messages BEGIN
    UPDATE sessions SET message_count = message_count + 1, updated_at = new.created_at
    WHERE id = new.session_id; END;
INSERT INTO files VALUES ('f', 'x', 'secret.txt', 'CANARY', 0);
"""
MARKED = "ALTER TABLE messages ADD COLUMN is_summary_message INTEGER NOT NULL DEFAULT 0"


def part(kind, **data):
    return {"type": kind, "data": data}


def text(words, **more):
    return part("text", text=words, **more)


def finish(reason="end_turn", at=T):
    return part("finish", reason=reason, time=at)


class Store(DatabaseFile):
    """The database of a project; every message comes a second after the one before."""

    def __init__(self, project, *, marked=True, folder=None):
        self.folder = folder or project / ".crush"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.path = self.folder / "crush.db"
        self.at = T
        self.said = 0
        with self.open() as connection:
            connection.executescript(SCHEMA + (MARKED if marked else ""))

    def session(self, key=A, *, parent=None, title="Cranes", summary=None):
        self.run(
            "INSERT INTO sessions VALUES (?, ?, ?, 0, 0, 0, 0.0, ?, ?, ?)",
            key, parent, title, self.at, self.at, summary,
        )  # fmt: skip
        return self

    def say(self, role, *parts, session=A, key=None, at=None, model=None):
        """A message; texts are parts of that type."""
        self.at += 1
        self.said += 1
        made = [text(each) if isinstance(each, str) else each for each in parts]
        key = key or f"{session[:2]}-{self.said:04d}"
        model = model or ("model-x" if role == "assistant" else "")
        self.row(key, session, role, json.dumps([*made, finish()]), at or self.at, model)
        return key

    def row(self, key, session, role, parts, at=None, model=""):
        at = self.at if at is None else at
        self.run(
            "INSERT INTO messages (id, session_id, role, parts, model, created_at, updated_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            key, session, role, parts, model, at, at,
        )  # fmt: skip

    def chat(self, session=A, words="Why does the crane overheat?", answer="It never idles."):
        return [
            self.say("user", words, session=session),
            self.say("assistant", answer, session=session),
        ]


def listing(data, *projects, shape="object"):
    """Crush's list of projects: paths, or pairs of a path and the folder of its database."""
    entries = []
    for each in projects:
        path, folder = each if isinstance(each, tuple) else (each, each / ".crush")
        stamp = "2026-09-01T10:00:00Z"
        entries.append({"path": str(path), "data_dir": str(folder), "last_accessed": stamp})
    value = {
        "object": {"projects": entries},
        "array": entries,
        "by id": {f"id{number}": entry for number, entry in enumerate(entries)},
        "object by id": {"projects": {f"id{n}": entry for n, entry in enumerate(entries)}},
    }[shape]
    data.mkdir(parents=True, exist_ok=True)
    (data / "projects.json").write_text(json.dumps(value))


def source(tmp_path, reader=None):
    reader = reader or Logs(tmp_path / "copies")
    return CrushDatabases(reader, Projects(reader, tmp_path / "data"), lambda: NOW)


def one(tmp_path, **options):
    """A project with a database, and Crush's list with it."""
    store = Store(tmp_path / "harbour", **options)
    listing(tmp_path / "data", tmp_path / "harbour")
    return store


def parser():
    return TurnParser("/srv/cloxy", lambda: NOW)


def results(made, failures=None):
    """What is said in each session that a source finds, by its key."""
    items = list(made.discover([] if failures is None else failures))
    return {
        item.identity.removeprefix("crush:"): parser().parse(item, list(made.read(item, 0)), {})
        for item in items
    }


def messages(made):
    return [message for result in results(made).values() for message in result.messages]


def said(made):
    """Roles, authors and words."""
    return [(message.role, message.author, message.text) for message in messages(made)]
