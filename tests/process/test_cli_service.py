"""`cloxy install-service` and `cloxy uninstall-service`, with a systemd that notes and obeys."""

import json
import shutil
import stat
import sys
from pathlib import Path

import pytest
from held_ports import held_port
from process.cli_runner import run_cloxy

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the fake is systemd's"),
]

# It knows what is switched on by a file, and answers as systemctl does.
SYSTEMCTL = """#!/bin/sh
echo "$@" >> "{notes}"
shift
case "$1" in
    is-enabled) test -e "{enabled}" ;;
    enable) {enable} ;;
    disable) rm -f "{enabled}" ;;
    show) echo "${{FAKE_PID:-0}}" ;;
esac
"""


@pytest.fixture
def systemd(tmp_path, monkeypatch):
    """A `systemctl` before the real one; what it was asked."""
    return Systemd(tmp_path / "bin", tmp_path, monkeypatch)


class Systemd:
    def __init__(self, folder, notes, monkeypatch):
        folder.mkdir()
        self._program = folder / "systemctl"
        self._notes = notes / "asked.txt"
        self._enabled = notes / "enabled"
        monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
        self.write()

    def write(self, enable='touch "{enabled}"'):
        enable = enable.format(enabled=self._enabled)
        text = SYSTEMCTL.format(notes=self._notes, enabled=self._enabled, enable=enable)
        self._program.write_text(text)
        self._program.chmod(0o755)

    def asked(self):
        lines = self._notes.read_text().splitlines() if self._notes.exists() else []
        self._notes.unlink(missing_ok=True)
        return [line.removeprefix("--user ") for line in lines]


@pytest.fixture
def unit(isolated):
    return isolated / ".config/systemd/user/cloxy.service"


@pytest.fixture(autouse=True)
def nothing_listens(monkeypatch, unused_port):
    monkeypatch.setenv("CLOXY_PORT", str(unused_port))


@pytest.fixture
def unused_port():
    with held_port() as port:
        yield port


def test_install_again_and_remove(systemd, isolated, unit):
    first = run_cloxy("install-service")
    assert first.returncode == 0, first.stderr
    shown = first.stdout.decode()
    assert "systemd user unit cloxy.service installed and started" in shown
    assert str(isolated / ".cloxy/logs/cloxy.log") in shown
    assert "loginctl enable-linger" in shown
    assert b"CLOXY_PORT is set here, but the service will not have it" in first.stderr
    assert systemd.asked()[-4:] == [
        "daemon-reload",
        "enable cloxy.service",
        "reset-failed cloxy.service",
        "restart cloxy.service",
    ]
    assert unit.exists()

    second = run_cloxy("install-service")
    assert second.returncode == 0
    assert b"nothing was done" in second.stdout
    assert not {"restart cloxy.service", "daemon-reload"} & set(systemd.asked())

    (isolated / ".cloxy" / "memory.db").write_text("the memory")
    removed = run_cloxy("uninstall-service")
    assert removed.returncode == 0
    assert b"stay in " + bytes(isolated / ".cloxy") in removed.stdout
    assert not unit.exists()
    assert (isolated / ".cloxy" / "memory.db").exists()
    assert "disable --now cloxy.service" in systemd.asked()

    again = run_cloxy("uninstall-service")
    assert (again.returncode, b"no service is installed" in again.stdout) == (0, True)


def test_json_tells_everything(systemd, unit):
    run = run_cloxy("install-service", "--json", "--env", "CLOXY_WATCH=0")
    told = json.loads(run.stdout)
    assert (told["state"], told["kind"], told["name"]) == ("installed", "systemd", "cloxy.service")
    assert told["definition"] == str(unit)
    assert told["environment"] == {"CLOXY_WATCH": "0"}
    assert Path(told["program"][0]).is_absolute()
    assert unit.read_text() == told["text"]
    assert told["commands"][0] == ["systemctl", "--user", "daemon-reload"]
    assert json.loads(run_cloxy("uninstall-service", "--json").stdout)["state"] == "removed"
    assert json.loads(run_cloxy("uninstall-service", "--json").stdout)["state"] == "absent"


def test_print_does_nothing(systemd, isolated):
    run = run_cloxy("install-service", "--print")
    assert run.returncode == 0
    assert b"[Service]" in run.stdout
    assert b"systemctl --user enable cloxy.service" in run.stdout
    assert systemd.asked() == []
    assert list(isolated.iterdir()) == []


def test_no_session_of_systemd_is_told_with_a_way_out(systemd, isolated):
    systemd._program.write_text("#!/bin/sh\necho 'Failed to connect to bus' >&2\nexit 1\n")
    run = run_cloxy("install-service")
    assert run.returncode == 1
    assert b"Failed to connect to bus" in run.stderr
    assert b"cloxy start" in run.stderr
    assert list(isolated.iterdir()) == []


def test_no_systemd_at_all(systemd, isolated, monkeypatch):
    systemd._program.unlink()
    monkeypatch.setenv("PATH", str(systemd._program.parent))
    run = run_cloxy("install-service")
    assert (run.returncode, b"has no systemd" in run.stderr) == (1, True)


def test_what_systemd_refuses_is_undone(systemd, isolated, unit):
    systemd.write(enable="echo 'Unit is masked' >&2; exit 1")
    run = run_cloxy("install-service")
    assert run.returncode == 1
    assert b"Unit is masked" in run.stderr
    assert not unit.exists()
    assert not (isolated / ".cloxy" / "service.json").exists()


def test_a_key_is_refused_and_not_repeated(systemd, isolated):
    run = run_cloxy("install-service", "--env", "CLOXY_API_KEY=Xk3-9fQpLm27vTzR")
    assert run.returncode == 1
    assert b"cloxy key create" in run.stderr
    assert b"Xk3-9fQpLm27vTzR" not in run.stderr + run.stdout
    assert list(isolated.iterdir()) == []


def test_a_key_of_this_shell_never_gets_into_a_file(systemd, isolated):
    run = run_cloxy("install-service", CLOXY_API_KEY="Xk3-9fQpLm27vTzR")
    assert run.returncode == 0
    assert b"CLOXY_API_KEY is set here" in run.stderr
    for path in isolated.rglob("*"):
        assert path.is_dir() or b"Xk3-9fQpLm27vTzR" not in path.read_bytes()


def test_a_running_server_is_asked_to_stop_first(systemd, stub, unit):
    stub.answer("GET", "/health", {"status": "OK", "service": "cloxy", "pid": 4711})
    run = run_cloxy("install-service", CLOXY_PORT=str(stub.port))
    assert run.returncode == 1
    assert b"process 4711" in run.stderr
    assert b"cloxy stop" in run.stderr
    assert not unit.exists()


def test_control_characters_of_a_manager_do_not_reach_the_terminal(systemd):
    systemd.write(enable=r"printf '\033[31mred' >&2; exit 1")
    run = run_cloxy("install-service")
    assert b"\x1b" not in run.stderr
    assert rb"\x1b[31mred" in run.stderr


def test_status_tells_of_the_service(systemd, stub):
    assert run_cloxy("install-service").returncode == 0
    stub.answer("GET", "/health", {"status": "OK", "service": "cloxy", "pid": 4711})
    stub.answer("GET", "/memory_stats", {"total_memories": 1})
    stub.answer("GET", "/ingest_status", {"running": True})

    def service(pid):
        told = run_cloxy("status", "--json", url=stub.url, FAKE_PID=pid)
        words = run_cloxy("status", url=stub.url, FAKE_PID=pid).stdout.decode()
        return json.loads(told.stdout)["service"]["runs_this_server"], words

    runs, words = service("4711")
    assert runs is True
    assert "systemd user unit cloxy.service, runs this server" in words
    runs, words = service("815")
    assert runs is False
    assert "runs another one (815)" in words
    runs, words = service("0")
    assert runs is False
    assert "installed but not running" in words


def test_another_data_directory_has_a_service_of_its_own(systemd, isolated, unit, tmp_path):
    assert run_cloxy("install-service").returncode == 0
    other = tmp_path / "other memory"
    assert run_cloxy("install-service", CLOXY_DATA_DIR=str(other)).returncode == 0
    units = sorted(path.name for path in unit.parent.iterdir())
    assert len(units) == 2
    assert run_cloxy("uninstall-service", CLOXY_DATA_DIR=str(other)).returncode == 0
    assert [path.name for path in unit.parent.iterdir()] == ["cloxy.service"]
    assert stat.S_IMODE(other.stat().st_mode) == 0o700
    shutil.rmtree(other)
