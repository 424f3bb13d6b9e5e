"""`GET /sessions`: which sessions are told, in which order, a page at a time."""

from urllib.parse import urlencode

import pytest


def ids(server, **asked):
    return [each["id"] for each in server.get(f"/sessions?{urlencode(asked)}")["sessions"]]


SEEN = ["shared-key", "shared-key", "wing-0001-fork", "wing-0001"]


def test_newest_first_and_without_sub_agents_programs_and_what_is_empty(filled):
    # The session of Claude Code is of 8 May, that of Gull with the same id of the same day, later.
    assert ids(filled) == SEEN


def test_all_has_sub_agents_and_programs_too(filled):
    found = ids(filled, all="true")
    assert set(found) - set(SEEN) == {"wing-0001/sub-1", "robot-77"}
    assert "empty-01" not in found


def test_what_is_told_of_one(filled):
    (told,) = filled.get("/sessions?words=gate+of")["sessions"]
    assert told == {
        "id": "wing-0001",
        "agent": "gull",
        "title": "Gate of the Harbour",
        "project": "/srv/port",
        "branch": "main",
        "parent": None,
        "relation": None,
        "program": False,
        "started_at": "2026-05-05T16:53:20.000Z",
        "ended_at": "2026-05-05T16:53:20.002Z",
        "messages": 3,
    }
    listed = filled.get("/sessions?all=true&words=counting")["sessions"]
    assert [(each["parent"], each["relation"]) for each in listed] == [("wing-0001", "subagent")]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"words": "HARBOUR gate"}, ["wing-0001"]),
        ({"words": "harbour swan"}, []),
        ({"words": "gate_"}, []),
        ({"project": "port"}, ["wing-0001-fork", "wing-0001"]),
        ({"project": "/srv"}, ["shared-key", "wing-0001-fork", "wing-0001"]),
        ({"project": "/srv/nowhere"}, []),
        ({"agent": "Gull", "project": "/srv/demo"}, []),
        ({"agent": "claude-code"}, ["shared-key"]),
        ({"until": "2026-05-05"}, ["wing-0001"]),
        ({"since": "2026-05-06", "until": "2026-05-06"}, ["wing-0001-fork"]),
        ({"since": "2026-05-06", "agent": "gull"}, ["shared-key", "wing-0001-fork"]),
        ({"until": "2026-05-05T16:00+00:00"}, []),
        ({"until": "2026-05-05", "tz": "Pacific/Kiritimati"}, []),
    ],
)
def test_filters(filled, asked, expected):
    assert ids(filled, **asked) == expected


def test_pages_hold_everything_once(filled):
    whole = filled.get("/sessions?all=true")["sessions"]
    pages, query = [], "/sessions?all=true&limit=1"
    answer = filled.get(query)
    while True:
        pages += answer["sessions"]
        if answer["next"] is None:
            break
        answer = filled.get(f"{query}&cursor={answer['next']}")
    assert pages == whole
    assert len(pages) == 6


@pytest.mark.parametrize(
    ("query", "status", "words"),
    [
        ("cursor=no+cursor", 400, "no cursor"),
        ("cursor=AAAA", 400, "no cursor"),
        ("limit=0", 422, "limit"),
        ("limit=1_0", 422, "limit"),
        ("limit=501", 422, "limit"),
        ("since=whenever", 400, "whenever"),
        ("tz=Mars/Base", 400, "Mars"),
    ],
)
def test_what_cannot_be_read_is_refused(filled, query, status, words):
    found, answer = filled.ask("GET", f"/sessions?{query}")
    assert (found, words in str(answer)) == (status, True), answer


def test_a_cursor_belongs_to_its_filters(filled):
    cursor = filled.get("/sessions?limit=1")["next"]
    status, answer = filled.ask("GET", f"/sessions?agent=gull&cursor={cursor}")
    assert (status, "other filters" in answer["detail"]) == (400, True)
