"""The service that is installed for a data directory: start it, stop it, ask for it."""

from dataclasses import dataclass
from pathlib import Path

from cloxy_core.os_service.boundary import Machine
from cloxy_core.os_service.managers import manager_of
from cloxy_core.os_service.managers.base import ServiceManager
from cloxy_core.os_service.record import Record, read_record


@dataclass(frozen=True, slots=True)
class InstalledService:
    """A service that `cloxy install-service` made.

    Attributes:
        record: what was written down about it.
    """

    record: Record
    _manager: ServiceManager

    @property
    def words(self) -> str:
        """What it is, for people: kind and name."""
        return f"{self._manager.words} {self.record.name}"

    @property
    def definition(self) -> Path:
        """The definition file."""
        return Path(self.record.definition)

    def start(self) -> None:
        """Ask the service manager to start it; it need not answer yet afterwards.

        One that runs already is left alone.

        Raises:
            ServiceError: the manager refused; the message holds its words.
        """
        self._manager.start(self.record.name, self.definition)

    def stop(self) -> None:
        """Ask the service manager to stop it, which does not start it again before the next login.

        Raises:
            ServiceError: the manager refused; the message holds its words.
        """
        self._manager.stop(self.record.name)

    def pid(self) -> int | None:
        """Process id while it runs; None when it does not, or the manager does not tell."""
        return self._manager.pid(self.record.name)


def installed(data_dir: Path, machine: Machine | None = None) -> InstalledService | None:
    """The service of a data directory; None when none is installed.

    Args:
        data_dir: the data directory, absolute.
        machine: the machine; by default this one.

    Raises:
        ServiceError: what was written down about it cannot be read.
    """
    record = read_record(data_dir)
    if record is None or not Path(record.definition).is_file():
        return None
    manager = manager_of(machine or Machine.here())
    if manager is None or manager.platform != record.platform:
        return None
    return InstalledService(record, manager)
