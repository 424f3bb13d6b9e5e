"""Folders of notes, and what the plugin makes of them."""

from pathlib import Path

from cloxy_core.services.logs.reader import Logs
from cloxy_hookspecs.logs.documents import Document
from cloxy_hookspecs.logs.turns import TurnParser
from cloxy_plugins.notes.records import records_of
from cloxy_plugins.notes.source import Notes

NOW = 1_800_000_000_000
CHANGED = 1_760_000_000_000
HEAD = 'title: "The harbour: a plan"\ndate: 2025-03-04T10:30:00Z\ntags: [crane, "deep water"]'
FRONT = f"---\n{HEAD}\n---\n"
BODY = "# Harbour\n\nIntro words.\n\n## Crane\n\nLifts *ten* tons.\n\n## Quay\n\nIs long.\n"
NOTE = FRONT + BODY


def records(text, name="plan.md", folder="/srv/notes"):
    data = text if isinstance(text, bytes) else text.encode()
    path = Path(folder) / name
    return list(records_of(Document(Path(folder), path, data, CHANGED * 1_000_000)))


def messages(text, name="plan.md"):
    return [each for each in records(text, name) if each["kind"] == "message"]


def texts(text):
    return [each["text"] for each in messages(text)]


def title(text, name="plan.md"):
    return next(each["title"] for each in records(text, name) if each["kind"] == "session")


def ids(text):
    """Id of each section, by its first line."""
    return {each["text"].split("\n")[0]: each["uid"] for each in messages(text)}


def times(text, name="plan.md"):
    return [(each["at"], each["approximate"]) for each in messages(text, name)]


def parser(own="/nowhere/cloxy"):
    return TurnParser(own, lambda: NOW)


def source(tmp_path, *folders):
    return Notes(Logs(tmp_path / "private"), folders)


def found(made, under=None):
    failures = []
    return list(made.discover(failures, under)), failures
