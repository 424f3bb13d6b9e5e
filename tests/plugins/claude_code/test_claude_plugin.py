"""What the plugin brings, and where it looks."""

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from cloxy_core.services.logs.reader import Logs
from cloxy_plugins.claude_code import plugin
from cloxy_plugins.claude_code.roots import folders_to_watch
from cloxy_plugins.claude_code.settings import DIRS, parse_folders


@pytest.fixture(autouse=True)
def home(monkeypatch):
    monkeypatch.setenv("HOME", "/home/ann")


def context(folders):
    return SimpleNamespace(
        settings={DIRS: folders},
        paths=SimpleNamespace(data=Path("/home/ann/.cloxy")),
        clock=SimpleNamespace(now_ms=lambda: 0),
        service=lambda port: Logs(Path("/nowhere")),
    )


def test_records(monkeypatch):
    (source,) = plugin.cloxy_sources()
    (parser,) = plugin.cloxy_parsers()

    assert (source.agent, source.parser, source.chunker, source.origin) == (
        "claude-code",
        parser.name,
        "messages",
        "transcript",
    )
    assert (DIRS.name, DIRS.variable) == ("watch.dirs", "CLOXY_WATCH_DIRS")
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    assert list(source.create(context(None)).roots()) == [
        Path("/home/ann/.claude/projects"),
        Path("/home/ann/.config/claude/projects"),
    ]
    assert list(source.create(context((Path("/logs"),))).roots()) == [Path("/logs")]
    assert parser.create(context(None)).parse


@pytest.mark.parametrize(
    ("variable", "folders"),
    [
        ("/a", ["/a/projects"]),
        ("/a, ~/b ,", ["/a/projects", "/home/ann/b/projects"]),
        ("/a,/a/", ["/a/projects"]),
        ("/a,~nobody-of-this-name", ["/a/projects", f"{Path.cwd()}/~nobody-of-this-name/projects"]),
        (" , ", ["/home/ann/.claude/projects", "/home/ann/.config/claude/projects"]),
        ("", ["/home/ann/.claude/projects", "/home/ann/.config/claude/projects"]),
    ],
)
def test_config_folder_of_the_agent(variable, folders):
    found = folders_to_watch(None, {"CLAUDE_CONFIG_DIR": variable})

    assert [str(folder) for folder in found] == folders


@pytest.mark.parametrize(
    ("chosen", "folders"),
    [
        ((Path("/x"), Path("/y/../z")), ["/x", "/z"]),
        (["/x", "~/y"], ["/x", "/home/ann/y"]),
        ("/x", ["/x"]),
        (Path("~/x"), ["/home/ann/x"]),
        ((), ["/c/projects"]),
        (None, ["/c/projects"]),
    ],
)
def test_chosen_folders_win(chosen, folders):
    found = folders_to_watch(chosen, {"CLAUDE_CONFIG_DIR": "/c"})

    assert [str(folder) for folder in found] == folders


def test_list_of_folders():
    text = os.pathsep.join(["/a", " ~/b ", "", "/c/../d/"])

    assert parse_folders(text) == (Path("/a"), Path("/home/ann/b"), Path("/d"))
    assert parse_folders(" ") is None


@pytest.mark.parametrize("text", ["logs", "./logs", "/a" + os.pathsep + "b", "/a\0b", "$HOME/x"])
def test_bad_lists_say_what_is_wanted(text):
    with pytest.raises(ValueError, match="absolute folder"):
        parse_folders(text)
