"""Which files are logs, as people say it."""

from pathlib import Path

import pytest

from cloxy_core.services.logs.lines import LineLogs
from cloxy_plugins.json_lines.places import LogPattern, log_pattern, trees_of

HOME = Path("/home/ann")


@pytest.mark.parametrize(
    ("text", "root", "parts"),
    [
        ("~/.agent/sessions", HOME / ".agent/sessions", ("**", "*.jsonl")),
        ("~/.agent/sessions/", HOME / ".agent/sessions", ("**", "*.jsonl")),
        ("~/.agent/*/chats/*.jsonl", HOME / ".agent", ("*", "chats", "*.jsonl")),
        ("~/.agent/**/log-?.ndjson", HOME / ".agent", ("**", "log-?.ndjson")),
        ("~/.agent/history.jsonl", HOME / ".agent", ("history.jsonl",)),
        ("/srv/../srv/a/*.jsonl", Path("/srv/a"), ("*.jsonl",)),
    ],
)
def test_a_path_has_a_root_and_a_form(text, root, parts):
    assert log_pattern(text, HOME) == LogPattern(root, parts)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("logs/*.jsonl", "not absolute"), ("~bob/x/*.jsonl", "not absolute"), ("  ", "no path"),
        ("a\0b", "no path"), ("/" + "x" * 5000, "no path"), ("~/*.jsonl", "all of /home/ann"),
        ("~/history.jsonl", "all of /home/ann"), ("~", "all of /home/ann"),
        ("/**/*.jsonl", "all of /"), ("/home/**/*.jsonl", "all of /home"), ("/", "all of /"),
    ],
)  # fmt: skip
def test_what_cannot_be_watched_is_refused(text, words):
    with pytest.raises(ValueError, match=words):
        log_pattern(text, HOME)


def found(folder, *patterns):
    trees = trees_of([log_pattern(str(folder / each), HOME) for each in patterns])
    logs = LineLogs(trees)
    return [str(Path(item.uri).relative_to(folder)) for item in logs.discover([])]


@pytest.fixture
def folder(tmp_path):
    for name in ("a.jsonl", "b.json", "x/a.jsonl", "x/y/a.jsonl", "x/y/log-1.txt", "z/.a.jsonl"):
        path = tmp_path / "logs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"{}\n")
    return tmp_path / "logs"


@pytest.mark.parametrize(
    ("patterns", "names"),
    [
        (["."], ["a.jsonl", "x/a.jsonl", "x/y/a.jsonl", "z/.a.jsonl"]),
        (["*.jsonl"], ["a.jsonl"]),
        (["*/*.jsonl"], ["x/a.jsonl", "z/.a.jsonl"]),
        (["**/a.jsonl"], ["a.jsonl", "x/a.jsonl", "x/y/a.jsonl"]),
        (["**/y/*"], ["x/y/a.jsonl", "x/y/log-1.txt"]),
        (["x/**/log-?.txt"], ["x/y/log-1.txt"]),
        (["**/**/a.jsonl"], ["a.jsonl", "x/a.jsonl", "x/y/a.jsonl"]),
        (["b.json"], ["b.json"]),
        (["*.jsonl", "*.json", "a.jsonl"], ["a.jsonl", "b.json"]),
        (["**/*.jsonl", "x/*.jsonl"], ["a.jsonl", "x/a.jsonl", "x/y/a.jsonl", "z/.a.jsonl"]),
        (["nothing/*.jsonl"], []),
        (["A.jsonl"], []),
    ],
)
def test_files_that_fit_are_found_once(folder, patterns, names):
    assert sorted(found(folder, *patterns)) == names


def test_folders_that_cannot_hold_a_log_are_not_entered(folder):
    (tree,) = trees_of([log_pattern(str(folder / "*/chats/*.jsonl"), HOME)])
    assert tree.enter(("x",))
    assert tree.enter(("x", "chats"))
    assert not tree.enter(("x", "other"))
    assert not tree.enter(("x", "chats", "deeper"))


def test_a_form_that_repeats_itself_does_not_take_long():
    (tree,) = trees_of([log_pattern("/srv/" + "**/*/" * 200 + "x*y*z.jsonl", HOME)])
    assert tree.wanted(("a",) * 15) is False
