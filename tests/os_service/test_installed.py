"""An installed service: found, started, stopped, asked for its process."""

import pytest
from os_service.recording import machine

from cloxy_core.os_service import ServiceError, installed
from cloxy_core.os_service.boundary import NOT_FOUND, Outcome, SystemRunner
from cloxy_core.os_service.installing import install
from cloxy_core.os_service.planning import plan


def service_on(platform, home, runner):
    here = machine(home, platform, runner)
    runner.answer("launchctl print gui/501/", Outcome(113))
    install(plan(home / ".cloxy", {}, here), here)
    runner.answers.clear()
    runner.commands.clear()
    return installed(home / ".cloxy", here)


@pytest.mark.parametrize(
    ("platform", "started", "stopped"),
    [
        (
            "linux",
            "systemctl --user start cloxy.service",
            "systemctl --user stop cloxy.service",
        ),
        (
            "darwin",
            "launchctl kickstart gui/501/com.cloxy.server",
            "launchctl kill SIGTERM gui/501/com.cloxy.server",
        ),
        ("win32", "schtasks /Run /TN Cloxy-Ana", "schtasks /End /TN Cloxy-Ana"),
    ],
)
def test_start_and_stop(home, runner, platform, started, stopped):
    service = service_on(platform, home, runner)
    service.start()
    assert runner.commands[-1] == started
    service.stop()
    assert runner.commands[-1] == stopped
    assert service.words.endswith(service.record.name)


def test_launchd_is_told_to_load_it_first_when_it_has_not(home, runner):
    service = service_on("darwin", home, runner)
    runner.answer("launchctl print gui/501/", Outcome(113))
    service.start()
    assert runner.commands[-1] == f"launchctl bootstrap gui/501 {service.definition}"


def test_what_the_manager_said_is_in_the_error(home, runner):
    service = service_on("linux", home, runner)
    runner.answer("systemctl --user start", Outcome(1, "Unit is masked"))
    with pytest.raises(ServiceError, match="Unit is masked"):
        service.start()


def test_stopping_what_does_not_run_is_no_error_but_a_failed_stop_is(home, runner):
    service = service_on("darwin", home, runner)
    runner.answer("launchctl kill", Outcome(3, "No process to signal"))
    service.stop()
    runner.answer("launchctl print", Outcome(0, "\tpid = 4711\n"))
    with pytest.raises(ServiceError, match="No process to signal"):
        service.stop()


@pytest.mark.parametrize(
    ("platform", "output", "pid"),
    [
        ("linux", "4711\n", 4711),
        ("linux", "0\n", None),
        ("linux", "", None),
        ("darwin", "gui/501/com.cloxy.server = {\n\tactive count = 1\n\tpid = 4711\n}", 4711),
        ("darwin", "gui/501/com.cloxy.server = {\n\tstate = not running\n}", None),
        ("win32", "anything 4711", None),
    ],
)
def test_process_as_the_manager_tells_it(home, runner, platform, output, pid):
    service = service_on(platform, home, runner)
    runner.answer("", Outcome(0, output))
    assert service.pid() == pid


def test_a_definition_that_is_gone_is_not_installed(home, runner):
    service = service_on("linux", home, runner)
    service.definition.unlink()
    assert installed(home / ".cloxy", machine(home, "linux", runner)) is None


def test_a_record_that_came_from_another_system_is_not_installed(home, runner):
    service_on("linux", home, runner)
    assert installed(home / ".cloxy", machine(home, "darwin", runner)) is None


def test_an_unreadable_record_is_an_error_with_its_path(home):
    (home / ".cloxy").mkdir()
    (home / ".cloxy" / "service.json").write_text("[1, 2]")
    with pytest.raises(ServiceError, match=r"service\.json cannot be read"):
        installed(home / ".cloxy", machine(home, "linux"))


def test_real_programs_are_run_without_a_shell():
    runner = SystemRunner()
    assert runner.run(("printf", "%s", "$HOME;x")) == Outcome(0, "$HOME;x")
    assert runner.run(("sh", "-c", "echo out; echo err >&2; exit 3")) == Outcome(3, "out\nerr")
    assert runner.run(("no-such-program-anywhere",)).code == NOT_FOUND
