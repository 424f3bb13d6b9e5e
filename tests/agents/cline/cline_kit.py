"""Tasks as Cline, Roo Code and Kilo Code write them, and sessions of Cline 4, made by the tests."""

import json
import os
from pathlib import Path

from agents.json_files import put
from agents.sources import items, only, read

from cloxy_core.services.logs.reader import Logs
from cloxy_plugins.cline.products import CLINE
from cloxy_plugins.cline.source import tasks_in

AT = 1_769_000_000_000
TASK = str(AT)
ROO_TASK = "0b9d1c1e-58c1-4c55-9f43-2a8a6a3c1d10"
HARBOUR = "/srv/demo/harbour"
DETAILS = (
    "<environment_details>\n# VSCode Visible Files\ncrane.py\n\n"
    f"# Current Working Directory ({HARBOUR}) Files\nCRANE LIST\n</environment_details>"
)
PNG = "data:image/png;base64,aGFyYm91cg=="
VARIABLES = (
    "VSCODE_PORTABLE",
    "VSCODE_APPDATA",
    "VSCODE_AGENT_FOLDER",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "APPDATA",
    "CLINE_DIR",
    "CLINE_DATA_DIR",
    "CLINE_SESSION_DATA_DIR",
)


def say(number, kind, text=None, **more):
    """A message of the window, so many seconds after the start."""
    return {"ts": AT + 1000 * number, "type": "say", "say": kind, "text": text, **more}


def ask(number, kind, text=None, **more):
    return {"ts": AT + 1000 * number, "type": "ask", "ask": kind, "text": text, **more}


def requested(number, text="Why does the crane overheat?"):
    request = f"<task>\n{text}\n</task>\n\n{DETAILS}"
    return say(number, "api_req_started", json.dumps({"request": request, "tokensIn": 7}))


def talk():
    """A short task."""
    return [
        say(0, "text", "Why does the crane overheat?", images=[]),
        requested(1),
        say(2, "reasoning", "SECRET THOUGHTS"),
        say(3, "text", "Let me look at the crane.", partial=False),
        ask(4, "tool", json.dumps({"tool": "readFile", "content": "FILE BODY"})),
        say(5, "completion_result", "It never idles.HAS_CHANGES"),
        ask(6, "completion_result", ""),
        say(7, "user_feedback", "Add a test for Ünïcödé 港"),
    ]


TALK = [
    ("user", "Why does the crane overheat?"),
    ("assistant", "Let me look at the crane."),
    ("assistant", "It never idles."),
    ("user", "Add a test for Ünïcödé 港"),
]


def text(words):
    return {"type": "text", "text": words}


def sent():
    """The same task as it is sent to a model."""
    return [
        {"role": "user", "content": [text("<task>\nWhy?\n</task>"), text(DETAILS)]},
        {
            "role": "assistant",
            "content": [
                text(
                    "<thinking>\nSECRET THOUGHTS\n</thinking>\nLet me look.\n"
                    "<read_file>\n<path>crane.py</path>\n</read_file>"
                )
            ],
        },
        {
            "role": "user",
            "content": [
                text("[read_file for 'crane.py'] Result:"),
                text("FILE BODY\nthe user\n<feedback>\nno words\n</feedback>"),
                text(DETAILS),
            ],
        },
    ]


def aged(path, seconds):
    """The same file, as if written so many seconds before a moment of the past."""
    at = AT * 1_000_000 - seconds * 1_000_000_000
    os.utime(path, ns=(at, at))
    return path


def said(words, role="user", **more):
    """A message of a session of Cline 4."""
    content = [text(words)] if isinstance(words, str) else words
    return {"role": role, "content": content, **more}


def typed(words):
    return f'<user_input mode="act">{words}</user_input>'


def session(sessions, key, *messages, child=None, manifest=None, compaction=None):
    """A session of Cline 4: its messages, its manifest."""
    folder = sessions / key
    about = {"version": 1, "session_id": key, "cwd": HARBOUR, "started_at": "2026-07-01T10:00:00Z"}
    if manifest is not None:
        put(folder / f"{key}.json", about | manifest)
    if compaction is not None:
        put(folder / f"{child or key}.compaction.json", {"version": 1, "messages": compaction})
    whole = {"version": 1, "messages": list(messages), "system_prompt": "SYSTEM PROMPT"}
    return put(folder / f"{child or key}.messages.json", whole)


class Tasks:
    """A folder of tasks, one of sessions, and the source over both."""

    def __init__(self, folder, product=CLINE):
        self.extension = Path(folder) / "globalStorage" / product.extensions[0]
        self.tasks = self.extension / "tasks"
        self.sessions = Path(folder) / "data" / "sessions"
        self.logs = Logs(Path(folder) / "copies")
        self.source = tasks_in(self.logs, product, [self.tasks], self.sessions)

    def shown(self, *messages, task=TASK):
        return put(self.tasks / task / "ui_messages.json", list(messages))

    def sent(self, *messages, task=TASK):
        return put(self.tasks / task / "api_conversation_history.json", list(messages))

    def beside(self, name, value, task=TASK):
        return put(self.tasks / task / name, value)

    def session(self, key, *messages, **more):
        return session(self.sessions, key, *messages, **more)

    def read(self):
        """What the only item says."""
        return only(self.source)

    def by_session(self):
        """Texts and facts of all items, by session."""
        found = {}
        for item in items(self.source)[0]:
            result = read(self.source, item)
            assert not result.bad_lines
            for key, facts in result.sessions.items():
                mine = [each for each in result.messages if each.session == key]
                found.setdefault(key, (facts, []))[1].extend(mine)
        return found


def at_home(folder, monkeypatch):
    """A home in which no variable names another folder."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(folder / "home"))
    monkeypatch.setenv("USERPROFILE", str(folder / "home"))
    return folder / "home"


def with_an_editor(folder, monkeypatch):
    """Such a home, beside the `globalStorage` folder of an editor that is portable."""
    at_home(folder, monkeypatch)
    monkeypatch.setenv("VSCODE_PORTABLE", str(folder / "portable"))
    return folder / "portable" / "user-data" / "User" / "globalStorage"
