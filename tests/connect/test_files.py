"""How a file is written: in one step, through links, with its mode, never over another's change."""

import json
import os
import stat
import subprocess
import sys

import pytest
from connect.bench import Bench
from connect.samples import PROGRAM

from cloxy_core.connect import files
from cloxy_core.connect.errors import ConnectError

EXISTING = '{\n  "mcpServers": {}\n}\n'


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


def strays(bench):
    return [path.name for path in bench.path.parent.iterdir() if path.name.endswith(".cloxy")]


def test_a_link_stays_and_its_target_is_written(bench, tmp_path):
    real = tmp_path / "dotfiles" / "mcp.json"
    real.parent.mkdir()
    real.write_text(EXISTING)
    bench.path.parent.mkdir()
    bench.path.symlink_to(real)
    bench.connect()
    assert bench.path.is_symlink()
    assert bench.path.readlink() == real
    assert PROGRAM in real.read_text()
    bench.undo()
    assert real.read_text() == EXISTING
    assert bench.path.is_symlink()


def test_a_link_to_a_file_that_is_not_there_yet(bench, tmp_path):
    real = tmp_path / "dotfiles" / "mcp.json"
    real.parent.mkdir()
    bench.path.parent.mkdir()
    bench.path.symlink_to(real)
    bench.connect()
    assert PROGRAM in real.read_text()
    bench.undo()
    assert not real.exists()
    assert bench.path.is_symlink()


def test_links_in_a_circle_are_refused(bench):
    bench.path.parent.mkdir()
    bench.path.symlink_to(bench.path)
    with pytest.raises(ConnectError, match="cannot be read"):
        bench.connect()


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o664])
def test_the_mode_stays(bench, mode):
    bench.write(EXISTING)
    bench.path.chmod(mode)
    bench.connect()
    assert stat.S_IMODE(bench.path.stat().st_mode) == mode
    bench.undo()
    assert stat.S_IMODE(bench.path.stat().st_mode) == mode


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives away")
def test_the_owner_stays(bench):
    bench.write(EXISTING)
    os.chown(bench.path, 1234, 2345)
    bench.connect()
    status = bench.path.stat()
    assert (status.st_uid, status.st_gid) == (1234, 2345)


def test_what_had_to_be_made_is_for_its_owner_where_the_client_does_so(tmp_path):
    umask = os.umask(0o022)
    try:
        private, public = Bench(tmp_path, "codex"), Bench(tmp_path, "cursor")
        private.connect()
        public.connect()
    finally:
        os.umask(umask)
    modes = [
        stat.S_IMODE(path.stat().st_mode)
        for path in (private.path.parent, private.path, public.path.parent, public.path)
    ]
    assert modes == [0o700, 0o600, 0o755, 0o644]


def test_a_read_only_file_is_refused_and_untouched(bench):
    bench.write(EXISTING)
    bench.path.chmod(0o444)
    with pytest.raises(ConnectError, match="read-only") as caught:
        bench.connect()
    assert "--print" in caught.value.hint
    assert bench.path.read_text() == EXISTING
    assert not (bench.home.parent / "data" / "connections.json").exists()


def test_a_read_only_folder_is_refused(bench):
    bench.write(EXISTING)
    bench.path.parent.chmod(0o555)
    try:
        with pytest.raises(ConnectError, match="read-only"):
            bench.connect()
    finally:
        bench.path.parent.chmod(0o755)
    assert bench.path.read_text() == EXISTING
    assert strays(bench) == []


def test_a_folder_in_the_place_of_the_file(bench):
    bench.path.mkdir(parents=True)
    with pytest.raises(ConnectError, match="it is a folder"):
        bench.connect()


def test_a_file_in_the_place_of_the_folder(bench):
    bench.path.parent.write_text("")
    with pytest.raises(ConnectError, match="cannot be"):
        bench.connect()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_in_the_place_of_the_file_is_not_waited_for(bench):
    bench.path.parent.mkdir()
    os.mkfifo(bench.path)
    with pytest.raises(ConnectError, match="not a regular file"):
        bench.connect()


def test_a_link_out_of_a_project_is_refused(tmp_path):
    project, outside = tmp_path / "project", tmp_path / "outside.json"
    (project / ".cursor").mkdir(parents=True)
    outside.write_text(EXISTING)
    link = project / ".cursor" / "mcp.json"
    link.symlink_to(outside)
    with pytest.raises(ConnectError, match="leads out of the project"):
        files.read(link, inside=project)
    assert files.read(link).text == EXISTING


def test_a_failed_write_leaves_nothing_behind(bench, monkeypatch):
    bench.write(EXISTING)

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ConnectError, match="No space left"):
        bench.connect()
    monkeypatch.undo()
    assert bench.path.read_text() == EXISTING
    assert strays(bench) == []


def test_folders_made_for_nothing_go_again(bench, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "_write", full)
    with pytest.raises(ConnectError, match="No space left"):
        bench.connect()
    assert list(bench.home.iterdir()) == []


WRITER = """
import json, os, sys
path = sys.argv[1]
for line in sys.stdin:
    value = json.load(open(path)) if os.path.exists(path) else {}
    value["count"] = value.get("count", 0) + 1
    value.setdefault("mcpServers", {})["other"] = {"command": f"v{value['count']}"}
    with open(path + ".tmp", "w") as stream:
        json.dump(value, stream, indent=2)
    os.replace(path + ".tmp", path)
    print("done", flush=True)
"""


@pytest.fixture
def writer(bench):
    """Another process that rewrites the whole file when it is told to."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, bench.path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )

    def write():
        process.stdin.write("go\n")
        process.stdin.flush()
        assert process.stdout.readline() == "done\n"

    yield write
    process.stdin.close()
    process.wait(timeout=120)
    process.stdout.close()


@pytest.mark.process
@pytest.mark.parametrize("existing", [EXISTING, None], ids=["there", "not there yet"])
@pytest.mark.parametrize("times", [1, 3, 20])
def test_a_change_by_another_process_in_the_last_moment_is_not_lost(bench, writer, times, existing):
    bench.path.parent.mkdir()
    if existing:
        bench.write(existing)
    left = times

    def interfere():
        nonlocal left
        if left:
            left -= 1
            writer()

    bench.before_swap = interfere
    bench.connect()
    value = json.loads(bench.path.read_text())
    assert value["count"] == times
    assert value["mcpServers"]["other"] == {"command": f"v{times}"}
    assert value["mcpServers"]["cloxy"] == {"command": PROGRAM, "args": ["mcp"]}
    left = times
    bench.undo()
    value = json.loads(bench.path.read_text())
    assert value == {"count": 2 * times, "mcpServers": {"other": {"command": f"v{2 * times}"}}}
    assert strays(bench) == []


@pytest.mark.process
def test_a_file_that_never_rests_is_given_up_in_words(bench, writer):
    bench.write(EXISTING)
    bench.before_swap = writer
    with pytest.raises(ConnectError, match="changed all the time") as caught:
        bench.connect()
    assert "close Cursor" in caught.value.hint
    assert "cloxy" not in bench.path.read_text()


def test_only_our_own_words_are_remembered(bench, tmp_path):
    bench.write('{"mcpServers": {"x": {"command": "y", "env": {"TOKEN": "hunter2"}}}} // hush\n')
    bench.connect()
    remembered = tmp_path / "data" / "connections.json"
    text = remembered.read_text()
    assert PROGRAM in text
    assert "hunter2" not in text
    assert "hush" not in text
    assert stat.S_IMODE(remembered.stat().st_mode) == 0o600
    bench.undo()
    assert not remembered.exists()


def test_a_memory_that_cannot_be_read_is_no_obstacle(bench, tmp_path):
    before = bench.write('{\n  "mcpServers": {\n    "a": {}\n  }\n}\n')
    bench.connect()
    (tmp_path / "data" / "connections.json").write_text("{ broken")
    bench.undo()
    assert bench.path.read_bytes() == before


def test_a_data_directory_that_cannot_be_used_changes_nothing(bench, tmp_path):
    bench.write(EXISTING)
    (tmp_path / "data").write_text("a file")
    with pytest.raises(ConnectError, match="data directory"):
        bench.connect()
    assert bench.path.read_text() == EXISTING
