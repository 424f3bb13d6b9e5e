"""Whether the machine runs on battery, and when that and its load make passages wait."""

import subprocess

import pytest

from cloxy_core.core_settings import CORE_SETTINGS
from cloxy_core.kernel.settings import Settings
from cloxy_core.services.embedding import power
from cloxy_core.services.embedding.power import LOOK_SECONDS, Pauses, Power


def supply(folder, name, **files):
    place = folder / name
    place.mkdir()
    for file, text in files.items():
        (place / file).write_text(f"{text}\n")


def on_battery(folder):
    return Power(folder, "linux").on_battery()


def test_a_machine_without_supplies_is_not_on_battery(tmp_path):
    assert not on_battery(tmp_path)
    assert not on_battery(tmp_path / "nothing")


@pytest.mark.parametrize(
    ("mains", "status", "wanted"),
    [("1", "Charging", False), ("0", "Discharging", True), ("1", "Discharging", False)],
)
def test_mains_and_battery(tmp_path, mains, status, wanted):
    supply(tmp_path, "AC", type="Mains", online=mains)
    supply(tmp_path, "BAT0", type="Battery", status=status)
    assert on_battery(tmp_path) is wanted


def test_a_battery_alone_counts_when_it_discharges(tmp_path):
    supply(tmp_path, "BAT0", type="Battery", status="Full")
    assert not on_battery(tmp_path)
    supply(tmp_path, "BAT1", type="Battery", status="Discharging")
    assert on_battery(tmp_path)


def test_a_charger_by_usb_counts_as_mains(tmp_path):
    supply(tmp_path, "ucsi", type="USB_C", online="1")
    supply(tmp_path, "BAT0", type="Battery", status="Discharging")
    assert not on_battery(tmp_path)


def test_the_battery_of_a_mouse_says_nothing(tmp_path):
    supply(tmp_path, "hid", type="Battery", status="Discharging", scope="Device")
    assert not on_battery(tmp_path)


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("Now drawing from 'Battery Power'\n -InternalBattery-0 71%; discharging", True),
        ("Now drawing from 'AC Power'\n -InternalBattery-0 71%; charging", False),
    ],
)
def test_macos(monkeypatch, said, wanted):
    def run(command, **_more):
        return subprocess.CompletedProcess(command, 0, stdout=said)

    monkeypatch.setattr(power.subprocess, "run", run)
    assert Power(platform="darwin").on_battery() is wanted


@pytest.mark.parametrize("error", [FileNotFoundError(), subprocess.TimeoutExpired("pmset", 5)])
def test_what_cannot_be_told_is_not_on_battery(monkeypatch, error):
    def run(*_command, **_more):
        raise error

    monkeypatch.setattr(power.subprocess, "run", run)
    assert not Power(platform="darwin").on_battery()


@pytest.mark.parametrize(("line", "wanted"), [(0, True), (1, False), (255, False)])
def test_windows(monkeypatch, line, wanted):
    class Library:
        @staticmethod
        def GetSystemPowerStatus(reference):
            reference._obj.line = line
            return 1

    class Libraries:
        kernel32 = Library

    monkeypatch.setattr(power.ctypes, "windll", Libraries, raising=False)
    assert Power(platform="win32").on_battery() is wanted


class Battery:
    def __init__(self):
        self.on = True
        self.looks = 0

    def on_battery(self):
        self.looks += 1
        return self.on


def settings(**given):
    texts = {f"embed.{name}": text for name, text in given.items()}
    return Settings(CORE_SETTINGS, command_line=texts)


def test_battery_pauses_unless_it_may_be_used():
    assert "on_battery is off" in Pauses(settings(), power=Battery()).reason()
    allowed = Pauses(settings(on_battery="true"), power=Battery())
    assert allowed.known
    assert allowed.reason() is None


def test_it_looks_now_and_then_only():
    battery, now = Battery(), [100.0]
    pauses = Pauses(settings(), power=battery, clock=lambda: now[0])
    for _ in range(5):
        assert pauses.reason()
    battery.on = False
    assert pauses.reason()
    assert (battery.looks, pauses.known) == (1, True)
    now[0] += LOOK_SECONDS
    assert not pauses.known
    assert pauses.reason() is None
    assert battery.looks == 2


@pytest.mark.parametrize(("load", "paused"), [(0.4, False), (0.6, True)])
def test_load_pauses_above_its_limit(load, paused):
    pauses = Pauses(settings(on_battery="true", max_load="0.5"), load=lambda: load)
    assert bool(pauses.reason()) is paused
    if paused:
        assert pauses.reason() == "the load average a core is 0.60, above embed.max_load = 0.5"


def test_no_limit_of_load_is_no_look():
    def never():
        raise AssertionError("looked")

    assert Pauses(settings(on_battery="true"), load=never).reason() is None


def test_the_load_is_that_of_a_core(monkeypatch):
    monkeypatch.setattr(power.os, "getloadavg", lambda: (3.0, 9.0, 9.0), raising=False)
    monkeypatch.setattr(power.os, "cpu_count", lambda: 2)
    assert power.load_a_core() == 1.5
    monkeypatch.delattr(power.os, "getloadavg", raising=False)
    assert power.load_a_core() == 0.0
