"""What a service manager really runs: the program of a definition, in a bare environment."""

import fcntl
import json
import os
import signal
import stat
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from held_ports import held_port
from os_service import unit_file
from os_service.recording import machine

from cloxy_core.os_service.launch_log import LIMIT_BYTES, launch_log
from cloxy_core.os_service.planning import plan

PATIENCE = 120
pytestmark = pytest.mark.process


@pytest.fixture
def port():
    with held_port() as held:
        yield held


def unit_for(home, data_dir, **given):
    return plan(data_dir, given, machine(home, "linux", python=sys.executable)).definition.decode()


@pytest.fixture
def run_unit(isolated, tmp_path):
    """Runs the command of a unit as systemd does: no profile, a bare PATH, no streams."""
    started = []

    def run(text):
        process = subprocess.Popen(
            unit_file.command(text),
            env={
                "PATH": "/usr/bin:/bin",
                "HOME": str(isolated),
                # The guard against the network, which every child of a test has.
                "PYTHONPATH": os.environ["PYTHONPATH"],
                "TEST_NETWORK_LOG": os.environ["TEST_NETWORK_LOG"],
                **unit_file.environment(text),
            },
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        started.append(process)
        return process

    yield run
    for process in started:
        if process.poll() is None:
            process.kill()
            process.wait()


def wait_for(found, process=None):
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        value = found()
        if value:
            return value
        if process is not None and process.poll() is not None:
            raise AssertionError(f"it ended with {process.returncode}")
        time.sleep(0.05)
    raise AssertionError("not within the time")


def url_in(log):
    def found():
        if not log.exists():
            return None
        said = log.read_text()
        return said.split(" at ")[1].split()[0] if "stop with" in said else None

    return found


def test_the_program_of_a_unit_serves_and_ends_well(isolated, tmp_path, run_unit):
    data_dir = tmp_path / "Ana & Bob's 100% память"
    # A module of the same name in the working directory must not get in the way.
    (tmp_path / "click.py").write_text("raise SystemExit('the wrong click')")
    process = run_unit(unit_for(isolated, data_dir, CLOXY_PORT="0", CLOXY_WATCH="0"))
    log = launch_log(data_dir)
    url = wait_for(url_in(log), process)
    with urllib.request.urlopen(f"{url}/health", timeout=30) as answer:
        assert json.load(answer)["pid"] == process.pid
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert stat.S_IMODE(log.parent.stat().st_mode) == 0o700
    assert (data_dir / "logs" / "cloxy.log").exists()
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == 0  # so no manager starts it again


def test_a_refusal_is_found_in_the_launch_log(isolated, tmp_path, run_unit):
    data_dir = tmp_path / "data"
    process = run_unit(unit_for(isolated, data_dir, CLOXY_PORT="ninety"))
    assert process.wait(PATIENCE) == 1
    assert "ninety" in launch_log(data_dir).read_text()


def test_variables_may_be_arguments(tmp_path):
    data_dir = tmp_path / "data"
    run = subprocess.run(
        [
            *(sys.executable, "-P", "-m", "cloxy_core.cli.background"),
            *(f"CLOXY_DATA_DIR={data_dir}", "CLOXY_PORT=ninety=one"),
        ],
        timeout=PATIENCE,
    )
    assert run.returncode == 1
    assert "ninety=one" in launch_log(data_dir).read_text()


def test_a_full_launch_log_makes_place_for_a_new_one(tmp_path):
    log = launch_log(tmp_path)
    log.parent.mkdir()
    log.write_bytes(b"x" * LIMIT_BYTES)
    said = in_child(tmp_path, "print('new', flush=True)")
    assert log.read_bytes() == b"new\n"
    assert log.with_name("launch.log.1").stat().st_size == LIMIT_BYTES
    assert said == b""


def test_what_is_printed_without_end_is_cut(tmp_path):
    in_child(
        tmp_path,
        "from cloxy_core.os_service.launch_log import cut_if_large\n"
        "assert not cut_if_large()\n"
        "print('y' * 300_000, flush=True)\n"
        "assert cut_if_large()\n"
        "print('after', flush=True)",
    )
    assert launch_log(tmp_path).read_bytes().splitlines() == [
        b"(what stood here was cut, because it was too much)",
        b"after",
    ]


def test_a_link_in_place_of_the_launch_log_is_not_followed(tmp_path):
    log = launch_log(tmp_path)
    log.parent.mkdir()
    victim = tmp_path / "victim"
    victim.write_text("mine")
    log.symlink_to(victim)
    with pytest.raises(subprocess.CalledProcessError):
        in_child(tmp_path, "print('over')")
    assert victim.read_text() == "mine"


def in_child(data_dir: Path, then: str) -> bytes:
    code = (
        "from pathlib import Path\n"
        "from cloxy_core.os_service.launch_log import redirect_streams\n"
        f"redirect_streams(Path({str(data_dir)!r}))\n{then}"
    )
    return subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, timeout=PATIENCE
    ).stdout


def test_a_second_one_leaves_with_a_good_end_and_one_line(isolated, tmp_path, run_unit, port):
    data_dir = tmp_path / "data"
    unit = unit_for(isolated, data_dir, CLOXY_PORT=str(port), CLOXY_WATCH="0")
    first = run_unit(unit)
    wait_for(url_in(launch_log(data_dir)), first)
    second = run_unit(unit)
    assert second.wait(PATIENCE) == 0
    assert first.poll() is None
    said = launch_log(data_dir).read_text().splitlines()[-1]
    assert f"(process {first.pid})" in said
    assert "nothing to do" in said


def test_what_repairs_a_memory_is_worth_a_second_try(isolated, tmp_path, run_unit):
    data_dir = tmp_path / "data"
    data_dir.mkdir(mode=0o700)
    with (data_dir / "server.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        json.dump({"pid": 1, "version": "6", "url": "", "started_at": 0}, lock)
        lock.flush()
        process = run_unit(unit_for(isolated, data_dir, CLOXY_PORT="0"))
        assert process.wait(PATIENCE) == 1
