"""Switching plugins in config.toml: nothing else of the file changes."""

import contextlib
import stat
import threading
import tomllib

import pytest

from cloxy_core.kernel.config_edit import set_disabled
from cloxy_core.kernel.config_file import read_config
from cloxy_hookspecs import SettingError

COMMENTED = """\
# my settings
[server]
port = 1   # not the usual

[plugins]  # here
# why: too loud
disabled = [
    "zebra",  # stripes
    "apple",
]
only = []

[log]
level = "debug"
"""


def disabled_in(file):
    return tomllib.loads(file.read_text())["plugins"]["disabled"]


def test_made_when_absent_and_private(tmp_path):
    file = tmp_path / "data" / "config.toml"
    assert set_disabled(file, "my-plugin", disabled=True)
    assert disabled_in(file) == ["my_plugin"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert [each.name for each in file.parent.iterdir()] == ["config.toml"]


def test_comments_order_and_everything_else_stay(tmp_path):
    file = tmp_path / "config.toml"
    file.write_text(COMMENTED)
    assert set_disabled(file, "new", disabled=True)
    text = file.read_text()
    assert disabled_in(file) == ["zebra", "apple", "new"]
    for kept in ("# my settings", "port = 1   # not the usual", "# stripes", "[plugins]  # here"):
        assert kept in text
    assert text.index("[server]") < text.index("[plugins]") < text.index("[log]")
    assert set_disabled(file, "new", disabled=False)
    assert tomllib.loads(file.read_text()) == tomllib.loads(COMMENTED)
    assert set_disabled(file, "zebra", disabled=False)
    assert disabled_in(file) == ["apple"]
    assert "# why: too loud" in file.read_text()


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("", []),
        ("plugins.disabled = ['a']\n", ["a"]),
        ("plugins = { disabled = ['a'] }\n", ["a"]),
        ("[plugins]\nonly = ['x']\n[server]\nport = 1\n", []),
        ("[plugins]\ndisabled = 'a, b'\n", ["a", "b"]),
        ("[plugins]\ndisabled = []", []),
        ("[server]\r\nport = 1\r\n", []),
        ("[server]\nport = 1\n[plugins.sub]\nx = 1\n", []),
    ],
)
def test_every_way_to_write_it(tmp_path, text, before):
    file = tmp_path / "config.toml"
    file.write_bytes(text.encode())
    other = {key: value for key, value in tomllib.loads(text).items() if key != "plugins"}
    assert set_disabled(file, "new", disabled=True)
    assert disabled_in(file) == [*before, "new"]
    after = tomllib.loads(file.read_bytes().decode())
    assert {key: value for key, value in after.items() if key != "plugins"} == other
    assert set_disabled(file, "new", disabled=False)
    assert disabled_in(file) == before


def test_either_spelling_and_repetitions_are_removed(tmp_path):
    file = tmp_path / "config.toml"
    file.write_text('[plugins]\ndisabled = ["claude-code", "x", "claude_code"]\n')
    assert set_disabled(file, "claude-code", disabled=False)
    assert disabled_in(file) == ["x"]


def test_nothing_is_written_when_nothing_changes(tmp_path):
    file = tmp_path / "config.toml"
    file.write_text('[plugins]\ndisabled = ["x"]\n')
    before = file.stat()
    assert not set_disabled(file, "x", disabled=True)
    assert not set_disabled(file, "y", disabled=False)
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_link_is_followed_and_stays_a_link(tmp_path):
    target = tmp_path / "dotfiles" / "cloxy.toml"
    target.parent.mkdir()
    target.write_text("# mine\n")
    file = tmp_path / "config.toml"
    file.symlink_to(target)
    assert set_disabled(file, "x", disabled=True)
    assert file.is_symlink()
    assert disabled_in(target) == ["x"]
    assert target.read_text().startswith("# mine")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[plugins\n", "not valid TOML"),
        ("plugins = 1\n", "plugins is not a table"),
        ("[plugins]\ndisabled = 1\n", "not a list of names"),
        ("[plugins]\ndisabled = [1]\n", "more than names"),
    ],
)
def test_file_that_cannot_be_changed_is_left_alone(tmp_path, text, words):
    file = tmp_path / "config.toml"
    file.write_text(text)
    with pytest.raises(SettingError, match=words):
        set_disabled(file, "x", disabled=True)
    assert file.read_text() == text
    assert [each.name for each in tmp_path.iterdir()] == ["config.toml"]


def test_failed_replacement_leaves_the_old_file_and_no_litter(tmp_path, monkeypatch):
    file = tmp_path / "config.toml"
    file.write_text("# old\n")

    def no_space(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("cloxy_core.kernel.config_edit.os.fsync", no_space)
    with pytest.raises(SettingError, match="No space left"):
        set_disabled(file, "x", disabled=True)
    assert file.read_text() == "# old\n"
    assert [each.name for each in tmp_path.iterdir()] == ["config.toml"]


def test_two_commands_at_once_lose_nothing(tmp_path, monkeypatch):
    file = tmp_path / "config.toml"
    both_have_read = threading.Barrier(2)

    def read_and_wait(path):
        read = read_config(path)
        with contextlib.suppress(threading.BrokenBarrierError):
            both_have_read.wait(0.3)
        return read

    monkeypatch.setattr("cloxy_core.kernel.config_edit.read_config", read_and_wait)
    threads = [
        threading.Thread(target=set_disabled, args=(file, name), kwargs={"disabled": True})
        for name in "ab"
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(disabled_in(file)) == ["a", "b"]
