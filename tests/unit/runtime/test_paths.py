import os
import stat

import pytest

from cloxy_core.runtime.paths import DataDirectory, private_umask
from cloxy_hookspecs.errors import ConfigError

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes and owners are POSIX's")


def mode(path):
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.fixture
def open_umask():
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.parametrize("umask", [0, 0o777])
def test_folders_are_private_whatever_the_umask_is(tmp_path, open_umask, umask):
    (tmp_path / "a").mkdir()
    os.umask(umask)
    directory = DataDirectory.open(tmp_path / "a" / "data")
    made = [directory.data, directory.logs, directory.backups, directory.plugin("some-plugin")]
    assert [mode(path) for path in made] == [0o700] * 4
    assert directory.plugin("some-plugin") == directory.data / "plugins" / "some-plugin"
    assert mode(directory.data / "plugins") == 0o700


def test_the_layout(tmp_path):
    directory = DataDirectory.open(tmp_path / "data")
    assert directory.database == tmp_path / "data" / "memory.db"
    assert directory.config == tmp_path / "data" / "config.toml"


def test_the_default_is_in_the_home_directory(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert DataDirectory.open().data == tmp_path / ".cloxy"
    assert DataDirectory.open(tmp_path.__class__("~/other")).data == tmp_path / "other"


def test_loose_modes_are_tightened_and_links_are_not_followed(tmp_path, open_umask):
    outside = tmp_path / "outside"
    outside.write_text("x")
    root = tmp_path / "data"
    (root / "logs").mkdir(parents=True)
    root.chmod(0o777)
    (root / "memory.db").write_text("x")
    (root / "logs" / "cloxy.log").write_text("x")
    (root / "logs" / "link").symlink_to(outside)
    DataDirectory.open(root)
    assert mode(root) == 0o700
    assert mode(root / "logs") == 0o700
    assert mode(root / "memory.db") == 0o600
    assert mode(root / "logs" / "cloxy.log") == 0o600
    assert mode(outside) == 0o666


def test_a_link_in_place_of_the_folder_is_refused(tmp_path):
    victim = tmp_path / "victim"
    victim.mkdir(mode=0o755)
    (tmp_path / "data").symlink_to(victim)
    with pytest.raises(ConfigError, match=r"is a link to .*victim.*CLOXY_DATA_DIR"):
        DataDirectory.open(tmp_path / "data")
    assert mode(victim) == 0o755
    assert list(victim.iterdir()) == []


def test_a_dangling_link_is_refused_and_nothing_is_made(tmp_path):
    (tmp_path / "data").symlink_to(tmp_path / "nowhere")
    with pytest.raises(ConfigError):
        DataDirectory.open(tmp_path / "data")
    assert not (tmp_path / "nowhere").exists()


def test_a_link_in_place_of_a_folder_inside_is_refused(tmp_path):
    directory = DataDirectory.open(tmp_path / "data")
    (directory.data / "backups").symlink_to(tmp_path)
    with pytest.raises(ConfigError, match="is a link"):
        _ = directory.backups


def test_a_file_in_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "data").write_text("x")
    with pytest.raises(ConfigError, match="is not a folder"):
        DataDirectory.open(tmp_path / "data")


def test_a_folder_of_somebody_else_is_refused(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir(mode=0o755)
    monkeypatch.setattr(os, "geteuid", lambda: (tmp_path / "data").stat().st_uid + 1)
    with pytest.raises(ConfigError, match="belongs to another user"):
        DataDirectory.open(tmp_path / "data")
    assert mode(tmp_path / "data") == 0o755


def test_a_folder_that_cannot_be_made_says_so(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(ConfigError, match="cannot be made"):
        DataDirectory.open(tmp_path / "file" / "data")


@pytest.mark.parametrize("name", ["", "..", "a/b", "A", "-x", "x" * 65, "a\0b"])
def test_a_plugin_cannot_leave_its_place(tmp_path, name):
    with pytest.raises(ConfigError, match="cannot name"):
        DataDirectory.open(tmp_path / "data").plugin(name)


def test_the_private_umask(open_umask, tmp_path):
    assert private_umask() == 0
    (tmp_path / "file").write_text("x")
    assert mode(tmp_path / "file") == 0o600
