"""Where sessions lie, which copy of one is read, and where they were held."""

import hashlib
import json
import os
from pathlib import Path

import pytest
from gemini_kit import HASH, NAME, NOW, ROOT, SESSION, Log

from cloxy_plugins.gemini_cli.roots import old_qwen_folders, sessions_folder
from cloxy_plugins.gemini_cli.source import GeminiLogs

HOME = Path("/home/ann")
OLD = "2025-07-01T10:00:00.000Z"


@pytest.mark.parametrize(
    ("named", "parent"),
    [
        (None, HOME),
        (" ", HOME),
        ("/srv/g", Path("/srv/g")),
        ("~/work", HOME / "work"),
        ("~bob/x", Path.cwd() / "~bob/x"),
        ("a\0b", HOME),
    ],
)
def test_the_folder_may_be_elsewhere(named, parent):
    environment = {} if named is None else {"GEMINI_CLI_HOME": named}
    assert sessions_folder(environment, HOME) == parent / ".gemini" / "tmp"


@pytest.mark.parametrize(
    ("environment", "folders"),
    [
        ({}, [HOME / ".qwen"]),
        ({"QWEN_HOME": "/srv/q"}, [Path("/srv/q"), HOME / ".qwen"]),
        (
            {"QWEN_HOME": "~/.qwen", "QWEN_RUNTIME_DIR": "/srv/r"},
            [Path("/srv/r"), HOME / ".qwen"],
        ),
    ],
)
def test_old_qwen_folders(environment, folders):
    assert list(old_qwen_folders(environment, HOME)) == [each / "tmp" for each in folders]


def test_logs_are_found_and_nothing_else(folder):
    wanted = {
        f"harbour/chats/{NAME}.jsonl", f"{HASH}/chats/session-2025-09-16T20-39-38d857b1.json",
        f"harbour/chats/{SESSION}/helper.jsonl", "harbour/logs.json",
    }  # fmt: skip
    others = {
        "harbour/checkpoint-x.json", "harbour/.project_root", "harbour/tool-outputs/a.json",
        "harbour/chats/notes.json", "harbour/chats/x/y/z.jsonl", "logs.json", "harbour/x.jsonl",
        "harbour/plans/session-1.json",
    }  # fmt: skip
    for name in wanted | others:
        folder.write(b"{}", name)
    found = {item.uri for item in folder.items()}
    assert found == {str(folder.tmp / name) for name in wanted}


@pytest.mark.parametrize("place", [".", ".gemini", ".gemini/tmp", ".gemini/tmp/harbour/chats"])
def test_a_folder_of_any_level_can_be_named(folder, tmp_path, place):
    path = folder.write(Log().both("hi", "ho"))
    folder.write(b"[]", "../oauth_creds.json")
    source = folder.source.of(tmp_path / place)
    (item,) = source.discover([])
    assert item.uri == str(path)
    assert len(folder.parser.parse(item, source.read(item, 0), {}).messages) == 2


def test_in_a_folder_that_is_named_each_agent_has_its_own(folder, tmp_path):
    path = folder.write(Log().both("hi", "ho"))
    other = folder.write(Log().both("hi", "ho"), f"../../.qwen/tmp/{HASH}/chats/{NAME}.json")
    qwen = GeminiLogs(folder.logs, [], lambda: NOW, qwen=True)
    assert [item.uri for item in folder.source.of(tmp_path).discover([])] == [str(path)]
    found = [Path(item.uri).resolve() for item in qwen.of(tmp_path).discover([])]
    assert found == [other.resolve()]
    assert len(list(qwen.of(tmp_path / ".qwen").discover([]))) == 1


def test_a_document_that_was_turned_into_lines_is_left(folder):
    folder.write(Log().both("hi", "ho"), f"harbour/chats/{NAME}.json")
    folder.write(Log().both("hi", "ho").both("and", "so"))
    assert [Path(item.uri).suffix for item in folder.items()] == [".jsonl"]


def test_a_copied_folder_is_read_once_and_the_copy_that_is_newer_counts(folder):
    old = folder.write(Log().both("hi", "ho"), f"{HASH}/chats/{NAME}.json")
    new = folder.write(Log().both("hi", "ho"), f"harbour/chats/{NAME}.jsonl")
    os.utime(old, (1000, 1000))
    os.utime(new, (2000, 2000))
    assert [item.uri for item in folder.items()] == [str(new)]
    os.utime(old, (3000, 3000))
    assert len(folder.items()) == 2
    messages = folder.parse()[0]
    assert len({(message.session, message.uid) for message in messages}) == 2
    new.unlink()
    new.symlink_to(old)
    assert [item.uri for item in folder.source.discover([])] == [str(old)]


def test_a_folder_is_told_by_the_mark_beside_its_sessions(folder):
    folder.write(Log().both("hi", "ho"))
    mark = folder.tmp / "harbour" / ".project_root"
    mark.write_text(ROOT)
    assert folder.parse()[0][0].cwd == ROOT
    mark.write_text("not a path")
    assert folder.parse()[0][0].cwd is None


def test_a_folder_is_told_by_the_map_of_projects(folder):
    folder.write(Log(projectHash="x").both("hi", "ho"))
    listed = {"projects": {"/srv/other": "other", "c:\\work\\harbour": "harbour"}}
    (folder.gemini / "projects.json").write_text(json.dumps(listed))
    assert folder.parse()[0][0].cwd == "c:\\work\\harbour"


def test_a_digest_is_told_by_folders_that_are_known(folder):
    folder.write(Log().both("hi", "ho"), f"{HASH}/chats/{NAME}.json")
    assert folder.parse()[0][0].cwd is None
    folder.logs.folders = [Path("/srv/other"), Path(ROOT)]
    assert folder.parse()[0][0].cwd == ROOT


def test_a_digest_is_told_by_the_marks_and_the_map_of_other_projects(folder):
    folder.write(Log().both("hi", "ho"), f"{HASH}/chats/{NAME}.json")
    (folder.tmp / "other").mkdir()
    (folder.tmp / "other" / ".project_root").write_text(ROOT)
    assert folder.parse()[0][0].cwd == ROOT
    (folder.tmp / "other" / ".project_root").unlink()
    (folder.gemini / "projects.json").write_text(json.dumps({"projects": {ROOT: "gone"}}))
    assert folder.parse()[0][0].cwd == ROOT


def test_at_last_directories_tell(folder):
    directories = [7, "relative", "/srv/listed"]
    digest = hashlib.sha256(b"nobody").hexdigest()
    folder.write(Log(projectHash=digest, directories=directories).both("hi", "ho"))
    assert folder.parse()[0][0].cwd == "/srv/listed"


def prompt(number, text, session="0ld5e551-x", at=OLD, **more):
    entry = {"sessionId": session, "messageId": number, "type": "user", "message": text}
    return entry | {"timestamp": at} | more


def test_prompts_are_taken_of_sessions_without_a_log(folder):
    prompts = [
        prompt(0, "first"), prompt(1, "/help"), prompt(2, "third"), prompt(0, "known", SESSION),
        prompt(3, "a notice", type="info"),
    ]  # fmt: skip
    folder.write(prompts, f"{HASH}/logs.json")
    folder.write(Log().both("known", "yes"))
    messages = [m for m in folder.parse()[0] if m.session == "0ld5e551-x"]
    assert [(m.uid, m.text, m.author) for m in messages] == [
        ("prompt-0", "first", "human"),
        ("prompt-2", "third", "human"),
    ]
    assert [m.text for m in folder.parse()[0] if m.session == SESSION] == ["known", "yes"]


def test_prompts_of_the_last_day_wait_for_their_log(folder):
    recent = NOW / 1000 - 3_600
    path = folder.write([prompt(0, "old"), prompt(0, "new", "fresh", recent)], "harbour/logs.json")
    os.utime(path, (recent, recent))
    assert [message.text for message in folder.parse()[0]] == ["old"]
    (before,) = folder.items()
    folder.source._now_ms = lambda: NOW + 90_000_000
    (after,) = folder.items()
    assert after != before
    assert [message.text for message in folder.parse()[0]] == ["old", "new"]


@pytest.mark.parametrize("data", [b"", b"{", b"{}", b"[7, {}]", b'[{"sessionId": 7}]'])
def test_lists_of_another_form_are_told(folder, data):
    folder.write(data, "harbour/logs.json")
    result = folder.parse()[2]
    assert result.messages == []
    assert len(result.bad_lines) + sum(result.unknown.values()) > 0


def test_damaged_marks_and_maps_do_no_harm(folder):
    folder.write(Log().both("hi", "ho"))
    for data in (b"", b"\xff\xfe", b"[]", b'{"projects": 7}', b'{"projects": {"a": 7}}', b"/a\nb"):
        (folder.gemini / "projects.json").write_bytes(data)
        (folder.tmp / "harbour" / ".project_root").write_bytes(data)
        assert [message.cwd for message in folder.parse()[0]] == [None, None]
