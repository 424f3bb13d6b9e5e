"""What is read of a session: words, answers, authors, titles, times, places."""

import hashlib
import json

import pytest
from agents.sources import items, read, texts
from vscode_kit import (
    AT,
    SESSION,
    listed,
    log,
    logged,
    only,
    place,
    put,
    request,
    session,
    source,
    two,
)

from cloxy_hookspecs.logs.addresses import path_of_uri
from cloxy_plugins.copilot_vscode.places import folder_of

CHAT = [
    ("user", "Why does the crane overheat?"),
    ("assistant", "It never idles."),
    ("user", "Add a test for Ünïcödé 港"),
    ("assistant", "Done."),
]


@pytest.fixture
def user(tmp_path):
    return tmp_path / "User"


def test_a_snapshot(user, tmp_path):
    put(place(user), two())
    result = only(user, tmp_path)
    assert texts(result) == CHAT
    first, answer = result.messages[:2]
    assert (first.uid, answer.uid) == ("request_1/user", "request_1/assistant")
    assert (first.session, first.author, first.model) == (SESSION, "human", None)
    assert (answer.author, answer.model) == ("assistant", "gpt-x")
    assert (first.at, first.approximate) == (AT + 60_000, False)
    assert (answer.at, answer.approximate) == (AT + 60_000, True)
    facts = result.sessions[SESSION]
    assert (facts.cwd, facts.title) == ("/srv/demo/harbour", "Why does the crane overheat?")
    assert first.cwd == "/srv/demo/harbour"


def test_a_log_of_operations_is_what_it_comes_to(user, tmp_path):
    state = {**two(), "customTitle": "Crane"}
    put(place(user, f"{SESSION}.jsonl"), logged(state))
    result = only(user, tmp_path)
    assert texts(result) == CHAT
    assert result.sessions[SESSION].title == "Crane"
    assert not result.bad_lines


def test_kinds_of_operations(user, tmp_path):
    lines = [
        {"kind": 0, "v": session()},
        {"kind": 2, "k": ["requests"], "v": [request(1, "old", "x"), request(2, "two", "a", "b")]},
        {"kind": 1, "k": ["requests", 0, "message", "text"], "v": "new"},
        {"kind": 2, "k": ["requests", 1, "response"], "i": 1, "v": [{"value": " c"}]},
        {"kind": 3, "k": ["requests", 0, "response"]},
        {"kind": 1, "k": ["inputState"], "v": {"inputText": "NEVER SENT"}},
        {"kind": 2, "k": ["requests"], "v": [request(3, "gone", "gone")]},
        {"kind": 2, "k": ["requests"], "i": 2},
    ]
    put(place(user, "s.jsonl"), log(*lines))
    assert texts(only(user, tmp_path)) == [
        ("user", "new"),
        ("user", "two"),
        ("assistant", "a c"),
    ]


def test_wrong_operations_are_passed_over_and_counted(user, tmp_path):
    wrong = [
        {"kind": 1, "k": ["requests", 7, "message"], "v": {}},
        {"kind": 2, "k": ["requests", 0, "message", "text"], "v": ["x"]},
        {"kind": 2, "k": ["requests"], "i": 99, "v": []},
        {"kind": 1, "k": [], "v": 1},
        {"kind": 1, "v": 1},
        {"kind": True, "k": ["customTitle"], "v": "x"},
        {"kind": 0, "v": []},
        {"kind": 2, "k": ["requests"], "v": {"a": 1}},
        {"kind": 1, "k": ["requests", True], "v": {}},
    ]
    data = logged(two()) + log(*wrong) + b'{"kind":1,"k":["customTi' + b"\n"
    data += log({"kind": 9, "k": ["x"], "v": 1})
    put(place(user, "s.jsonl"), data)
    result = only(user, tmp_path)
    assert texts(result) == CHAT
    assert len(result.bad_lines) == len(wrong) + 1
    assert result.unknown == {"operation 9": 1}


def test_the_log_wins_over_the_snapshot_unless_it_is_empty(user, tmp_path):
    put(place(user), session(request(1, "from the snapshot")))
    path = put(place(user, f"{SESSION}.jsonl"), b"")
    assert texts(only(user, tmp_path)) == [("user", "from the snapshot")]
    put(path, logged(two()), age=1_000_000)
    assert texts(only(user, tmp_path)) == CHAT


def test_a_session_in_two_folders_is_read_once_the_newest(user, tmp_path):
    old = put(place(user), session(request(1, "old")), age=100)
    new = put(place(user, workspace="h2", folder="file:///srv/demo/other"), two(), age=50)
    made = source(user, tmp_path)
    (item,), _ = items(made)
    assert item.uri == str(new)
    assert items(made, old.parent)[0] == []
    assert items(made, new)[0] == [item]
    assert read(made, item).sessions[SESSION].cwd == "/srv/demo/other"
    put(old, session(request(1, "old")), age=10)
    (moved,), _ = items(made)
    assert (moved.uri, moved.identity) == (str(old), item.identity)


@pytest.mark.parametrize("name", ["emptyWindowChatSessions", "transferredChatSessions"])
def test_windows_without_a_folder(user, tmp_path, name):
    put(user / "globalStorage" / name / f"{SESSION}.json", two())
    put(user / "globalStorage" / "workspace.json", {"folder": "file:///srv/demo/wrong"})
    result = only(user, tmp_path)
    assert texts(result) == CHAT
    assert result.sessions[SESSION].cwd is None


def test_nothing_else_is_looked_at(user, tmp_path):
    storage = user / "workspaceStorage" / "h1"
    for other in (
        storage / "chatEditingSessions" / "a.json",
        storage / "GitHub.copilot-chat" / "transcripts" / "a.jsonl",
        storage / "chatSessions" / "deeper" / "a.json",
        storage / "chatSessions" / ".a.json",
        storage / "chatSessions" / "a.txt",
        user / "globalStorage" / "github.copilot-chat" / "a.json",
        user / "settings.json",
    ):
        put(other, two())
    assert items(source(user, tmp_path)) == ([], [])


def test_noise_is_left_out_and_references_stand_in_their_sentence(user, tmp_path):
    uri = {"$mid": 1, "path": "/srv/demo/harbour/crane map.py", "scheme": "file"}
    symbol = {"name": "lift", "location": {"uri": uri, "range": {}}}
    answer = [
        {"kind": "mcpServersStarting", "didStartServerIds": []},
        {"kind": "thinking", "value": "SECRET THOUGHTS"},
        markdown_of("The file "),
        {"kind": "inlineReference", "inlineReference": uri},
        " calls `",
        {"kind": "inlineReference", "inlineReference": symbol},
        "`, see ",
        {"kind": "inlineReference", "name": "the docs", "inlineReference": {"uri": uri}},
        " and ",
        {"kind": "inlineReference", "inlineReference": {"uri": uri, "range": {}}},
        ".",
        {"kind": "toolInvocationSerialized", "invocationMessage": {"value": "Reading"}},
        "I change it:",
        "\n```\n",
        {"kind": "undoStop", "id": "u"},
        {"kind": "codeblockUri", "uri": uri, "isEdit": True},
        {"kind": "textEditGroup", "uri": uri, "edits": [[{"text": "SECRET EDIT"}]]},
        "\n```\n",
        {"kind": "markdownVuln", "content": {"value": "Done."}, "vulnerabilities": []},
        {"kind": "progressMessage", "content": {"value": "Working"}},
        "```py\n",
        {"kind": "codeblockUri", "uri": uri},
        "lift()\n```",
    ]
    put(place(user), session(request(1, "go", *answer)))
    result = only(user, tmp_path)
    assert texts(result)[1][1] == (
        "The file crane map.py calls `lift`, see the docs and crane map.py.\n\n"
        "I change it:\n\nDone.\n\n```py\nlift()\n```"
    )
    assert not result.unknown


def markdown_of(text):
    return {"value": {"value": text, "isTrusted": False}}


def test_unknown_parts_are_counted(user, tmp_path):
    put(place(user), session(request(1, "go", {"kind": "brandNew", "text": "x"}, "ok")))
    result = only(user, tmp_path)
    assert texts(result)[1] == ("assistant", "ok")
    assert result.unknown == {"response part brandNew": 1}


def test_texts_of_buttons_are_no_humans(user, tmp_path):
    put(
        place(user),
        session(
            request(1, "Allow it", "a", confirmation="Continue"),
            request(2, '@agent Continue: "Continue to iterate?"', "b"),
            request(3, "@agent Try Again", "c"),
            request(4, "terminal ended", "d", isSystemInitiated=True),
            request(5, "@agent Continue: with the crane", "e"),
            request(6, "@workspace why?", "f"),
            request(7, "/fix the crane", "g"),
        ),
    )
    result = only(user, tmp_path)
    authors = [message.author for message in result.messages if message.role == "user"]
    assert authors == ["program"] * 4 + ["human"] * 3
    assert result.sessions[SESSION].title == "@agent Continue: with the crane"


def test_pictures_are_named(user, tmp_path):
    raw = b"\x89PNG"
    variables = [
        {"kind": "image", "name": "shot", "mimeType": "image/png", "value": dict(enumerate(raw))},
        {"kind": "image", "name": "b.png", "value": {"$base64": "iVBORw=="}},
        {"kind": "image", "name": "gone.png", "mimeType": "image/png", "value": {}},
        {"kind": "file", "name": "crane.py", "value": "file:///x"},
    ]
    put(place(user), session(request(1, "look", variableData={"variables": variables})))
    digest = hashlib.sha256(raw).hexdigest()[:12]
    assert texts(only(user, tmp_path))[0][1] == (
        f"look\n\n[image: image/png, sha256 {digest}]\n[image: b.png, sha256 {digest}]\n"
        "[image: gone.png]"
    )


def test_an_empty_session_has_no_record(user, tmp_path):
    put(place(user), session())
    made = source(user, tmp_path)
    (item,), _ = items(made)
    assert list(made.read(item, 0)) == []


def test_titles(user, tmp_path):
    put(place(user), two())
    listed(user / "workspaceStorage" / "h1", {SESSION: "From the list", "x": "other"})
    assert only(user, tmp_path).sessions[SESSION].title == "From the list"
    put(place(user), {**two(), "customTitle": "  Own \n title "})
    assert only(user, tmp_path).sessions[SESSION].title == "Own title"
    # Without the list, or with one that cannot be read, the first words are the title.
    (user / "workspaceStorage" / "h1" / "state.vscdb").write_bytes(b"no database")
    put(place(user), two())
    assert only(user, tmp_path).sessions[SESSION].title == "Why does the crane overheat?"


def test_a_new_chat_in_the_list_is_no_title(user, tmp_path):
    put(place(user), two())
    listed(user / "workspaceStorage" / "h1", {SESSION: "New Chat"})
    assert only(user, tmp_path).sessions[SESSION].title == "Why does the crane overheat?"


def test_requests_without_times_have_that_of_the_session(user, tmp_path):
    one, other = request(1, "a"), request(2, "b")
    del one["timestamp"]
    other["timestamp"] = "yesterday"
    put(place(user), session(one, other))
    assert [(m.at, m.approximate) for m in only(user, tmp_path).messages] == [(AT, True)] * 2
    put(place(user), session(one, creationDate=10**17), age=0)
    assert [(m.at, m.approximate) for m in only(user, tmp_path).messages] == [
        (1_780_000_000_000, True)
    ]


def test_sessions_in_our_own_folder_are_not_taken(user, tmp_path):
    put(place(user, folder="file:///srv/demo/cloxy-data/x"), two())
    result = only(user, tmp_path)
    assert (list(result.messages), result.sessions) == ([], {})


def test_a_file_that_is_too_large_is_told(user, tmp_path):
    put(place(user), two())
    put(place(user, "small.json"), session(request(1, "small"), key="small"))
    found, failures = items(source(user, tmp_path, most=1000))
    assert [item.uri for item in found] == [str(place(user, "small.json"))]
    assert [failure.uri for failure in failures] == [str(place(user))]
    assert "such a session is not read" in failures[0].reason


@pytest.mark.parametrize(
    ("address", "path"),
    [
        ("file:///srv/demo/a%20b", "/srv/demo/a b"),
        ("file:///c%3A/Work/demo", r"C:\Work\demo"),
        ("file:///C:/", "C:\\"),
        ("file://server/share/demo", r"\\server\share\demo"),
        ("vscode-remote://ssh-remote%2Bbox/srv/demo", "/srv/demo"),
        ("vscode-remote://wsl%2Bubuntu/home/pat/demo/", "/home/pat/demo"),
        ("vscode-vfs://github/pat/demo", None),
        ("file:relative", None),
        ("http://[", None),
        ("", None),
    ],
)
def test_addresses_of_folders(address, path):
    assert path_of_uri(address) == path


@pytest.mark.parametrize(
    ("record", "path"),
    [
        ({"folder": "file:///srv/demo"}, "/srv/demo"),
        ({"workspace": "file:///srv/demo/all.code-workspace"}, "/srv/demo"),
        ({"workspace": {"configPath": "file:///c%3A/Work/all.code-workspace"}}, "C:\\Work"),
        ({"workspace": "file:///home/pat/.config/Code/Workspaces/17/workspace.json"}, None),
        ({"folder": 7}, None),
        ([], None),
    ],
)
def test_workspaces(record, path):
    assert folder_of(json.dumps(record).encode()) == path
