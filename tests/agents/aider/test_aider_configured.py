"""Histories that Aider's own files of settings name, and how little of those is looked at."""

from pathlib import Path

import pytest
from agents.sources import Context
from aider_kit import TALK, found, parser

from cloxy_core.services.logs.reader import Logs
from cloxy_plugins.aider import configured
from cloxy_plugins.aider.configured import CONFIG, Configured, named_in
from cloxy_plugins.aider.places import CHAT
from cloxy_plugins.aider.source import create_source


@pytest.fixture
def home(tmp_path, monkeypatch):
    for name in ("AIDER_CHAT_HISTORY_FILE", "AIDER_INPUT_HISTORY_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def known(tmp_path, home):
    """The source, where agents were used in some folders."""
    del home  # has to be set

    def make(*folders):
        reader = Logs(tmp_path / "private")
        reader.folders = folders
        return create_source(Context(reader))

    return make


def history(path, text=TALK):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def config(folder, named, more=""):
    folder.mkdir(parents=True, exist_ok=True)
    text = f"openai-api-key: FAKE-KEY\nchat-history-file: {named}\n{more}"
    (folder / CONFIG).write_text(text)
    return folder / CONFIG


def uris(made):
    items, failures = found(made)
    assert failures == []
    return {item.uri for item in items}


def cwds(made):
    results = [parser().parse(item, list(made.read(item, 0)), {}) for item in found(made)[0]]
    return {facts.cwd for result in results for facts in result.sessions.values()}


@pytest.mark.parametrize(
    ("line", "value"),
    [
        (b"chat-history-file: notes/chat.md", "notes/chat.md"),
        (b"chat-history-file:\tnotes/chat.md  # here", "notes/chat.md"),
        (b"chat-history-file : notes/a#b.md", "notes/a#b.md"),
        (b"--chat-history-file: x.md", "x.md"),
        (b"'chat-history-file': x.md", "x.md"),
        (b'"chat-history-file": "a \\"b\\" # c.md" # d', 'a "b" # c.md'),
        (b"chat-history-file: 'it''s # here.md' # d", "it's # here.md"),
        ("\ufeffchat-history-file: Übung.md\r\nmodel: x\r\n".encode(), "Übung.md"),
        (b"model: a\nchat-history-file: x.md\n---\nchat-history-file: y.md\n", "y.md"),
        (b"chat-history-file: x.md\nchat-history-file:\n", None),
        (b"#chat-history-file: x.md", None),
        (b"  chat-history-file: x.md", None),
        (b"chat-history-file:x.md", None),
        (b"my-chat-history-file: x.md", None),
        (b"chat-history-file-2: x.md", None),
        (b"chat-history-file:", None),
        (b"chat-history-file:   # none", None),
        (b"chat-history-file: ~", None),
        (b"chat-history-file: null", None),
        (b"chat-history-file: [x.md]", None),
        (b"chat-history-file: >-", None),
        (b"chat-history-file: *name", None),
        (b"chat-history-file: 'x.md", None),
        (b'chat-history-file: "x.md', None),
        (b'chat-history-file: "x\\q.md"', None),
        (b'chat-history-file: "x" y', None),
        (b'chat-history-file: "x\\u0000"', None),
        (b"chat-history-file: \xff.md", None),
        (b"", None),
    ],
)
def test_the_name_in_a_file_of_settings(line, value):
    assert named_in(line) == value


@pytest.mark.parametrize("piece", [b"chat-history-file: 'x\n", b"'", b'"', b" #", b"\\\\"])
def test_settings_that_would_be_looked_through_again_and_again(piece):
    assert named_in(b"chat-history-file: '" + piece * 200_000) is None
    assert named_in(b'chat-history-file: "' + piece * 200_000) is None


def test_the_file_that_the_users_own_settings_name(tmp_path, home, known):
    path = history(tmp_path / "elsewhere" / "all.md")
    usual = history(tmp_path / "one" / CHAT)
    config(home, path)
    made = known(tmp_path / "one")
    assert uris(made) == {str(path), str(usual)}
    assert set(made.roots()) == {path, usual}
    assert cwds(made) == {None, str(tmp_path / "one")}
    path.unlink()
    assert uris(made) == {str(usual)}
    assert path in made.roots(), "where it will be written"


def test_a_name_in_the_users_own_settings_is_one_inside_of_each_project(tmp_path, home, known):
    config(home, "notes/chat.md")
    paths = [history(tmp_path / name / "notes" / "chat.md") for name in ("one", "two")]
    assert uris(known(tmp_path / "one", tmp_path / "two")) == {str(path) for path in paths}


def test_a_name_in_the_settings_of_a_repository_counts_wherever_aider_is_started(tmp_path, known):
    root, deep = tmp_path / "one", tmp_path / "one" / "src" / "deep"
    (root / ".git").mkdir(parents=True)
    config(root, "chat.md")
    paths = [history(folder / "chat.md") for folder in (root, deep)]
    history(root / "src" / "chat.md")
    history(tmp_path / "two" / "chat.md")
    made = known(deep, tmp_path / "two")
    assert uris(made) == {str(path) for path in paths}
    assert cwds(made) == {str(root), str(deep)}
    (root / CONFIG).unlink()
    config(deep, "other.md")
    other = history(deep / "other.md")
    history(root / "other.md")
    assert uris(made) == {str(other)}, "settings are looked into with each look"


def test_an_absolute_name_in_the_settings_of_a_project(tmp_path, known):
    path = history(tmp_path / "one" / "logs" / "chat.md")
    config(tmp_path / "one", path)
    made = known(tmp_path / "one" / "src", tmp_path / "one")
    assert uris(made) == {str(path)}
    assert cwds(made) == {str(tmp_path / "one")}


@pytest.mark.parametrize("way", ["absolute", "above", "dots", "link", "file"])
def test_settings_of_a_project_name_nothing_outside_of_it(tmp_path, known, way):
    """A repository may be somebody else's."""
    secret = history(tmp_path / "elsewhere" / "secret.md")
    one = tmp_path / "one"
    one.mkdir()
    (one / "link").symlink_to(secret.parent)
    (one / "secret.md").symlink_to(secret)
    named = {
        "absolute": secret,
        "above": "../elsewhere/secret.md",
        "dots": one / ".." / "elsewhere" / "secret.md",
        "link": "link/secret.md",
        "file": "secret.md",
    }[way]
    config(one, named)
    items, failures = found(known(one))
    assert items == []
    assert all(failure.deliberate for failure in failures)


def test_settings_behind_a_link_are_the_users_own_or_none(tmp_path, home, known, monkeypatch):
    monkeypatch.setattr(configured, "_MOST", 500)
    dotfiles = config(tmp_path / "dotfiles", "mine.md")
    (home / CONFIG).symlink_to(dotfiles)
    mine = history(tmp_path / "one" / "mine.md")
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / CONFIG).symlink_to(config(tmp_path / "other", "theirs.md"))
    history(tmp_path / "two" / "theirs.md")
    config(tmp_path / "three", "large.md", "#" * 500)
    history(tmp_path / "three" / "large.md")
    (tmp_path / "four" / CONFIG).mkdir(parents=True)
    made = known(*(tmp_path / name for name in ("one", "two", "three", "four")))
    assert uris(made) == {str(mine)}


def test_the_home_folder_may_be_a_project(tmp_path, home, known):
    path = history(tmp_path / "elsewhere" / "all.md")
    config(home, path)
    assert uris(known(home)) == {str(path)}


def test_only_settings_are_opened_and_nothing_else_of_them_stays(tmp_path, home):
    config(home, "chat.md")
    config(tmp_path / "one", "other.md")
    for folder in (home, tmp_path / "one"):
        (folder / ".env").write_text("AIDER_CHAT_HISTORY_FILE=env.md\nKEY=FAKE-KEY\n")
    opened = []

    class Watched(Logs):
        def content(self, root, path, most):
            opened.append(path)
            return super().content(root, path, most)

    made = Configured(Watched(tmp_path / "private"), home)
    places = list(made([tmp_path / "one", tmp_path / "two"]))
    assert {place.path for place in places} == {
        tmp_path / "one" / "chat.md", tmp_path / "two" / "chat.md", tmp_path / "one" / "other.md"
    }  # fmt: skip
    assert opened == [home / CONFIG, tmp_path / "one" / CONFIG]
    assert "FAKE-KEY" not in f"{places} {[vars(each) for each in (made, made._reader)]}"


def test_a_missing_home_folder_names_nothing(tmp_path):
    assert list(Configured(Logs(tmp_path / "p"), Path("/nowhere/at/all"))([tmp_path])) == []
