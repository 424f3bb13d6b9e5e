"""Installing and removing: in order, once, and nothing half done."""

import plistlib
import stat

import pytest
from os_service.recording import machine

from cloxy_core.os_service.boundary import NOT_FOUND, Outcome, ServiceError
from cloxy_core.os_service.installed import installed
from cloxy_core.os_service.installing import install, uninstall
from cloxy_core.os_service.managers import launchd
from cloxy_core.os_service.planning import plan
from cloxy_core.os_service.record import read_record

NOT_LOADED = Outcome(113, "Could not find service")
CHECKS = {
    "linux": "systemctl --user show-environment",
    "darwin": "launchctl print gui/501",
    "win32": "schtasks /Query /FO CSV /NH",
}
ASKS = {
    "linux": "systemctl --user is-enabled --quiet cloxy.service",
    "darwin": "launchctl print gui/501/com.cloxy.server",
    "win32": "schtasks /Query /TN Cloxy-Ana",
}
PLATFORMS = sorted(CHECKS)


@pytest.fixture(params=PLATFORMS)
def platform(request):
    return request.param


@pytest.fixture
def here(home, runner, platform):
    """A machine whose service manager knows nothing of us yet."""
    runner.answer(ASKS[platform], NOT_LOADED)
    return machine(home, platform, runner)


def put_in(here, data_dir, **given):
    return install(plan(data_dir, given, here), here)


@pytest.fixture
def data_dir(home):
    return home / ".cloxy"


@pytest.fixture
def known(runner, platform):
    """From now on the manager knows the service."""
    return lambda: runner.answer(ASKS[platform], Outcome(0, "pid = 7"))


def test_first_installation_registers_and_starts(here, data_dir, runner, platform):
    change = put_in(here, data_dir)
    assert change.state == "installed"
    wanted = plan(data_dir, {}, here)
    assert runner.commands == [
        CHECKS[platform],
        ASKS[platform],
        *(" ".join(step.command) for step in wanted.steps()),
    ]
    assert change.definition.read_bytes() == wanted.definition
    assert installed(data_dir, here).record.name == wanted.wanted.name


def test_the_data_directory_and_what_is_written_into_it_are_private(here, data_dir):
    put_in(here, data_dir)
    assert stat.S_IMODE(data_dir.stat().st_mode) == 0o700
    assert stat.S_IMODE((data_dir / "service.json").stat().st_mode) == 0o600


def test_twice_changes_nothing_and_runs_nothing(here, data_dir, runner, known, platform):
    put_in(here, data_dir, CLOXY_PORT="9100")
    known()
    runner.commands.clear()
    definition = plan(data_dir, {}, here).path
    before = definition.stat()
    assert put_in(here, data_dir).state == "unchanged"  # the variable of the first time stays
    assert runner.commands == [CHECKS[platform], ASKS[platform]]
    assert definition.stat().st_mtime_ns == before.st_mtime_ns
    assert definition.stat().st_ino == before.st_ino


def test_a_definition_that_was_unregistered_by_hand_is_registered_again(here, data_dir, runner):
    put_in(here, data_dir)
    runner.commands.clear()
    assert put_in(here, data_dir).state == "changed"
    assert len(runner.commands) > 2


def test_a_change_is_written_and_the_service_started_anew(home, data_dir, runner, platform):
    here = machine(home, platform, runner)
    runner.answer(ASKS[platform], NOT_LOADED)
    put_in(here, data_dir)
    # launchd is asked once more, until the old one has gone.
    runner.answer(ASKS[platform], Outcome(0), NOT_LOADED)
    runner.commands.clear()
    change = put_in(here, data_dir, CLOXY_PORT="9100")
    assert (change.state, change.aside) == ("changed", None)
    assert b"9100" in change.definition.read_bytes().replace(b"\0", b"")
    ran = runner.commands
    if platform == "darwin":
        bootout = ran.index("launchctl bootout gui/501/com.cloxy.server")
        assert bootout < ran.index(f"launchctl bootstrap gui/501 {change.definition}")
    elif platform == "linux":
        assert ran[-1] == "systemctl --user restart cloxy.service"
    else:
        assert ran.index("schtasks /End /TN Cloxy-Ana") < ran.index("schtasks /Run /TN Cloxy-Ana")


def test_a_variable_can_be_taken_away_again(here, data_dir):
    put_in(here, data_dir, CLOXY_PORT="9100", CLOXY_WATCH="0")
    put_in(here, data_dir, CLOXY_PORT="")
    assert read_record(data_dir).environment == {"CLOXY_WATCH": "0"}


def test_no_service_manager_changes_nothing(here, home, data_dir, runner, platform):
    runner.answer(CHECKS[platform], Outcome(NOT_FOUND, "it is not on this machine"))
    with pytest.raises(ServiceError) as refusal:
        put_in(here, data_dir)
    assert "cloxy start" in refusal.value.hint
    assert list(home.iterdir()) == []


def failing_step(platform):
    return {
        "linux": "systemctl --user enable",
        "darwin": "launchctl bootstrap",
        "win32": "schtasks /Create",
    }[platform]


def test_a_failed_first_installation_leaves_nothing(here, data_dir, runner, platform):
    runner.answer(failing_step(platform), Outcome(5, "Input/output error"))
    with pytest.raises(ServiceError, match="Input/output error"):
        put_in(here, data_dir)
    assert not plan(data_dir, {}, here).path.exists()
    assert read_record(data_dir) is None
    assert installed(data_dir, here) is None


def test_a_failed_change_puts_the_old_definition_back(here, data_dir, runner, platform):
    first = put_in(here, data_dir)
    before, record = first.definition.read_bytes(), read_record(data_dir)
    runner.answer(failing_step(platform), Outcome(5, "no"))
    with pytest.raises(ServiceError):
        put_in(here, data_dir, CLOXY_PORT="9100")
    assert first.definition.read_bytes() == before
    assert read_record(data_dir) == record
    assert list(first.definition.parent.glob(".*.????????")) == []


def test_what_a_failed_change_stopped_runs_again(here, data_dir, runner, known, platform):
    put_in(here, data_dir)
    known()
    runner.answer(ASKS[platform], *[Outcome(0), NOT_LOADED])
    failing = failing_step(platform)
    runner.answer(failing, Outcome(5, "no"), Outcome(0))
    runner.commands.clear()
    with pytest.raises(ServiceError, match="no"):
        put_in(here, data_dir, CLOXY_PORT="9100")
    before = plan(data_dir, {}, here)
    assert before.path.read_bytes() == before.definition
    last = [" ".join(step.command) for step in before.steps()]
    assert runner.commands[-len(last) :] == last
    assert sum(command.startswith(failing) for command in runner.commands) == 2


def test_what_somebody_else_wrote_is_kept_aside(here, data_dir):
    path = plan(data_dir, {}, here).path
    path.parent.mkdir(parents=True)
    path.write_text("written by hand, with a key in it")
    change = put_in(here, data_dir)
    assert change.state == "changed"
    assert change.aside.read_text() == "written by hand, with a key in it"
    assert stat.S_IMODE(change.aside.stat().st_mode) == 0o600
    assert change.aside.suffix == ".before-cloxy"


def test_an_edited_definition_is_kept_aside_when_removed(here, data_dir):
    change = put_in(here, data_dir)
    change.definition.write_bytes(change.definition.read_bytes() + b"edited")
    removed = uninstall(data_dir, here)
    assert removed.aside.read_bytes().endswith(b"edited")
    assert not change.definition.exists()


def test_removal_takes_exactly_what_was_installed(here, home, data_dir, runner, platform):
    put_in(here, data_dir)
    (data_dir / "memory.db").write_text("the memory")
    other = plan(data_dir, {}, here).path.with_name("other")
    other.write_text("of somebody else")
    runner.commands.clear()
    removed = uninstall(data_dir, here)
    assert (removed.state, removed.aside) == ("removed", None)
    left = {path.name for path in home.rglob("*") if path.is_file()}
    assert left == {"memory.db", "other"}
    assert runner.commands[0] == CHECKS[platform]
    assert any("disable" in c or "bootout" in c or "/Delete" in c for c in runner.commands)


def test_nothing_to_remove(here, data_dir, runner):
    assert uninstall(data_dir, here) is None
    assert runner.commands == []


def test_launchd_is_waited_for_until_it_has_let_go(home, data_dir, runner, monkeypatch):
    waited = []
    monkeypatch.setattr(launchd.time, "sleep", waited.append)
    here = machine(home, "darwin", runner)
    runner.answer(ASKS["darwin"], NOT_LOADED)
    put_in(here, data_dir)
    runner.answer(ASKS["darwin"], Outcome(0), Outcome(0), Outcome(0), NOT_LOADED)
    put_in(here, data_dir, CLOXY_PORT="9100")
    assert len(waited) == 2
    runner.answer(ASKS["darwin"], Outcome(0), NOT_LOADED)
    assert uninstall(data_dir, here).state == "removed"
    assert len(waited) == 3
    put_in(here, data_dir, CLOXY_PORT="9100")
    runner.answer(ASKS["darwin"], Outcome(0))
    with pytest.raises(ServiceError, match="still has"):
        put_in(here, data_dir, CLOXY_PORT="9101")
    assert plistlib.loads(plan(data_dir, {}, here).path.read_bytes())["EnvironmentVariables"][
        "CLOXY_PORT"
    ] == ("9100")
