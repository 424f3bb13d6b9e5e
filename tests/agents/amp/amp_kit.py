"""Threads as Amp writes them, made by the tests."""

import os
from pathlib import Path

from agents.json_files import put
from agents.sources import only

from cloxy_core.services.logs.reader import Logs
from cloxy_plugins.amp.source import threads_in

AT = 1_761_000_000_000
THREAD = "T-0b9d1c1e-58c1-4c55-9f43-2a8a6a3c1d10"
OTHER = "T-7a6f0a52-0d4b-4a47-8f0e-6a86a2a3f0aa"
HARBOUR = "/srv/demo/harbour"
TREE = {
    "displayName": "harbour",
    "uri": f"file://{HARBOUR}",
    "repository": {"type": "git", "url": "https://x/y", "ref": "refs/heads/crane", "sha": "1"},
}


def text(words):
    return {"type": "text", "text": words}


def user(number, *parts, at=None, **more):
    """What a person said, ten seconds for each place after the start."""
    content = [text(part) if isinstance(part, str) else part for part in parts]
    sent = AT + 10_000 * number if at is None else at
    head = {"role": "user", "messageId": number, "content": content}
    return {**head, "meta": {"sentAt": sent}, "userState": {"currentlyVisibleFiles": ["V"]}, **more}


def assistant(number, *parts, **more):
    content = [text(part) if isinstance(part, str) else part for part in parts]
    head = {"role": "assistant", "messageId": number, "content": content}
    return {**head, "state": {"type": "complete"}, "usage": {"model": "model-x"}, **more}


THOUGHT = {"type": "thinking", "thinking": "SECRET THOUGHTS", "signature": "S"}
CALL = {"type": "tool_use", "id": "t1", "name": "Grep", "input": {"pattern": "TOOL INPUT"}}
RESULT = {"type": "tool_result", "toolUseID": "t1", "run": {"status": "done", "result": "OUTPUT"}}


def answered(number):
    """The answer of a tool, which is a message of the user's role."""
    return {"role": "user", "messageId": number, "content": [RESULT]}


def talk():
    return [
        user(0, "Why does the crane overheat?"),
        assistant(1, THOUGHT, "Let me look.", CALL),
        answered(2),
        assistant(3, "It never idles."),
        user(4, "Add a test for Ünïcödé 港"),
        assistant(5, "Done."),
    ]


TALK = [
    ("user", "Why does the crane overheat?"),
    ("assistant", "Let me look."),
    ("assistant", "It never idles."),
    ("user", "Add a test for Ünïcödé 港"),
    ("assistant", "Done."),
]


def thread(*messages, key=THREAD, **more):
    return {
        "v": 12,
        "id": key,
        "created": AT - 5000,
        "title": "Crane",
        "agentMode": "smart",
        "env": {"initial": {"trees": [TREE], "tags": ["x"]}},
        "messages": list(messages),
        "usageLedger": {"events": []},
        "~debug": {"lastInferenceInput": {"messages": [user(0, "DEBUG COPY")]}},
        **more,
    }


def aged(path, seconds):
    """The same file, as if written so many seconds before a moment of the past."""
    at = AT * 1_000_000 - seconds * 1_000_000_000
    os.utime(path, ns=(at, at))
    return path


class Threads:
    """A folder of threads, and the source over it."""

    def __init__(self, folder):
        self.folder = Path(folder) / "threads"
        self.logs = Logs(Path(folder) / "copies")
        self.source = threads_in(self.logs, [self.folder])

    def put(self, *messages, key=THREAD, **more):
        return put(self.folder / f"{key}.json", thread(*messages, key=key, **more))

    def read(self):
        return only(self.source)
