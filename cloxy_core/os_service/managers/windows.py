"""The Windows task scheduler: a task at the logon of one user."""

import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path, PureWindowsPath
from typing import Final

from cloxy_core.os_service.boundary import NOT_FOUND, Machine, ServiceError
from cloxy_core.os_service.managers.base import ServiceManager, Step, Wanted, run_steps

NAMESPACE: Final = "http://schemas.microsoft.com/windows/2004/02/mit/task"
# Below normal, as the scheduler's own default is, but not in the background for input and output.
_PRIORITY: Final = "6"
_SETTINGS: Final = {
    "MultipleInstancesPolicy": "IgnoreNew",
    "DisallowStartIfOnBatteries": "false",
    "StopIfGoingOnBatteries": "false",
    "StartWhenAvailable": "true",
    "ExecutionTimeLimit": "PT0S",
    "Priority": _PRIORITY,
}


class Scheduler(ServiceManager):
    """Tasks of the user, without a console window and without rights of an administrator."""

    platform = "schtasks"
    words = "scheduled task"

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def name_for(self, suffix: str) -> str:
        """The task's name, the user's in it: all users of a machine share one folder of tasks."""
        user = self._machine.environ.get("USERNAME", "")
        plain = "".join(c for c in user if c.isalnum() or c in " ._-").strip(" .")
        return "-".join(part for part in ("Cloxy", plain, suffix) if part)

    def definition_path(self, name: str, data_dir: Path) -> Path:
        """In the data directory; the scheduler keeps a copy of its own."""
        return data_dir / "service-task.xml"

    def definition(self, wanted: Wanted) -> bytes:
        """The task in UTF-16, as `schtasks` wants it."""
        ET.register_namespace("", NAMESPACE)
        task = ET.Element(_tag("Task"), {"version": "1.2"})
        information = _child(task, "RegistrationInfo")
        _child(information, "Description", "Cloxy, the memory of your AI coding sessions")
        trigger = _child(_child(task, "Triggers"), "LogonTrigger")
        _child(trigger, "Enabled", "true")
        _child(trigger, "UserId", self._user())
        principal = _child(_child(task, "Principals"), "Principal")
        principal.set("id", "Author")
        _child(principal, "UserId", self._user())
        _child(principal, "LogonType", "InteractiveToken")
        _child(principal, "RunLevel", "LeastPrivilege")
        _add_settings(_child(task, "Settings"))
        actions = _child(task, "Actions")
        actions.set("Context", "Author")
        action = _child(actions, "Exec")
        # A task has no variables of its own, so they are arguments of the program.
        variables = [f"{name}={value}" for name, value in wanted.environment.items()]
        _child(action, "Command", _windowless(wanted.program[0]))
        _child(action, "Arguments", subprocess.list2cmdline([*wanted.program[1:], *variables]))
        _child(action, "WorkingDirectory", str(wanted.data_dir))
        ET.indent(task)
        made: bytes = ET.tostring(task, encoding="utf-16", xml_declaration=True)
        return made

    def describe(self, definition: bytes) -> str:
        """The XML as text."""
        return definition.decode("utf-16").replace("\r\n", "\n") + "\n"

    def check(self) -> None:
        """Ask whether the scheduler answers."""
        outcome = self._machine.runner.run(("schtasks", "/Query", "/FO", "CSV", "/NH"))
        if outcome.code == NOT_FOUND:
            raise ServiceError("schtasks is not on this machine", hint="run `cloxy start -d`")

    def registration(self, name: str, definition: Path) -> Sequence[Step]:
        """Make or replace the task, and run it."""
        return (
            Step(("schtasks", "/Create", "/TN", name, "/XML", str(definition), "/F")),
            Step(("schtasks", "/Run", "/TN", name)),
        )

    def replacement(self, name: str) -> Sequence[Step]:
        """End the running one, or the scheduler would start no other."""
        return (Step(("schtasks", "/End", "/TN", name), may_fail=True),)

    def removal(self, name: str) -> Sequence[Step]:
        """End it and take it out."""
        return (
            Step(("schtasks", "/End", "/TN", name), may_fail=True),
            Step(("schtasks", "/Delete", "/TN", name, "/F"), may_fail=True),
        )

    def after_removal(self) -> Sequence[Step]:
        """Nothing."""
        return ()

    def is_registered(self, name: str) -> bool:
        """Whether the scheduler has a task of this name."""
        return self._machine.runner.run(("schtasks", "/Query", "/TN", name)).code == 0

    def settle(self, name: str) -> None:
        """Nothing."""

    def start(self, name: str, definition: Path) -> None:
        """Run it now; an instance that runs already is left alone."""
        run_steps(self._machine, (Step(("schtasks", "/Run", "/TN", name)),))

    def stop(self, name: str) -> None:
        """End it; the scheduler kills, so ask the server itself to stop first."""
        run_steps(self._machine, (Step(("schtasks", "/End", "/TN", name)),))

    def pid(self, name: str) -> int | None:
        """Unknown: the scheduler tells it only in the language of the system."""
        return None

    def advice(self) -> str:
        """When it runs."""
        return "It starts when you log on."

    def _user(self) -> str:
        user = self._machine.environ.get("USERNAME", "")
        if not user:
            raise ServiceError("the name of the user is not known", hint="set USERNAME")
        domain = self._machine.environ.get("USERDOMAIN", "")
        return f"{domain}\\{user}" if domain else user


def _windowless(program: str) -> str:
    """`pythonw.exe` beside `python.exe`: it opens no console window."""
    path = PureWindowsPath(program)
    if path.name.lower() == "python.exe":
        return str(path.with_name("pythonw.exe"))
    return program


def _add_settings(settings: ET.Element) -> None:
    for name, value in _SETTINGS.items():
        _child(settings, name, value)
    idle = _child(settings, "IdleSettings")
    _child(idle, "StopOnIdleEnd", "false")
    _child(idle, "RestartOnIdle", "false")
    restart = _child(settings, "RestartOnFailure")
    _child(restart, "Interval", "PT1M")
    _child(restart, "Count", "5")


def _child(parent: ET.Element, name: str, text: str | None = None) -> ET.Element:
    made = ET.SubElement(parent, _tag(name))
    made.text = text
    return made


def _tag(name: str) -> str:
    return f"{{{NAMESPACE}}}{name}"
