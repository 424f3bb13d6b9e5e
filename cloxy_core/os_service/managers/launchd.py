"""launchd of macOS: an agent of one user."""

import plistlib
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from cloxy_core.os_service.boundary import Machine, Outcome, ServiceError
from cloxy_core.os_service.managers.base import (
    ServiceManager,
    Step,
    Wanted,
    refused,
    run_steps,
)

LABEL: Final = "com.cloxy.server"
THROTTLE_SECONDS: Final = 30
EXIT_SECONDS: Final = 20
_SYSTEM_PATH: Final = ("/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin")
_PID: Final = re.compile(r"^\s*pid = (\d+)\s*$", re.MULTILINE)
_LEAVING_TRIES: Final = 100
_LEAVING_PAUSE: Final = 0.1


class Launchd(ServiceManager):
    """Agents in `~/Library/LaunchAgents`, in the domain of the user's graphical session."""

    platform = "launchd"
    words = "launchd agent"

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._domain = f"gui/{machine.uid}"

    def name_for(self, suffix: str) -> str:
        """The label."""
        return f"{LABEL}-{suffix}" if suffix else LABEL

    def definition_path(self, name: str, data_dir: Path) -> Path:
        """Where launchd looks at login."""
        return self._machine.home / "Library" / "LaunchAgents" / f"{name}.plist"

    def definition(self, wanted: Wanted) -> bytes:
        """A property list. launchd expands nothing in it, so every path is whole."""
        folder = str(Path(wanted.program[0]).parent)
        path = ":".join(dict.fromkeys((folder, *_SYSTEM_PATH)))
        return plistlib.dumps(
            {
                "Label": wanted.name,
                "ProgramArguments": list(wanted.program),
                "EnvironmentVariables": {"PATH": path, **wanted.environment},
                "WorkingDirectory": str(wanted.data_dir),
                "RunAtLoad": True,
                # A server that was told to stop ends with 0 and stays down.
                "KeepAlive": {"SuccessfulExit": False},
                "ThrottleInterval": THROTTLE_SECONDS,
                "ExitTimeOut": EXIT_SECONDS,
                "ProcessType": "Adaptive",
                "Umask": 0o077,
                # Both streams have a file of their own, which is kept small: see launch_log.
                "StandardOutPath": "/dev/null",
                "StandardErrorPath": "/dev/null",
            },
            sort_keys=False,
        )

    def describe(self, definition: bytes) -> str:
        """The property list as it is."""
        return definition.decode()

    def check(self) -> None:
        """Ask for the session's domain, which is missing over ssh without a graphical login."""
        outcome = self._machine.runner.run(("launchctl", "print", self._domain))
        if outcome.code:
            raise ServiceError(
                f"launchd has no graphical session of yours (`launchctl print {self._domain}` "
                f"failed with code {outcome.code})",
                hint="log in at the screen and try again, or run `cloxy start` by other means",
            )

    def registration(self, name: str, definition: Path) -> Sequence[Step]:
        """Load it, even if somebody had switched the label off; loading starts it."""
        return (
            Step(("launchctl", "enable", self._target(name))),
            Step(("launchctl", "bootstrap", self._domain, str(definition))),
        )

    def replacement(self, name: str) -> Sequence[Step]:
        """Unload it: launchd reads a definition only when it loads it."""
        return self.removal(name)

    def removal(self, name: str) -> Sequence[Step]:
        """Unload it, which stops it."""
        return (Step(("launchctl", "bootout", self._target(name)), may_fail=True),)

    def after_removal(self) -> Sequence[Step]:
        """Nothing."""
        return ()

    def is_registered(self, name: str) -> bool:
        """Whether it is loaded."""
        return self._print(name).code == 0

    def settle(self, name: str) -> None:
        """Wait for the process to end: a service cannot be loaded while it is being unloaded."""
        for _ in range(_LEAVING_TRIES):
            if not self.is_registered(name):
                return
            time.sleep(_LEAVING_PAUSE)
        raise ServiceError(
            f"launchd still has {name}",
            hint=f"run `launchctl bootout {self._target(name)}` and try again",
        )

    def start(self, name: str, definition: Path) -> None:
        """Start it, and load it first if it is not."""
        if self.is_registered(name):
            run_steps(self._machine, (Step(("launchctl", "kickstart", self._target(name))),))
        else:
            run_steps(self._machine, self.registration(name, definition))

    def stop(self, name: str) -> None:
        """Send SIGTERM; it stays loaded for the next start."""
        command = ("launchctl", "kill", "SIGTERM", self._target(name))
        outcome = self._machine.runner.run(command)
        if outcome.code and self.pid(name) is not None:
            raise refused(command, outcome)

    def pid(self, name: str) -> int | None:
        """Its process id, as `launchctl print` tells it."""
        found = _PID.search(self._print(name).output)
        return int(found[1]) if found else None

    def advice(self) -> str:
        """When it runs."""
        return "It starts when you log in, and again when it fails."

    def _target(self, name: str) -> str:
        return f"{self._domain}/{name}"

    def _print(self, name: str) -> Outcome:
        return self._machine.runner.run(("launchctl", "print", self._target(name)))
