"""Sessions as Continue writes them, made by the tests."""

import json
from pathlib import Path

from agents.sources import items, read

from cloxy_core.services.logs.reader import Logs
from cloxy_plugins.continue_dev.source import sessions_source

BEGUN = 1_746_364_370_610
WRITTEN = 1_746_368_000_000
PROJECT = "file:///srv/demo/harbour"


def paragraph(*nodes):
    return {"type": "paragraph", "content": [
        {"type": "text", "text": node} if isinstance(node, str) else node for node in nodes
    ]}  # fmt: skip


def mention(label, **attributes):
    return {"type": "mention", "attrs": {"id": f"file:///x/{label}", "label": label, **attributes}}


def code(name, body):
    return {"type": "code-block", "attrs": {"item": {"name": name, "content": body}}}


def editor(*blocks):
    return {"type": "doc", "content": [
        paragraph(block) if isinstance(block, str) else block for block in blocks
    ]}  # fmt: skip


def user(text, key=None, **more):
    """What a person sends in an editor; `more` are fields of the entry."""
    content = [{"type": "text", "text": text}] if isinstance(text, str) else text
    message = {"role": "user", "content": content} | ({"id": key} if key else {})
    return {"message": message, "contextItems": [], **more}


def assistant(text, key=None, model="model-x", **more):
    logs = [{"modelTitle": "My model", "prompt": "FULL PROMPT", "completion": "FULL PROMPT",
             "completionOptions": {"model": model}}]  # fmt: skip
    message = {"role": "assistant", "content": text} | ({"id": key} if key else {})
    return {"message": message, "contextItems": [], "promptLogs": logs if model else [], **more}


HISTORY = [
    user("Why does the crane overheat?", "u1", editorState=editor("Why does the crane overheat?")),
    assistant(
        "",
        "a0",
        message={
            "role": "assistant",
            "content": "",
            "id": "a0",
            "toolCalls": [{"function": {"name": "TOOL CALL"}}],
        },
    ),
    {"message": {"role": "tool", "content": "TOOL OUTPUT", "toolCallId": "t"}, "contextItems": []},
    {"message": {"role": "thinking", "content": "SECRET THOUGHTS"}, "contextItems": []},
    assistant("It never idles.", "a1", reasoning={"text": "SECRET THOUGHTS"}),
    user("Add a test for Ünïcödé 港", "u2"),
    assistant("Done.", "a2"),
]
CHAT = [
    ("user", "Why does the crane overheat?"),
    ("assistant", "It never idles."),
    ("user", "Add a test for Ünïcödé 港"),
    ("assistant", "Done."),
]


class Home:
    """Continue's folder, and the source over it."""

    def __init__(self, folder):
        self.root = Path(folder)
        self.sessions = self.root / "sessions"
        self.sessions.mkdir(parents=True, exist_ok=True)
        self.logs = Logs(self.root.parent / "copies")
        self.source = sessions_source(self.logs, self.root)

    def write(self, history=HISTORY, key="s1", *, name=None, listed=True, **more):
        """Write a session, and then the list, as Continue does."""
        session = {"sessionId": key, "title": "Crane", "workspaceDirectory": PROJECT,
                   "history": history, **more}  # fmt: skip
        path = self.sessions / f"{name or key}.json"
        path.write_text(json.dumps(session))
        if listed:
            self.list({"sessionId": key, "title": session["title"], "dateCreated": str(BEGUN),
                       "workspaceDirectory": session["workspaceDirectory"]})  # fmt: skip
        return path

    def list(self, *entries):
        path = self.sessions / "sessions.json"
        known = json.loads(path.read_text()) if path.exists() else []
        keys = {entry["sessionId"] for entry in entries}
        others = [each for each in known if each["sessionId"] not in keys]
        path.write_text(json.dumps([*others, *entries]))


def only(home):
    (item,), failures = items(home.source)
    assert failures == []
    return read(home.source, item)
