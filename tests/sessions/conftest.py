"""A server with a few sessions that the tests of a module share."""

import pytest
from sessions.sessions_kit import DAY, FIRST, LONG, gulls


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """Sessions of two agents, with a sub-agent, a fork, a program and a long message."""
    with gulls(tmp_path_factory.mktemp("gulls")) as server:
        server.say(
            "wing-0001",
            {"id": "w1", "text": "Paint the Harbour gate", "at": FIRST, "cwd": "/srv/port",
             "branch": "main", "title": "Gate of the Harbour"},
            {"id": "w2", "role": "assistant", "author": "assistant", "text": LONG, "at": FIRST + 1,
             "model": "gull-9", "near": True},
            {"id": "w3", "text": "Thanks.\n", "at": FIRST + 2},
        )  # fmt: skip
        server.say(
            "wing-0001-fork",
            {"id": "f1", "text": "Blue instead", "at": FIRST + DAY, "cwd": "/srv/port",
             "parent": "wing-0001", "relation": "fork", "title": "Blue gate"},
        )  # fmt: skip
        server.say(
            "sub",
            {"session": "wing-0001/sub-1", "id": "s1", "author": "subagent", "text": "Count gulls",
             "at": FIRST + 3, "parent": "wing-0001", "title": "Counting gate"},
        )  # fmt: skip
        server.say(
            "robot-77",
            {"id": "r1", "author": "program", "text": "Nightly run", "at": FIRST + 2 * DAY,
             "program": True, "cwd": "/srv/nightly"},
        )  # fmt: skip
        server.say("empty-01", {"title": "Nothing said"})
        server.say("shared-key", {"id": "k1", "text": "Gull said so", "at": FIRST + 3 * DAY})
        server.say_claude("shared-key", "Claude was told so")
        server.take()
        yield server
