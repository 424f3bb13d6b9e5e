"""Whatever happened to a session's file, reading it never fails without a word."""

import time

import pytest
from agents.damage import assert_records_are_told, is_json
from agents.sources import items, read, records, texts
from agents.written_stores import LOOKS, PATIENCE, writing
from continue_kit import HISTORY, Home, assistant, only, user

from cloxy_core.testing.mutations import mutate


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path / "global")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "the file is empty"),
        (b" \n", "the file is empty"),
        (b'{"sessionId": "s1", "history": [', "the file is not JSON"),
        (b"\x00" * 200, "the file is not JSON"),
        (b"[" * 100_000, "the file is not JSON"),
        (b"[1]", "the file holds no session"),
        (b"{}", "the file holds no session"),
        (b'{"history": {"a": 1}}', "the file holds no session"),
    ],
)
def test_a_file_that_is_no_session_is_told(home, data, reason):
    (home.sessions / "s1.json").write_bytes(data)
    result = only(home)
    assert result.messages == []
    assert [line.reason for line in result.bad_lines] == [reason]


def test_texts_that_are_no_unicode_are_repaired(home):
    home.write([user("HALF ZERO"), assistant("rocket")])
    path = home.sessions / "s1.json"
    data = path.read_bytes().replace(b"HALF", b"build ok \\ud83d").replace(b"ZERO", b"\x01\\u0000")
    path.write_bytes(b"\xef\xbb\xbf" + data.replace(b"rocket", b"\\ud83d\\ude80 \xff"))
    assert texts(only(home)) == [
        ("user", "build ok \ufffd \x01\x00"),
        ("assistant", "\U0001f680 \ufffd"),
    ]


def test_damaged_sessions(home):
    path = home.write()
    whole = path.read_bytes()
    lost = 0
    for seed in range(300):
        path.write_bytes(mutate(whole, seed))
        result = only(home)
        lost += len(result.messages) < 4
        if len(result.messages) < 4 and not is_json(path.read_bytes()):
            assert result.bad_lines or result.unknown, seed
    assert lost > 100, "the damage has to hit something"


def test_damaged_lists(home):
    home.write()
    path = home.sessions / "sessions.json"
    whole = path.read_bytes()
    for seed in range(100):
        path.write_bytes(mutate(whole, seed))
        assert len(only(home).messages) == 4


def test_damaged_records(home):
    home.write()
    (item,), _ = items(home.source)
    assert_records_are_told(records(home.source, item), 100, "/s.json")


@pytest.mark.parametrize("value", [None, 7, "x", [], [None], [[]], {}, {"a": 1}, True, 1.5, 2**70])
def test_values_of_no_known_form(home, value):
    for key in ("sessionId", "title", "workspaceDirectory", "chatModelTitle", "mode", "usage"):
        home.write(**{key: value}, name="s1", listed=False)
        assert len(only(home).messages) == 4
    for key in ("contextItems", "editorState", "promptLogs", "reasoning", "conversationSummary"):
        home.write([each | {key: value} for each in HISTORY], listed=False)
        assert len(only(home).messages) >= 4
        home.write([user("x", editorState={"content": [{"type": "mention", "attrs": value}]},
                         contextItems=[{"content": value}])], listed=False)  # fmt: skip
        assert texts(only(home)) == [("user", "x")]
    for key in ("role", "content", "id", "toolCalls"):
        home.write([{"message": each["message"] | {key: value}} for each in HISTORY], listed=False)
        only(home)
    for key in ("text", "type", "imageUrl"):
        home.write([user([{"type": "text", "text": "x", key: value}])], listed=False)
        only(home)
    home.write(history=[value], listed=False)
    only(home)
    home.list({"sessionId": "s1", "dateCreated": value, "title": value})
    home.write(title=None, listed=False)
    assert len(only(home).messages) == 4


WRITER = """
import json, os, sys
path, test = sys.argv[1], os.getppid()
print("ready", flush=True)
history = []
while os.getppid() == test:
    number = len(history)
    said = {"role": "user", "id": f"u{number}", "content": f"words {number} " + "x" * 20_000}
    history.append({"message": said, "contextItems": []})
    with open(path, "w") as file:
        file.write(json.dumps({"sessionId": "s1", "title": "T", "history": history}))
    if number > 40:
        history = []
"""


def test_a_session_that_is_written_all_the_time(home):
    """Each look sees a whole session, or tells that it could not."""
    path = home.write()
    with writing("-c", WRITER, path):
        whole = 0
        until = time.monotonic() + PATIENCE
        while whole < LOOKS and time.monotonic() < until:
            found, failures = items(home.source)
            assert failures == []
            for item in found:
                result = read(home.source, item)
                if result.bad_lines:
                    assert result.messages == []
                    continue
                words = [message.text[:8] for message in result.messages if "x" in message.text]
                assert words == [f"words {n} "[:8] for n in range(len(words))]
                whole += bool(words)
    assert whole == LOOKS
