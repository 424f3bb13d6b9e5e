"""What is to be installed: the program, its variables, its name."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from cloxy_core.os_service.boundary import Machine, ServiceError
from cloxy_core.os_service.managers import manager_of
from cloxy_core.os_service.managers.base import ServiceManager, Step, Wanted
from cloxy_core.os_service.record import Record, read_record

# `-P`: the working directory must not come first among the places that modules are found in.
ARGUMENTS: Final = ("-P", "-m", "cloxy_core.cli.background")
DATA_DIR: Final = "CLOXY_DATA_DIR"
_DEFAULT_FOLDER: Final = ".cloxy"
_VARIABLE: Final = re.compile(r"CLOXY_[A-Z0-9_]+|FASTEMBED_CACHE_PATH|HF_HOME")
_SECRET: Final = re.compile(r"KEY|TOKEN|SECRET|PASSWORD")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Plan:
    """An installation, ready to be shown or carried out.

    Attributes:
        manager: the service manager.
        wanted: the service.
        path: where its definition goes.
        definition: contents of that file.
        given: variables that were asked for, now or earlier.
        record: what is installed already.
    """

    manager: ServiceManager
    wanted: Wanted
    path: Path
    definition: bytes
    given: Mapping[str, str]
    record: Record | None

    def steps(self) -> Sequence[Step]:
        """Commands that follow when the definition is written."""
        return self.manager.registration(self.wanted.name, self.path)


def plan(data_dir: Path, given: Mapping[str, str], machine: Machine) -> Plan:
    """Work out what an installation would do; nothing is changed.

    Args:
        data_dir: the data directory, absolute; it need not exist.
        given: variables to add to those asked for earlier; an empty value takes one away.
        machine: where it is to be installed.

    Raises:
        ServiceError: this system has no service manager that is known, a variable does not belong
            into a definition, or a path cannot stand in one.
    """
    manager = known_manager(machine)
    record = read_record(data_dir)
    _check_variables(given)
    asked = {**({} if record is None else record.environment), **given}
    asked = {name: value for name, value in sorted(asked.items()) if value}
    suffix = _suffix(data_dir, machine.home)
    environment = {DATA_DIR: str(data_dir), **asked} if suffix else asked
    program = (str(machine.python), *ARGUMENTS)
    for text in (*program, *environment.values(), str(data_dir)):
        if _CONTROL.search(text):
            raise ServiceError(f"{text!r} holds a control character, which no service can have")
    name = manager.name_for(suffix)
    wanted = Wanted(name, program, environment, data_dir)
    path = manager.definition_path(name, data_dir)
    return Plan(manager, wanted, path, manager.definition(wanted), asked, record)


def known_manager(machine: Machine) -> ServiceManager:
    """The service manager of a machine.

    Raises:
        ServiceError: none that is known runs on its system.
    """
    manager = manager_of(machine)
    if manager is None:
        raise ServiceError(
            f"services are not known for this system ({machine.platform})",
            hint="run `cloxy start -d`, or let what starts your session run it",
        )
    return manager


def service_name(data_dir: Path, machine: Machine) -> str:
    """The name that the service of a data directory has, installed or not.

    Raises:
        ServiceError: this system has no service manager that is known.
    """
    return known_manager(machine).name_for(_suffix(data_dir, machine.home))


def parse_variables(texts: Sequence[str]) -> dict[str, str]:
    """Variables from texts of the form NAME=VALUE.

    Raises:
        ServiceError: one has no equals sign.
    """
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise ServiceError(f"{name!r} has no value", hint="write --env NAME=VALUE")
        found[name.strip()] = value
    return found


def _suffix(data_dir: Path, home: Path) -> str:
    """Tells the services of several data directories apart; empty for the usual one."""
    if data_dir == home / _DEFAULT_FOLDER:
        return ""
    return sha256(str(data_dir).encode("utf-8", "surrogateescape")).hexdigest()[:8]


def _check_variables(given: Mapping[str, str]) -> None:
    for name in given:
        if name == DATA_DIR:
            raise ServiceError(
                f"{DATA_DIR} is not given by --env",
                hint=f"set {DATA_DIR} for this command itself; the service gets it too",
            )
        # Taking one away is always right.
        if _SECRET.search(name) and given[name]:
            raise ServiceError(
                f"{name} is a secret, and a definition file is no place for one",
                hint="put it into config.toml in the data directory, "
                "or let `cloxy key create` make the server's key there",
            )
        if not _VARIABLE.fullmatch(name):
            raise ServiceError(
                f"{name!r} is not a variable that the server reads",
                hint="give CLOXY_* variables only",
            )
