"""Threads as Zed writes them, made by the tests."""

import json
import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

from cloxy_core.services.logs.reader import Logs
from cloxy_plugins.zed.places import data_folders, text_thread_folders
from cloxy_plugins.zed.source import text_threads_source, threads_source

try:
    from compression import zstd
except ImportError:
    from backports import zstd

BEGUN = "2026-02-06T02:06:21.947492671Z"
CHANGED = "2026-02-06T02:10:31.190699425+00:00"
BEGUN_AT = 1_770_343_581_947
CHANGED_AT = 1_770_343_831_190

CREATE = """
    CREATE TABLE IF NOT EXISTS threads (
        id TEXT PRIMARY KEY,
        summary TEXT NOT NULL,
        updated_at TEXT NOT NULL,
        data_type TEXT NOT NULL,
        data BLOB NOT NULL
    )
"""
ADDED = ("parent_id", "folder_paths", "folder_paths_order", "created_at")
SNAPSHOT = {
    "worktree_snapshots": [
        {"worktree_path": "/srv/demo/dock", "git_state": {"current_branch": "other"}},
        {
            "worktree_path": "/srv/demo/harbour",
            "git_state": {"current_branch": "main", "diff": "LARGE DIFF", "remote_url": None},
        },
    ],
    "unsaved_buffer_paths": [],
    "timestamp": BEGUN,
}


def user(*content, key="u1"):
    parts = [{"Text": each} if isinstance(each, str) else each for each in content]
    return {"User": {"id": key, "content": parts}}


def mention(uri, content="FILE BODY"):
    return {"Mention": {"uri": uri, "content": content}}


def agent(*content):
    parts = [{"Text": each} if isinstance(each, str) else each for each in content]
    results = {"t1": {"tool_use_id": "t1", "content": {"Text": "TOOL OUTPUT"}}}
    return {"Agent": {"content": parts, "tool_results": results, "reasoning_details": None}}


THINKING = {"Thinking": {"text": "SECRET THOUGHTS", "signature": "x"}}
TOOL = {"ToolUse": {"id": "t1", "name": "grep", "input": {"q": "TOOL INPUT"}}}
MESSAGES = [
    user("Why does the crane overheat?"),
    agent(THINKING, "It never idles.", TOOL),
    agent(TOOL),
    "Resume",
    user("Add a test for Ünïcödé 港", key="u2"),
    agent({"RedactedThinking": "SECRET"}, "Done."),
]
CHAT = [
    ("user", "Why does the crane overheat?"),
    ("assistant", "It never idles."),
    ("user", "Add a test for Ünïcödé 港"),
    ("assistant", "Done."),
]


def document(messages=MESSAGES, **more):
    """A thread of the present form."""
    return {
        "title": "Crane",
        "messages": messages,
        "updated_at": CHANGED,
        "detailed_summary": None,
        "initial_project_snapshot": SNAPSHOT,
        "model": {"provider": "p", "model": "model-x"},
        "imported": False,
        "draft_prompt": [{"type": "text", "text": "DRAFT NEVER SENT"}],
        "version": "0.3.0",
        **more,
    }


def old_message(number, role, *texts, **more):
    segments = [{"type": "text", "text": text} for text in texts]
    return {"id": number, "role": role, "segments": segments, "tool_uses": [], "tool_results": [],
            "context": "FILE BODY", **more}  # fmt: skip


OLD_MESSAGES = [
    old_message(0, "user", "Why does the crane overheat?"),
    old_message(1, "assistant", "It never idles.", tool_uses=[{"input": "TOOL INPUT"}],
                tool_results=[{"content": "TOOL OUTPUT"}]),
    old_message(2, "user", "Add a test for Ünïcödé 港"),
    old_message(3, "assistant", "Done."),
]  # fmt: skip
OLD_MESSAGES[1]["segments"][:0] = [{"type": "thinking", "text": "SECRET THOUGHTS"}]


def old_document(messages=OLD_MESSAGES, **more):
    """A thread of the form that came before."""
    return {
        "version": "0.2.0",
        "summary": "Crane",
        "updated_at": CHANGED,
        "messages": messages,
        "initial_project_snapshot": SNAPSHOT,
        "detailed_summary_state": "NotGenerated",
        "model": {"provider": "p", "model": "model-x"},
        **more,
    }


def packed(value):
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return zstd.compress(data, 3)


def write(path, key="t1", value=None, *, kind="zstd", data=None, columns=ADDED, wal=False, **row):
    """Save a thread as Zed does: the row is replaced."""
    path.parent.mkdir(parents=True, exist_ok=True)
    value = document() if value is None else value
    if data is None:
        data = packed(value) if kind == "zstd" else json.dumps(value).encode()
    facts = {
        "summary": "Crane",
        "updated_at": CHANGED,
        "created_at": CHANGED,
        "folder_paths": "/srv/demo/harbour",
        "folder_paths_order": "0",
        **row,
    }
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA synchronous=OFF")
        if wal:
            database.execute("PRAGMA journal_mode=WAL")
        database.execute(CREATE)
        have = {name for _n, name, *_rest in database.execute("PRAGMA table_info(threads)")}
        for name in columns:
            if name not in have:
                database.execute(f"ALTER TABLE threads ADD COLUMN {name} TEXT")
        have |= set(columns)
        facts = {"id": key, "data_type": kind, "data": data} | {
            name: each for name, each in facts.items() if name in have
        }
        marks = ", ".join("?" * len(facts))
        database.execute(
            f"INSERT OR REPLACE INTO threads ({', '.join(facts)}) VALUES ({marks})",
            list(facts.values()),
        )
        database.commit()
    return path


def text_thread(*turns, key="tt1", version="0.4.0", hidden=(), **more):
    """A text thread: turns are (role, text), ranges that nobody wrote are given by their text."""
    text, messages, about = "", [], {}
    for number, (role, words) in enumerate(turns):
        start = len(text.encode())
        metadata = {"role": role, "status": "done", "timestamp": {"replica_id": 0, "value": number}}
        if version == "0.4.0":
            name = {"replica_id": 0, "value": number}
            messages.append({"id": name, "start": start, "metadata": metadata})
        else:
            messages.append({"id": number, "start": start})
            about[str(number)] = {"role": role, "status": "Done"}
        text += words + "\n"
    data = text.encode()
    ranges = {
        name: [{"range": {"start": data.index(each.encode()),
                          "end": data.index(each.encode()) + len(each.encode())},
                "icon": "File", "label": "x"} for found, each in hidden if found == name]
        for name in ("slash_command_output_sections", "thought_process_output_sections")
    }  # fmt: skip
    metadata = {} if version == "0.4.0" else {"message_metadata": about}
    return {"id": key, "zed": "context", "version": version, "text": text, "messages": messages,
            "summary": "Old crane", **metadata, **ranges, **more}  # fmt: skip


TALK = text_thread(
    ("user", "/file crane.py\nFILE BODY 港\nWhy does the crane overheat?"),
    ("assistant", "<think>\nSECRET\n</think>\nIt never idles. 港"),
    ("user", "Add a test"),
    ("assistant", "Done."),
    ("user", "DRAFT NEVER SENT"),
    hidden=[
        ("slash_command_output_sections", "FILE BODY 港"),
        ("thought_process_output_sections", "<think>\nSECRET\n</think>"),
    ],
)


class Zed:
    """Zed's folder, and the sources over it."""

    def __init__(self, folder):
        self.folder = Path(folder) / "zed"
        self.use(self.folder, self.folder)
        self.logs = Logs(Path(folder) / "copies")
        self.source = threads_source(self.logs, lambda: [self.folder])
        self.text_source = text_threads_source(self.logs, lambda: [self.folder])

    def use(self, data, settings):
        """Write where Zed does on this system."""
        self.database = data / "threads" / "threads.db"
        self.conversations = settings / "conversations"

    def write(self, *arguments, **more):
        return write(self.database, *arguments, **more)

    def write_text(self, value=TALK, name="Old crane - 1"):
        self.conversations.mkdir(parents=True, exist_ok=True)
        path = self.conversations / f"{name}.zed.json"
        path.write_bytes(value if isinstance(value, bytes) else json.dumps(value).encode())
        return path


def at_home(folder, monkeypatch):
    """Zed's folder in the home folder of somebody who has nothing else."""
    home = folder / "home"
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(home))
    monkeypatch.setenv("XDG_DATA_HOME", str(folder / "data"))
    monkeypatch.setenv("LOCALAPPDATA", str(folder / "data"))
    monkeypatch.delenv("FLATPAK_XDG_DATA_HOME", raising=False)
    zed = Zed(folder)
    here = (os.environ, home, sys.platform)
    zed.use(data_folders(*here)[0], text_thread_folders(*here)[0])
    return zed
