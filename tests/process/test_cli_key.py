"""`cloxy key`: a key in a private file, never on the screen unless asked for."""

import json
import os
import re

import pytest
from process.cli_runner import run_cloxy

KEY = re.compile(r"[A-Za-z0-9_-]{43}")


def key_of(data_dir):
    return (data_dir / "server.key").read_text().strip()


def test_a_key_is_written_to_a_private_file_and_not_shown(isolated):
    run = run_cloxy("key", "create")
    assert run.returncode == 0, run.stderr
    file = isolated / ".cloxy" / "server.key"
    key = key_of(file.parent)
    assert KEY.fullmatch(key)
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    assert key not in run.stdout.decode() + run.stderr.decode()
    assert str(file) in run.stdout.decode()
    assert "restart the server" in run.stdout.decode()


def test_a_second_one_needs_force(data_dir):
    run_cloxy("key", "create")
    first = key_of(data_dir)
    run = run_cloxy("key", "create")
    assert run.returncode == 6
    assert b"--force" in run.stderr
    assert key_of(data_dir) == first
    assert run_cloxy("key", "create", "--force").returncode == 0
    assert key_of(data_dir) != first
    assert [path.name for path in data_dir.iterdir()] == ["server.key"]


def test_force_replaces_a_link_and_not_what_it_leads_to(data_dir, tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("untouched")
    (data_dir / "server.key").symlink_to(victim)
    assert run_cloxy("key", "create").returncode == 6
    assert run_cloxy("key", "create", "--force").returncode == 0
    assert victim.read_text() == "untouched"
    assert not (data_dir / "server.key").is_symlink()


def test_show_names_the_file_and_reveals_only_when_asked(data_dir):
    run_cloxy("key", "create")
    key = key_of(data_dir)
    plain = run_cloxy("key", "show")
    assert plain.stdout.decode() == f"{data_dir / 'server.key'}\n"
    assert run_cloxy("key", "show", "--reveal").stdout.decode() == f"{key}\n"
    as_json = json.loads(run_cloxy("key", "show", "--json").stdout)
    assert as_json == {"path": str(data_dir / "server.key"), "in_use": True}
    revealed = json.loads(run_cloxy("key", "show", "--json", "--reveal").stdout)
    assert revealed["key"] == key


@pytest.mark.parametrize("command", ["show", "remove"])
def test_without_a_key_there_is_nothing_to_show_or_remove(data_dir, command):
    run = run_cloxy("key", command)
    assert run.returncode == 5
    assert b"there is no key" in run.stderr


def test_remove(data_dir):
    run_cloxy("key", "create")
    run = run_cloxy("key", "remove")
    assert run.returncode == 0
    assert list(data_dir.iterdir()) == []
    assert b"restart" in run.stdout


def test_a_setting_above_the_file_is_told(data_dir):
    run = run_cloxy("key", "create", "--json", CLOXY_API_KEY="another")
    assert json.loads(run.stdout)["in_use"] is False
    assert b"CLOXY_API_KEY" in run.stderr


@pytest.mark.parametrize("content", ["", "\n", "two\nlines", "bell\x07"])
def test_a_server_does_not_start_with_a_useless_key_file(data_dir, content):
    (data_dir / "server.key").write_text(content)
    run = run_cloxy("start", "--port", "0")
    assert run.returncode == 1
    assert b"cloxy key create --force" in run.stderr


def test_nor_with_one_that_is_a_link(data_dir, tmp_path):
    (tmp_path / "elsewhere").write_text("k" * 43)
    (data_dir / "server.key").symlink_to(tmp_path / "elsewhere")
    run = run_cloxy("start", "--port", "0")
    assert run.returncode == 1
    assert b"server.key cannot be read" in run.stderr


def test_an_exposed_server_points_to_the_command(data_dir):
    run = run_cloxy("start", "--port", "0", "--host", "0.0.0.0")
    assert run.returncode == 1
    assert b"cloxy key create" in run.stderr
    assert os.listdir(data_dir) == []  # noqa: PTH208 - names are enough
