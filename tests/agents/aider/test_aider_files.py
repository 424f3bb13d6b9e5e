"""Where histories are looked for, and how files are read."""

import os
from pathlib import Path

import pytest
from aider_kit import TALK, entry, found, parser, source

from cloxy_plugins.aider.places import CHAT, INPUT, Places


def history(folder, text=TALK, name=CHAT):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def uris(made, under=None):
    items, failures = found(made, under)
    assert failures == []
    return {item.uri for item in items}


def read(made, item):
    return parser().parse(item, list(made.read(item, 0)), {})


def test_known_folders_and_the_roots_of_their_repositories(tmp_path):
    one = history(tmp_path / "one")
    (tmp_path / "two" / ".git").mkdir(parents=True)
    two = history(tmp_path / "two")
    inner = tmp_path / "two" / "src" / "deep"
    inner.mkdir(parents=True)
    history(tmp_path / "two" / "src")
    history(tmp_path / "stranger")
    made = source(tmp_path, tmp_path / "one", inner, tmp_path / "gone")
    assert uris(made) == {str(one), str(two)}
    assert set(made.roots()) == {one, two}
    assert uris(made, two) == {str(two)}
    assert uris(made, tmp_path / "two") == {str(two)}
    assert uris(made, tmp_path / "stranger") == set()


def test_a_file_of_git_marks_a_worktree(tmp_path):
    tree = tmp_path / "tree"
    path = history(tree)
    (tree / ".git").write_text("gitdir: elsewhere\n")
    (tree / "src").mkdir()
    assert uris(source(tmp_path, tree / "src")) == {str(path)}


def test_the_file_that_the_variable_names(tmp_path):
    path = history(tmp_path / "elsewhere", name="all.md")
    made = source(tmp_path, environment={"AIDER_CHAT_HISTORY_FILE": str(path)})
    assert uris(made) == {str(path)}
    gone = source(tmp_path, environment={"AIDER_CHAT_HISTORY_FILE": str(tmp_path / "gone.md")})
    assert (list(gone.roots()), uris(gone)) == ([tmp_path / "gone.md"], set())
    (item,), _ = found(made)
    assert {facts.cwd for facts in read(made, item).sessions.values()} == {None}


def test_a_name_inside_of_each_project(tmp_path):
    named = history(tmp_path / "one", name="notes/chat.md")
    usual = history(tmp_path / "one")
    environment = {"AIDER_CHAT_HISTORY_FILE": "notes/chat.md"}
    made = source(tmp_path, tmp_path / "one", environment=environment)
    assert uris(made) == {str(named), str(usual)}
    items, _ = found(made)
    cwds = [facts.cwd for item in items for facts in read(made, item).sessions.values()]
    assert set(cwds) == {str(tmp_path / "one")}


@pytest.mark.parametrize("value", ["../out.md", "a\0b", "", "  ", "."])
def test_a_name_that_leads_nowhere(tmp_path, value):
    history(tmp_path, name="out.md")
    path = history(tmp_path / "one")
    environment = {"AIDER_CHAT_HISTORY_FILE": value}
    assert uris(source(tmp_path, tmp_path / "one", environment=environment)) == {str(path)}


def test_what_was_typed_lies_beside_or_where_its_variable_says(tmp_path):
    (place,) = Places({}, tmp_path).histories([tmp_path / "one"])
    assert Places({}, tmp_path).inputs(place) == tmp_path / "one" / INPUT
    for value, path in (("in.txt", tmp_path / "one" / "in.txt"), ("~/in", tmp_path / "in")):
        assert Places({"AIDER_INPUT_HISTORY_FILE": value}, tmp_path).inputs(place) == path


def test_a_change_of_what_was_typed_is_a_change(tmp_path):
    path = history(tmp_path / "one")
    made = source(tmp_path, tmp_path / "one")
    (before,), _ = found(made)
    assert {message.approximate for message in read(made, before).messages} == {True}
    (path.parent / INPUT).write_text(entry("2026-05-25 19:34:00", "Pin the clock"))
    (after,), _ = found(made)
    assert after != before
    assert [message.approximate for message in read(made, after).messages].count(False) == 1


def test_links_and_other_things_are_not_followed(tmp_path):
    secret = history(tmp_path / "elsewhere", name="secret.md")
    for name in ("one", "two", "three"):
        (tmp_path / name).mkdir()
    (tmp_path / "one" / CHAT).symlink_to(secret)
    (tmp_path / "two" / CHAT).mkdir()
    history(tmp_path / "three")
    (tmp_path / "three" / INPUT).symlink_to(secret)
    made = source(tmp_path, *(tmp_path / name for name in ("one", "two", "three")))
    items, failures = found(made)
    assert [Path(item.uri).parent.name for item in items] == ["three"]
    assert all(failure.deliberate for failure in failures)
    assert next(Path(failure.uri).parent.name for failure in failures) == "one"
    assert len(read(made, items[0]).messages) == 5


def test_only_what_was_found_is_read(tmp_path):
    history(tmp_path / "one")
    stranger = history(tmp_path / "two")
    made = source(tmp_path, tmp_path / "one")
    (item,), _ = found(source(tmp_path, tmp_path / "two"))
    assert item.uri == str(stranger)
    for reading in (made, made.of(tmp_path / "one")):
        with pytest.raises(OSError, match="not"):
            list(reading.read(item, 0))


def test_a_folder_that_somebody_names(tmp_path):
    one, two = history(tmp_path / "all" / "one"), history(tmp_path / "all" / "b" / "two")
    history(tmp_path / "all" / "node_modules" / "three")
    history(tmp_path / "all" / "one", name="other.md")
    made = source(tmp_path).of(tmp_path / "all")
    assert uris(made) == {str(one), str(two)}
    items, _ = found(made)
    cwds = {facts.cwd for item in items for facts in read(made, item).sessions.values()}
    assert cwds == {str(one.parent), str(two.parent)}


def test_a_file_that_is_too_large_is_told(tmp_path):
    path = history(tmp_path / "one")
    os.truncate(path, (128 << 20) + 1)
    items, (failure,) = found(source(tmp_path, tmp_path / "one"))
    assert items == []
    assert "larger than 128 MB" in failure.reason
