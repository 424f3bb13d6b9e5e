"""Sessions as VS Code writes them, made by the tests."""

import json
import os
import sqlite3

from agents.sources import items, read

from cloxy_core.services.logs.reader import Logs
from cloxy_plugins.copilot_vscode.source import ChatSessions

AT = 1_770_650_022_790
SESSION = "5b0c3f0e-1111-4222-8333-444455556666"
FOLDER = "file:///srv/demo/harbour"


def markdown(text):
    return {"value": text, "supportThemeIcons": False, "supportHtml": False}


def request(number, text, *response, **more):
    parts = [markdown(part) if isinstance(part, str) else part for part in response]
    return {
        "requestId": f"request_{number}",
        "timestamp": AT + number * 60_000,
        "message": {"text": text, "parts": [{"text": text, "kind": "text"}]},
        "variableData": {"variables": []},
        "response": parts,
        "result": {"metadata": {"renderedUserMessage": [{"type": 1, "text": "THE WHOLE PROMPT"}]}},
        "modelId": "copilot/gpt-x",
        "isCanceled": False,
        **more,
    }


def session(*requests, key=SESSION, **more):
    return {
        "version": 3,
        "requesterUsername": "pat",
        "responderUsername": "GitHub Copilot",
        "initialLocation": "panel",
        "requests": list(requests),
        "sessionId": key,
        "creationDate": AT,
        "lastMessageDate": AT,
        "isImported": False,
        **more,
    }


def two():
    return session(
        request(1, "Why does the crane overheat?", "It never idles."),
        request(2, "Add a test for Ünïcödé 港", "Done."),
    )


def log(*operations):
    """A log of operations."""
    return b"".join(json.dumps(each).encode() + b"\n" for each in operations)


def logged(state):
    """A session as the log that a window writes while it is held."""
    lines = [{"kind": 0, "v": {**state, "requests": []}}]
    for number, each in enumerate(state["requests"]):
        lines.append({"kind": 1, "k": ["inputState", "inputText"], "v": "NEVER SENT"})
        lines.append({"kind": 2, "k": ["requests"], "v": [{**each, "response": []}]})
        for place, part in enumerate(each["response"]):
            path = ["requests", number, "response"]
            lines.append({"kind": 2, "k": path, "i": place, "v": [part]})
    return log(*lines)


def place(user, name=f"{SESSION}.json", *, workspace="h1", folder=FOLDER):
    """The path of a session's file in a workspace."""
    path = user / "workspaceStorage" / workspace / "chatSessions" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if folder:
        file = path.parent.parent / "workspace.json"
        file.write_text(json.dumps({"folder": folder}))
    return path


def put(path, state, *, age=None):
    data = state if isinstance(state, bytes) else json.dumps(state).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    if age is not None:
        os.utime(path, (1_780_000_000 - age,) * 2)
    return path


def listed(folder, titles):
    """The list of sessions in the database of a workspace, among keys that hold secrets."""
    entries = {key: {"sessionId": key, "title": title} for key, title in titles.items()}
    rows = [
        ("chat.ChatSessionStore.index", json.dumps({"version": 1, "entries": entries})),
        ("secret://github", "FAKE-SECRET"),
    ]
    with sqlite3.connect(folder / "state.vscdb") as database:
        database.execute("CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
        database.executemany("INSERT INTO ItemTable VALUES (?, ?)", rows)
    database.close()


def source(user, tmp_path, **more):
    return ChatSessions(Logs(tmp_path / "copies"), [user], **more)


def only(user, tmp_path):
    made = source(user, tmp_path)
    (item,), failures = items(made)
    assert not failures
    return read(made, item)


def at_home(folder, monkeypatch):
    """The `User` folder of VS Code, which the environment names."""
    monkeypatch.setenv("HOME", str(folder / "home"))
    monkeypatch.setenv("VSCODE_PORTABLE", str(folder / "portable"))
    for name in ("VSCODE_APPDATA", "VSCODE_AGENT_FOLDER", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    return folder / "portable" / "user-data" / "User"
