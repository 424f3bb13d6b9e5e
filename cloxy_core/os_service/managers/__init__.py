"""One module for each service manager; only that of the system is loaded."""

from collections.abc import Callable
from importlib import import_module
from typing import Final

from cloxy_core.os_service.boundary import Machine
from cloxy_core.os_service.managers.base import ServiceManager

__all__ = ["manager_of"]

# system: (module, class)
_MANAGERS: Final = {
    "darwin": ("launchd", "Launchd"),
    "linux": ("systemd", "Systemd"),
    "win32": ("windows", "Scheduler"),
}


def manager_of(machine: Machine) -> ServiceManager | None:
    """The service manager of a machine; None when no kind that is known runs on its system."""
    found = _MANAGERS.get(machine.platform)
    if found is None:
        return None
    module, name = found
    # Editors' helpers come through here, and need none of the XML libraries of the others.
    create: Callable[[Machine], ServiceManager] = getattr(
        import_module(f"{__name__}.{module}"), name
    )
    return create(machine)
