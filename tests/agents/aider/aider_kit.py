"""Histories as Aider writes them, and what the plugin makes of them."""

import os
import time
from contextlib import contextmanager

from cloxy_core.services.logs.reader import Logs
from cloxy_core.testing.fakes import raw_lines as lines_of
from cloxy_hookspecs import SourceItem
from cloxy_hookspecs.logs.turns import TurnParser, raw_lines
from cloxy_plugins.aider.places import Places
from cloxy_plugins.aider.records import records_of
from cloxy_plugins.aider.source import Histories

NOW = 1_800_000_000_000
START = "2026-05-25 19:33:33"
SHOWN = ("Aider v0.86.1", "Main model: maker/large with diff edit format", "Git repo: .git")
USAGE = "Tokens: 3.2k sent, 210 received."


def head(start=START, *shown):
    return f"\n# aider chat started at {start}\n\n" + said_by_aider(*(shown or SHOWN))


def prompt(*lines):
    return "\n#### " + "  \n#### ".join(lines) + "  \n"


def answer(text):
    return f"\n{text.strip()}\n\n"


def said_by_aider(*lines):
    return "".join(f"> {line}  \n" for line in lines)


def turn(typed, answered, *after):
    return prompt(*typed.split("\n")) + answer(answered) + said_by_aider(USAGE, *after)


def entry(at, *lines):
    return f"\n# {at}\n" + "".join(f"+{line}\n" for line in lines)


TALK = (
    head()
    + turn("Why does the crane stop?", "A clock race.", "Applied edit to crane.py")
    + prompt("/add crane.py")
    + said_by_aider("Added crane.py to the chat")
    + turn("Pin the clock", "It is pinned.")
)


def records(text, typed="", cwd="/srv/harbour"):
    data = text if isinstance(text, bytes) else text.encode()
    return list(records_of(data, typed.encode(), cwd))


def messages(text, typed=""):
    return [record for record in records(text, typed) if record["kind"] == "message"]


def told(text, typed=""):
    """Role and words of each message."""
    return [(each["role"], each["text"]) for each in messages(text, typed)]


def keys(text):
    return [each["session"] for each in records(text) if each["kind"] == "session"]


def item_of(data=b""):
    return SourceItem("/srv/harbour/.aider.chat.history.md", "1:2", len(data), NOW * 1_000_000)


def parser(own="/nowhere/cloxy"):
    return TurnParser(own, lambda: NOW)


def parsed(text, typed=""):
    return parser().parse(item_of(), list(raw_lines(records(text, typed), 0)), {})


def parsed_lines(data):
    return parser().parse(item_of(data), lines_of(data), {})


def source(tmp_path, *folders, environment=None):
    """The source as it is made when agents were used in some folders."""
    reader = Logs(tmp_path / "private")
    places = Places(environment or {}, tmp_path / "home")
    return Histories(reader, places, lambda: places.histories(folders))


def found(made, under=None):
    failures = []
    return list(made.discover(failures, under)), failures


@contextmanager
def zone(name):
    """Another time zone of this machine."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = name
    time.tzset()
    try:
        yield
    finally:
        if before is None:
            del os.environ["TZ"]
        else:
            os.environ["TZ"] = before
        time.tzset()
