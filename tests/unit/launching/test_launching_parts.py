"""What a server in the background gets, how it is detached, and the words about it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cloxy_core.launching import detached
from cloxy_core.launching.environment import server_environment
from cloxy_core.launching.launch_lock import LaunchLock
from cloxy_core.launching.launching import last_words

EDITOR = {
    "PATH": "/usr/bin",
    "HOME": "/home/me",
    "LC_ALL": "de_DE.UTF-8",
    "XDG_CONFIG_HOME": "/home/me/.config",
    "CLOXY_WATCH": "0",
    "CLOXY_DATA_DIR": "relative",
    "PYTHONPATH": "/somewhere",
    "PYTHONSTARTUP": "x",
    "LD_PRELOAD": "x.so",
    "ANTHROPIC_API_KEY": "secret",
    "ELECTRON_RUN_AS_NODE": "1",
}


def test_environment_is_small():
    found = server_environment(EDITOR, Path("/data"), None, 9055)
    assert found == {
        "PATH": "/usr/bin",
        "HOME": "/home/me",
        "LC_ALL": "de_DE.UTF-8",
        "XDG_CONFIG_HOME": "/home/me/.config",
        "CLOXY_WATCH": "0",
        "CLOXY_DATA_DIR": "/data",
        "CLOXY_PORT": "9055",
    }
    assert server_environment({}, Path("/data"), "::1", None)["CLOXY_HOST"] == "::1"


def test_names_have_no_case_on_windows(monkeypatch):
    monkeypatch.setattr(os, "name", "nt")
    given = {"SystemRoot": "C:\\Windows", "Path": "C:\\x", "Secret": "x"}
    found = server_environment(given, "C:\\data", None, None)
    assert found == {"SystemRoot": "C:\\Windows", "Path": "C:\\x", "CLOXY_DATA_DIR": "C:\\data"}


def test_no_window_and_no_console_on_windows(monkeypatch):
    asked = {}

    class Popen:
        pid = 4711

        def __init__(self, command, **options):
            asked.update(options, command=command)

    monkeypatch.setattr(detached.os, "name", "nt")
    monkeypatch.setattr(subprocess, "Popen", Popen)
    assert detached.start_detached(["python.exe", "-m", "x"], {"A": "b"}, "C:\\data", 7) == 4711
    assert asked["creationflags"] == 0x8 | 0x200 | 0x8000000
    assert (asked["stdin"], asked["stdout"], asked["stderr"]) == (subprocess.DEVNULL, 7, 7)
    assert asked["close_fds"] is True
    assert asked["command"] == ["python.exe", "-m", "x"]


@pytest.mark.skipif(os.name != "posix", reason="sessions are of POSIX")
def test_detached_process_is_nobodys_child(tmp_path):
    log = tmp_path / "log.txt"
    code = "import os; print(os.getppid(), os.getsid(0), os.getpid(), os.getcwd(), flush=True)"
    with log.open("wb") as file:
        command = [sys.executable, "-c", code]
        pid = detached.start_detached(command, {"A": "b"}, tmp_path, file.fileno())
    while detached.is_alive(pid):
        pass
    parent, session, own, folder = log.read_text(encoding="utf-8").split()
    assert int(own) == pid
    assert int(parent) != os.getpid()
    assert int(session) not in {os.getsid(0), pid}
    assert folder == str(tmp_path)


def test_program_that_is_not_there(tmp_path):
    log = tmp_path / "log.txt"
    with log.open("wb") as file:
        pid = detached.start_detached(["/nowhere/python"], {}, tmp_path, file.fileno())
    while detached.is_alive(pid):
        pass
    assert "No such file" in log.read_text(encoding="utf-8")


def test_launch_lock_is_one_at_a_time(tmp_path):
    first, second = LaunchLock(tmp_path / "data"), LaunchLock(tmp_path / "data")
    assert first.try_acquire()
    assert not second.try_acquire()
    first.release()
    assert second.try_acquire()
    second.release()
    second.release()


def test_last_words(tmp_path):
    log = tmp_path / "logs" / "launch.log"
    assert last_words(tmp_path) == "it said nothing"
    log.parent.mkdir()
    log.write_bytes(b"of an earlier one\n")
    begins = log.stat().st_size
    assert last_words(tmp_path, begins) == "it said nothing"
    with log.open("ab") as file:
        file.write(b"first\nlast \xff\n\n")
    assert last_words(tmp_path, begins) == "last \ufffd"
    assert last_words(tmp_path, 10_000) == "last \ufffd"
