"""systemd: a unit of the user's own manager."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from cloxy_core.os_service.boundary import NOT_FOUND, Machine, ServiceError
from cloxy_core.os_service.managers.base import ServiceManager, Step, Wanted, run_steps

MARK: Final = "# Written by `cloxy install-service`; `cloxy uninstall-service` removes it."
_ESCAPES: Final = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_UNSAFE: Final = frozenset("\"'\\")
_WITHOUT: Final = "run `cloxy start -d`, or let what starts your session run it"


def quoted(text: str) -> str:
    """One word of a unit file's line: quoted, its specifiers doubled."""
    shown = "".join(
        _ESCAPES.get(c, f"\\x{ord(c):02x}" if ord(c) < 0x20 or c == "\x7f" else c) for c in text
    )
    return f'"{shown.replace("%", "%%")}"'


class Systemd(ServiceManager):
    """Units in the user's configuration folder."""

    platform = "systemd"
    words = "systemd user unit"

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def name_for(self, suffix: str) -> str:
        """The unit's name."""
        return f"cloxy-{suffix}.service" if suffix else "cloxy.service"

    def definition_path(self, name: str, data_dir: Path) -> Path:
        """Below XDG_CONFIG_HOME, which counts only when it is absolute."""
        given = Path(self._machine.environ.get("XDG_CONFIG_HOME") or "")
        base = given if given.is_absolute() else self._machine.home / ".config"
        return base / "systemd" / "user" / name

    def definition(self, wanted: Wanted) -> bytes:
        """The unit file. It names no output: both streams have a file of their own."""
        command = " ".join(quoted(word) for word in _runnable(wanted.program))
        # The colon keeps systemd from looking for variables, which only a dollar needs.
        literal = ":" if any("$" in word for word in wanted.program) else ""
        variables = [
            f"Environment={quoted(f'{name}={value}')}" for name, value in wanted.environment.items()
        ]
        lines = [
            MARK,
            "[Unit]",
            "Description=Cloxy, the memory of your AI coding sessions",
            "StartLimitIntervalSec=300",
            "StartLimitBurst=5",
            "",
            "[Service]",
            "Type=exec",
            f"ExecStart={literal}{command}",
            *variables,
            "UMask=0077",
            "Restart=on-failure",
            "RestartSec=5",
            "TimeoutStopSec=20",
            "",
            "[Install]",
            "WantedBy=default.target",
            "",
        ]
        return "\n".join(lines).encode("utf-8", "surrogateescape")

    def describe(self, definition: bytes) -> str:
        """The unit file as it is."""
        return definition.decode("utf-8", "replace")

    def check(self) -> None:
        """Ask whether the user's manager answers."""
        outcome = self._machine.runner.run(("systemctl", "--user", "show-environment"))
        if outcome.code == NOT_FOUND:
            raise ServiceError("this system has no systemd", hint=_WITHOUT)
        if outcome.code:
            raise ServiceError(
                f"systemd has no session of yours: {outcome.output}",
                hint="log in directly rather than by su or sudo, or run `loginctl enable-linger` "
                f"as an administrator; without systemd, {_WITHOUT}",
            )

    def registration(self, name: str, definition: Path) -> Sequence[Step]:
        """Read it, switch it on, and start it anew."""
        return (
            Step(_systemctl("daemon-reload")),
            Step(_systemctl("enable", name)),
            Step(_systemctl("reset-failed", name), may_fail=True),
            Step(_systemctl("restart", name)),
        )

    def replacement(self, name: str) -> Sequence[Step]:
        """Nothing: the registration restarts it."""
        return ()

    def removal(self, name: str) -> Sequence[Step]:
        """Stop it and switch it off."""
        return (Step(_systemctl("disable", "--now", name), may_fail=True),)

    def after_removal(self) -> Sequence[Step]:
        """Let systemd see that the file has gone."""
        return (Step(_systemctl("daemon-reload"), may_fail=True),)

    def is_registered(self, name: str) -> bool:
        """Whether it is switched on."""
        return self._machine.runner.run(_systemctl("is-enabled", "--quiet", name)).code == 0

    def settle(self, name: str) -> None:
        """Nothing: a restart waits by itself."""

    def start(self, name: str, definition: Path) -> None:
        """Start it, even if it had failed too often."""
        run_steps(
            self._machine,
            (
                Step(_systemctl("reset-failed", name), may_fail=True),
                Step(_systemctl("start", name)),
            ),
        )

    def stop(self, name: str) -> None:
        """Stop it; it stays switched on for the next login."""
        run_steps(self._machine, (Step(_systemctl("stop", name)),))

    def pid(self, name: str) -> int | None:
        """Its main process."""
        command = _systemctl("show", "--property=MainPID", "--value", name)
        outcome = self._machine.runner.run(command)
        told = outcome.output.strip()
        return int(told) if outcome.code == 0 and told.isdecimal() and int(told) else None

    def advice(self) -> str:
        """When it runs."""
        return (
            "It starts when you log in and ends with your last session; "
            "`loginctl enable-linger` lets it run without one."
        )


def _runnable(program: Sequence[str]) -> Sequence[str]:
    """The command as systemd can run it: it takes no quotes or backslashes in a program's path."""
    if not _UNSAFE.intersection(program[0]):
        return program
    if "=" in program[0]:
        raise ServiceError(
            f"systemd cannot run {program[0]}: its path has an equals sign and a quote",
            hint="install Cloxy in a folder with a plainer name",
        )
    return ("/usr/bin/env", *program)


def _systemctl(*arguments: str) -> tuple[str, ...]:
    return ("systemctl", "--user", *arguments)
