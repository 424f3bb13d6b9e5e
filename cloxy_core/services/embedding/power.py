"""When passages are not embedded: on battery, and while the machine has enough to do."""

import ctypes
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from cloxy_core.core_settings import EMBED_MAX_LOAD, EMBED_ON_BATTERY
from cloxy_hookspecs import SettingsView

LOOK_SECONDS = 30.0
SUPPLIES = Path("/sys/class/power_supply")
_COMMAND_SECONDS = 5.0
_OFF_LINE = 0
"""`ACLineStatus` of the Windows call `GetSystemPowerStatus`; 1 is on line, 255 unknown."""


class Power:
    """Where the machine has its power from."""

    def __init__(self, supplies: Path = SUPPLIES, platform: str = sys.platform) -> None:
        """Look at nothing yet.

        Args:
            supplies: folder with a folder for each supply, as Linux has it.
            platform: as `sys.platform` names it.
        """
        self._supplies = supplies
        self._platform = platform

    def on_battery(self) -> bool:
        """Whether it runs on battery; False when that cannot be told. Blocks for a moment."""
        try:
            if self._platform == "darwin":
                return _macos_on_battery()
            if self._platform == "win32":
                return _windows_on_battery()
            return self._linux_on_battery()
        except (OSError, ValueError, subprocess.SubprocessError):
            return False

    def _linux_on_battery(self) -> bool:
        discharging = False
        for supply in self._supplies.iterdir():
            kind = _word(supply / "type")
            if kind.startswith(("Mains", "USB")) and _word(supply / "online") == "1":
                return False
            # A mouse has a battery, too, which says nothing about the machine.
            is_own = kind == "Battery" and _word(supply / "scope") != "Device"
            discharging |= is_own and _word(supply / "status") == "Discharging"
        return discharging


class Pauses:
    """Whether passages may be embedded now."""

    def __init__(
        self,
        settings: SettingsView,
        *,
        power: Power | None = None,
        load: Callable[[], float] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Look at nothing yet.

        Args:
            settings: say what matters.
            power: tells of the battery.
            load: the load average of the last minute a core.
            clock: seconds, for how long an answer holds.
        """
        self._on_battery: bool = settings[EMBED_ON_BATTERY]
        self._max_load: float = settings[EMBED_MAX_LOAD]
        self._power = power or Power()
        self._load = load or load_a_core
        self._clock = clock
        self._until = float("-inf")
        self._reason: str | None = None

    @property
    def known(self) -> bool:
        """Whether `reason` has its answer at hand, and does not block."""
        return (self._on_battery and not self._max_load) or self._clock() < self._until

    def reason(self) -> str | None:
        """Why not now, in words; looked at again after half a minute. Blocks for a moment."""
        if not self.known:
            self._reason = self._look()
            self._until = self._clock() + LOOK_SECONDS
        return self._reason

    def _look(self) -> str | None:
        if not self._on_battery and self._power.on_battery():
            return f"the machine runs on battery, and {EMBED_ON_BATTERY.name} is off"
        load = self._load() if self._max_load else 0.0
        if load > self._max_load:
            limit = f"{EMBED_MAX_LOAD.name} = {self._max_load:g}"
            return f"the load average a core is {load:.2f}, above {limit}"
        return None


def load_a_core() -> float:
    """The load average of the last minute a core; 0.0 where the system has none."""
    try:
        return os.getloadavg()[0] / (os.cpu_count() or 1)
    except (AttributeError, OSError):
        return 0.0


def _word(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _macos_on_battery() -> bool:
    answer = subprocess.run(
        ["/usr/bin/pmset", "-g", "batt"],
        capture_output=True,
        text=True,
        timeout=_COMMAND_SECONDS,
        check=True,
    )
    return "'Battery Power'" in answer.stdout


class _PowerStatus(ctypes.Structure):
    """The structure `SYSTEM_POWER_STATUS` of Windows."""

    _fields_ = (
        ("line", ctypes.c_ubyte),
        ("flag", ctypes.c_ubyte),
        ("percent", ctypes.c_ubyte),
        ("saver", ctypes.c_ubyte),
        ("seconds_left", ctypes.c_ulong),
        ("seconds_full", ctypes.c_ulong),
    )


def _windows_on_battery() -> bool:
    status = _PowerStatus()
    library = getattr(ctypes, "windll", None)
    if library is None or not library.kernel32.GetSystemPowerStatus(ctypes.byref(status)):
        return False
    return bool(status.line == _OFF_LINE)
