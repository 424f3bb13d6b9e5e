"""Whole imports of ChatGPT and Claude.ai exports, as a person starts them."""

import json
import signal
import subprocess

import pytest
from exchange.exchange_kit import SECRET, Place
from exchange.foreign_kit import (
    chatgpt,
    claude_ai,
    claude_message,
    node,
    packed,
    plain_chatgpt,
    said,
)

from cloxy_core.services.exchange.foreign import translation

TELLING = "The lighthouse keeper's spare key hangs behind the third barometer."


@pytest.fixture
def place(tmp_path):
    made = Place(tmp_path / "place")
    made.folder.mkdir()
    return made


def written(folder, value, name="export.zip"):
    file = folder / name
    data = json.dumps(value).encode()
    file.write_bytes(packed({"conversations.json": data}) if name.endswith(".zip") else data)
    return file


def kept(place):
    return [
        (line["session"], line["role"], line["text"])
        for line in place.export()
        if line["kind"] == "message"
    ]


def test_a_snapshot_is_taken_once_and_the_next_one_adds_what_is_new(place, tmp_path):
    first = [plain_chatgpt("c-1"), chatgpt(node("r", None), key="c-0")]
    file = written(tmp_path, first)
    summary, _said = place.take(file)
    assert summary["messages"] == {"new": 2, "known": 0, "forgotten": 0, "empty": 0, "ruled_out": 0}
    assert summary["sessions"] == {"new": 1, "known": 0, "forgotten": 0, "empty": 0, "ruled_out": 0}
    assert (summary["agent"], summary["without_messages"]) == ("chatgpt", 1)
    assert summary["first"] == "2026-02-02T02:40:00.250Z"
    assert summary["last"] == "2026-02-02T02:40:01.250Z"
    before = place.export()
    again, _said = place.take(file)
    assert again["messages"] == {"new": 0, "known": 2, "forgotten": 0, "empty": 0, "ruled_out": 0}
    assert again["sessions"]["known"] == 1
    assert [line for line in place.export() if line["kind"] != "header"] == [
        line for line in before if line["kind"] != "header"
    ]
    bare = written(tmp_path, [*first, plain_chatgpt("c-2")], "conversations.json")
    more, _said = place.take(bare)
    assert more["messages"] == {"new": 2, "known": 2, "forgotten": 0, "empty": 0, "ruled_out": 0}
    rows = place.rows("select agent, key, title, project_id from sessions order by key")
    assert rows == [
        ("chatgpt", "c-1", "Tide tables", None),
        ("chatgpt", "c-2", "Tide tables", None),
    ]


def test_a_message_that_changed_is_followed_in_its_place(place, tmp_path):
    place.take(written(tmp_path, [plain_chatgpt("c-1"), plain_chatgpt("c-2")]))
    changed = plain_chatgpt("c-1")
    changed["mapping"]["c-1-q"]["message"]["content"]["parts"] = ["Where are the sea charts kept?"]
    place.take(written(tmp_path, [changed, plain_chatgpt("c-2", "On the shelf.")]))
    assert kept(place) == [
        ("c-1", "user", "Where are the sea charts kept?"),
        ("c-1", "assistant", "In the drawer under the chart table."),
        ("c-2", "user", "Where do we keep the tide tables?"),
        ("c-2", "assistant", "On the shelf."),
    ]


def test_a_trial_says_what_would_come_and_writes_nothing(place, tmp_path):
    file = written(tmp_path, [claude_ai(claude_message("m1", "human", "one"))])
    summary, _said = place.take(file, "--dry-run")
    assert summary["agent"] == "claude-ai"
    assert summary["messages"]["new"] == 1
    assert summary["first"] == summary["last"] == "2026-03-01T08:00:00.500Z"
    assert not place.data.exists()
    shown = place.run("import", file, "--dry-run").stdout.decode()
    assert "claude-ai, 2026-03-01T08:00:00.500Z to 2026-03-01T08:00:00.500Z" in shown


def test_secrets_are_replaced_and_what_was_said_is_found(place, tmp_path):
    talk = claude_ai(
        claude_message("m1", "human", f"My token is {SECRET}, is that safe?"),
        claude_message("m2", "assistant", TELLING),
        name=f"About {SECRET}",
    )
    summary, _said = place.take(written(tmp_path, [talk]))
    assert summary["redactions"] >= 2
    for each in place.data.iterdir():
        assert not each.is_file() or SECRET.encode() not in each.read_bytes(), each.name
    (hits,) = place.recall("lighthouse barometer")
    assert any(TELLING in hit["content"] for hit in hits)


def test_what_was_forgotten_stays_forgotten(place, tmp_path):
    file = written(
        tmp_path,
        [
            claude_ai(
                claude_message("m1", "human", "Where is the key?"),
                claude_message("m2", "assistant", TELLING),
            ),
            plain_chatgpt_like_claude(),
        ],
    )
    place.take(file)
    with place.server() as live:
        status, said_back = live.ask("POST", "/forget", {"source_prefix": "convo:k-1"})
        assert status == 200, said_back
    again, _said = place.take(file)
    assert again["messages"] == {"new": 0, "known": 1, "forgotten": 2, "empty": 0, "ruled_out": 0}
    assert again["sessions"]["new"] == 0
    trial, _said = place.take(file, "--dry-run")
    assert trial["messages"]["forgotten"] == 2
    assert TELLING not in [text for _session, _role, text in kept(place)]


def plain_chatgpt_like_claude():
    return claude_ai(claude_message("n1", "human", "Another question."), key="k-2")


def test_a_cut_file_is_said_and_what_is_there_is_taken(place, tmp_path):
    file = tmp_path / "cut.json"
    file.write_bytes(json.dumps([plain_chatgpt("c-1"), plain_chatgpt("c-2")]).encode()[:-50])
    summary, complaints = place.take(file, code=1)
    assert summary["messages"]["new"] == 2
    assert "the file is cut: its list of conversations does not end" in complaints
    assert "download the export again" in complaints


def test_a_bad_conversation_is_named_by_its_number(place, tmp_path):
    file = written(tmp_path, [plain_chatgpt("c-1"), {"mapping": {}}, plain_chatgpt("c-3")])
    summary, complaints = place.take(file, code=1)
    assert (summary["bad"], summary["messages"]["new"]) == (1, 4)
    assert "conversation 2: it has no id" in complaints


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"PK\x03\x04 and no more", "the zip is damaged or cut"),
        (b'[{"neither": "of them"}]', "it holds no conversations of ChatGPT or Claude.ai"),
        (packed({"users.json": b"[]"}), "it is a zip without conversations.json"),
        (packed({"conversations.json": b"[" + b" " * 20_000_000}), "which no text does"),
    ],
)
def test_what_cannot_be_read_is_refused_before_anything_is_made(place, tmp_path, data, words):
    file = tmp_path / "bad.zip"
    file.write_bytes(data)
    done = place.run("import", file)
    assert done.returncode == 4
    assert words in done.stderr.decode()
    assert not place.data.exists()


def test_nothing_is_left_running_when_an_import_ends_early(tmp_path):
    talk = chatgpt(node("q", None, said("user", "x" * 5_000_000)), current="q")
    with (
        written(tmp_path, [talk], "long.json").open("rb") as file,
        translation(file, "long.json") as foreign,
    ):
        foreign.begin()
        child = foreign._child
        assert child.poll() is None
    assert isinstance(child, subprocess.Popen)
    assert child.returncode == -signal.SIGKILL


def test_a_process_that_dies_is_told(tmp_path):
    talks = [chatgpt(node("q", None, said("user", "x" * 5_000_000)), current="q")]
    with (
        written(tmp_path, talks, "long.json").open("rb") as file,
        translation(file, "long.json") as foreign,
    ):
        foreign.begin()
        foreign._child.kill()
        foreign.lines.read()
        foreign.finish(lambda number, words: None)
        assert "the process that reads it ended" in foreign.summary.cut
