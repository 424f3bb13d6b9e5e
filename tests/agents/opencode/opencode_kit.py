"""Stores of OpenCode made by the tests: databases of both versions, and the files before them."""

import json

from agents.database_files import DatabaseFile

from cloxy_core.services.logs.reader import Logs
from cloxy_plugins.opencode.parser import RecordParser
from cloxy_plugins.opencode.source import OpenCodeSource

NOW = 1_800_000_000_000
T = 1_790_000_000_000
CWD = "/srv/demo/harbour"
A, B, C = "ses_0aaaaaaaaaaa", "ses_0bbbbbbbbbbb", "ses_0ccccccccccc"

SCHEMA = """
CREATE TABLE project (id text PRIMARY KEY, worktree text NOT NULL, vcs text);
CREATE TABLE session (id text PRIMARY KEY, project_id text, parent_id text, slug text,
    directory text NOT NULL, title text NOT NULL, version text, revert text,
    time_created integer NOT NULL, time_updated integer NOT NULL);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL,
    time_created integer NOT NULL, time_updated integer NOT NULL, data text);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
    time_created integer NOT NULL, time_updated integer NOT NULL, data text);
CREATE INDEX part_session_idx ON part (session_id);
CREATE INDEX part_message_id_id_idx ON part (message_id, id);
CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id);
CREATE TABLE account (id text, token text);
CREATE TABLE account_state (id text, token text);
CREATE TABLE control_account (id text, token text);
CREATE TABLE credential (id text, token text);
CREATE TABLE session_share (id text, secret text);
INSERT INTO account VALUES ('a', 'CANARY');
INSERT INTO credential VALUES ('a', 'CANARY');
INSERT INTO project VALUES ('global', '/', NULL);
"""
SECOND = """
CREATE TABLE session_v2 (id text PRIMARY KEY, project_id text, parent_id text,
    fork_session_id text, directory text, title text, time_created integer, time_updated integer);
CREATE TABLE session_message (id text PRIMARY KEY, session_id text NOT NULL, type text NOT NULL,
    seq integer NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL,
    data text);
"""


def uid(at, number=0, kind="msg"):
    """An id as OpenCode makes them: of 36 bits of milliseconds, a counter, and chance."""
    return f"{kind}_{at & (2**36 - 1):09x}{number:03x}{'Q' * 8}"


def text(words, **more):
    return {"type": "text", "text": words, **more}


class Store(DatabaseFile):
    """A database; every change comes a second after the one before."""

    def __init__(self, folder, name="opencode.db", *, second=False):
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / name
        self.at = T
        self.second = second
        with self.open() as connection:
            connection.executescript(SCHEMA + (SECOND if second else ""))

    def tick(self):
        self.at += 1000
        return self.at

    def session(self, key=A, *, parent=None, title="Cranes", directory=CWD, **more):
        if self.second:
            self.run(
                "INSERT INTO session_v2 VALUES (?, 'global', ?, ?, ?, ?, ?, ?)",
                key, parent, more.get("fork"), directory, title, self.at, self.at,
            )  # fmt: skip
        else:
            self.run(
                "INSERT INTO session VALUES (?, 'global', ?, 'x', ?, ?, '1.17', NULL, ?, ?)",
                key, parent, directory, title, self.at, self.at,
            )  # fmt: skip
        return self

    def say(self, role, *parts, session=A, at=None, key=None, **more):
        """A message of version 1; texts are parts of that type."""
        made = self.tick()
        at = at or made
        key = key or uid(made)
        data = {"role": role, "time": {"created": at}, **more}
        if role == "assistant":
            data = {"modelID": "model-x", "path": {"cwd": CWD + "/src", "root": CWD}, **data}
        self.row(key, session, at, json.dumps(data))
        for number, part in enumerate(parts):
            given = text(part) if isinstance(part, str) else part
            self.part(key, number, json.dumps(given, separators=(",", ":")), session=session)
        return key

    def row(self, key, session, at, data):
        self.run("INSERT INTO message VALUES (?, ?, ?, ?, ?)", key, session, at, self.at, data)

    def part(self, message, number, data, *, session=A):
        key = uid(self.at, number, "prt") + message
        at = self.at
        self.run("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", key, message, session, at, at, data)

    def entry(self, kind, data, *, session=A, key=None, at=None):
        """A message of version 2."""
        made = self.tick()
        at = at or made
        ((seq,),) = self.run("SELECT count(*) FROM session_message")
        data = {"time": {"created": at}, **data} if isinstance(data, dict) else data
        key = key or uid(made)
        self.run(
            "INSERT INTO session_message VALUES (?, ?, ?, ?, ?, ?, ?)",
            key, session, kind, seq, at, made, json.dumps(data) if data is not None else None,
        )  # fmt: skip
        return key

    def chat(self, session=A, words="Why does the crane overheat?", answer="It never idles."):
        question = self.say("user", words, session=session)
        return question, self.say("assistant", answer, session=session, parentID=question)


class Tree:
    """The files of old versions."""

    def __init__(self, folder):
        self.root = folder / "storage"
        self.at = T

    def write(self, place, data):
        path = self.root / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(data if isinstance(data, str) else json.dumps(data, indent=2))
        return path

    def session(self, key=A, *, title="Cranes", **more):
        time = {"created": self.at, "updated": self.at}
        data = {"id": key, "projectID": "p", "directory": CWD, "title": title, "time": time}
        return self.write(f"session/p/{key}.json", data | more)

    def say(self, role, *parts, session=A, at=None, key=None, **more):
        self.at += 1000
        at = at or self.at
        key = key or uid(self.at)
        data = {"id": key, "sessionID": session, "role": role, "time": {"created": at}, **more}
        if role == "assistant":
            data = {"modelID": "model-x", "path": {"cwd": CWD + "/src", "root": CWD}, **data}
        self.write(f"message/{session}/{key}.json", data)
        for number, part in enumerate(parts):
            given = text(part) if isinstance(part, str) else part
            name = uid(self.at, number, "prt")
            self.write(f"part/{key}/{name}.json", {"id": name, "messageID": key, **given})
        return key


def source(tmp_path, folder=None, named=None, reader=None):
    reader = reader or Logs(tmp_path / "copies")
    return OpenCodeSource(reader, folder or tmp_path / "opencode", named)


def parser():
    return RecordParser("/srv/cloxy", lambda: NOW)


def results(made, failures=None):
    """What is said in each session that a source finds."""
    items = list(made.discover([] if failures is None else failures))
    return {item.identity: parser().parse(item, list(made.read(item, 0)), {}) for item in items}


def said(made):
    """Sessions, roles, authors and words."""
    return [
        (message.session, message.role, message.author, message.text)
        for result in results(made).values()
        for message in result.messages
    ]
