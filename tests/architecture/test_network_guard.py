"""The guard that keeps the tests on this machine."""

import asyncio
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from textwrap import dedent

import network_guard
import pytest

OUTSIDE = ("192.0.2.1", 80)
CHILD = """
import socket
try:
    {statement}
except OSError as error:
    print(type(error).__name__)
"""


@pytest.mark.parametrize(
    "attempt",
    [
        lambda s: s.connect(OUTSIDE),
        lambda s: s.connect_ex(OUTSIDE),
        lambda s: s.sendto(b"x", OUTSIDE),
        lambda s: s.sendto(b"x", 0, OUTSIDE),
        lambda s: s.sendmsg([b"x"], [], 0, OUTSIDE),
        lambda s: s.connect(("::ffff:192.0.2.1", 80)),
        lambda s: s.connect(("example.test", 80)),
    ],
)
def test_way_out_is_refused_and_noted(attempt, may_try_network):
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way_out,
        pytest.raises(network_guard.NetworkRefusedError),
    ):
        attempt(way_out)
    assert may_try_network.read_text(encoding="utf-8")


def test_name_look_up_is_refused(may_try_network):
    with pytest.raises(network_guard.NetworkRefusedError):
        socket.getaddrinfo("example.test", 80)
    assert "example.test" in may_try_network.read_text(encoding="utf-8")


def test_event_loop_is_guarded(may_try_network):
    async def connect():
        await asyncio.open_connection(*OUTSIDE)

    with pytest.raises(network_guard.NetworkRefusedError):
        asyncio.run(connect())


@pytest.mark.parametrize("statement", ["socket.create_connection(('192.0.2.1', 80), timeout=5)"])
def test_child_process_is_guarded(statement, may_try_network):
    run = subprocess.run(
        [sys.executable, "-c", CHILD.format(statement=statement)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == "NetworkRefusedError"
    assert "192.0.2.1" in may_try_network.read_text(encoding="utf-8")


def test_swallowed_attempt_fails_the_test(inner_pytest, may_try_network):
    result = inner_pytest(
        """
        import contextlib, socket

        def test_swallows():
            with contextlib.suppress(OSError), socket.socket() as way_out:
                way_out.connect(("192.0.2.1", 80))
        """
    )
    assert result.returncode == 1
    assert "tried to leave this machine" in result.stdout


def test_leaked_variable_fails_the_test(inner_pytest):
    result = inner_pytest("import os\ndef test_leaks():\n    os.environ['LEAK'] = '1'\n")
    assert result.returncode == 1
    assert "changed environment variables" in result.stdout


def test_a_command_that_makes_all_files_private_does_so_in_its_own_test_only(inner_pytest):
    result = inner_pytest(
        """
        import os, pytest

        @pytest.mark.parametrize("number", [1, 2])
        def test_masks(number):
            assert os.umask(0o077) == 0o022
        """
    )
    assert result.returncode == 0, result.stdout


def test_a_module_that_a_test_wrote_is_gone_after_it(inner_pytest):
    result = inner_pytest(
        """
        import pytest

        @pytest.mark.parametrize("number", [1, 2])
        def test_writes(number, tmp_path, monkeypatch):
            (tmp_path / "written_here.py").write_text(f"NUMBER = {number}")
            monkeypatch.syspath_prepend(str(tmp_path))
            import written_here
            assert written_here.NUMBER == number
        """
    )
    assert result.returncode == 0, result.stdout


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the zone cannot be changed here")
def test_leaked_time_zone_fails_the_test(inner_pytest):
    result = inner_pytest(
        """
        import time

        def test_leaks(monkeypatch):
            monkeypatch.setenv("TZ", "XYZ-5")
            time.tzset()
        """
    )
    assert result.returncode == 1
    assert "changed the time zone" in result.stdout


def test_leaked_signal_handler_fails_the_test(inner_pytest):
    result = inner_pytest(
        """
        import signal

        def test_leaks():
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        """
    )
    assert result.returncode == 1
    assert "changed what a signal does" in result.stdout


def test_loopback_works():
    with socket.create_server(("127.0.0.1", 0)) as server:
        with socket.create_connection(server.getsockname(), timeout=5) as client:
            client.sendall(b"x")
        connection, _ = server.accept()
        with connection:
            assert connection.recv(1) == b"x"


def test_settings_from_outside_are_gone(isolated):
    assert os.environ["HOME"] == str(isolated)
    assert not [name for name in os.environ if name.startswith("CLOXY_")]


@pytest.fixture
def inner_pytest(tmp_path):
    """Runs pytest on a text in a folder of its own, with the real conftest."""

    def run(text):
        conftest = Path(network_guard.__file__).parent.parent / "conftest.py"
        shutil.copy(conftest, tmp_path)
        (tmp_path / "test_inner.py").write_text(dedent(text), encoding="utf-8")
        (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", str(tmp_path)],
            capture_output=True,
            text=True,
        )

    return run
