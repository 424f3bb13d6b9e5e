"""What `cloxy status` tells of the installed service."""

from dataclasses import dataclass
from pathlib import Path

from cloxy_core.os_service.boundary import ServiceError
from cloxy_core.os_service.installed import installed


@dataclass(frozen=True, slots=True)
class ServiceState:
    """The service of the data directory.

    Attributes:
        installed: whether there is one.
        name: kind and name, for people; empty without one.
        definition: path of its definition; empty without one.
        pid: its process as the service manager tells it; None when it does not run or that is
            not known.
        pid_is_told: whether this manager tells processes at all.
        trouble: why nothing is known; None when something is.
    """

    installed: bool = False
    name: str = ""
    definition: str = ""
    pid: int | None = None
    pid_is_told: bool = True
    trouble: str | None = None

    def in_words(self, server_pid: int | None) -> str:
        """One line.

        Args:
            server_pid: process of the server that answers; None when none does.
        """
        if self.trouble is not None:
            return self.trouble
        if not self.installed:
            return "not installed (`cloxy install-service`)"
        if not self.pid_is_told:
            return f"{self.name}, which does not tell whether it runs"
        if self.pid is None:
            return f"{self.name}, installed but not running"
        if server_pid is None:
            return f"{self.name}, runs as process {self.pid}"
        same = self.pid == server_pid
        return f"{self.name}, {'runs this server' if same else f'runs another one ({self.pid})'}"

    def as_json(self, server_pid: int | None) -> dict[str, object]:
        """For programs; `runs_this_server` is null when it is not known."""
        known = self.installed and self.pid_is_told and server_pid is not None
        return {
            "installed": None if self.trouble is not None else self.installed,
            "name": self.name or None,
            "definition": self.definition or None,
            "pid": self.pid,
            "runs_this_server": self.pid == server_pid if known else None,
            "trouble": self.trouble,
        }


def service_state(data_dir: Path) -> ServiceState:
    """Ask for the service of a data directory."""
    try:
        service = installed(data_dir)
        if service is None:
            return ServiceState()
        return ServiceState(
            installed=True,
            name=service.words,
            definition=str(service.definition),
            pid=service.pid(),
            pid_is_told=service.record.platform != "schtasks",
        )
    except ServiceError as error:
        return ServiceState(trouble=error.message)
