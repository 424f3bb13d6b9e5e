"""The service managers of the operating systems: launchd, systemd, the Windows scheduler.

`installed(data_dir)` gives the service of a data directory, or None; it has `start()`, `stop()`
and `pid()`. `install` and `uninstall` make and remove one.
"""

from cloxy_core.os_service.boundary import ServiceError
from cloxy_core.os_service.installed import InstalledService, installed

__all__ = ["InstalledService", "ServiceError", "installed"]
