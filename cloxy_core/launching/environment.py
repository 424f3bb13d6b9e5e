"""What a server in the background gets of the environment of whoever starts it."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

# An editor's environment is an accident of how it was opened; a server must not depend on it.
_KEPT: Final = frozenset(
    {
        "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ",
        "TMPDIR", "TEMP", "TMP",
        # Windows: without these no program starts, or none finds its own folders.
        "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "USERPROFILE", "USERNAME",
        "USERDOMAIN", "HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA",
        "PROGRAMFILES", "PROCESSOR_ARCHITECTURE", "NUMBER_OF_PROCESSORS",
    }
)  # fmt: skip
_KEPT_PREFIXES: Final = ("CLOXY_", "LC_", "XDG_")


def server_environment(
    environ: Mapping[str, str], data_dir: Path, host: str | None, port: int | None
) -> dict[str, str]:
    """The environment of a server that is started in the background.

    Args:
        environ: that of this process.
        data_dir: data directory, absolute.
        host: address to listen on; None for the setting.
        port: port to listen on; None for the setting.
    """
    kept = {name: value for name, value in environ.items() if _is_kept(name)}
    kept["CLOXY_DATA_DIR"] = str(data_dir)
    if host is not None:
        kept["CLOXY_HOST"] = host
    if port is not None:
        kept["CLOXY_PORT"] = str(port)
    return kept


def _is_kept(name: str) -> bool:
    # Names have no case on Windows.
    known = name.upper() if os.name == "nt" else name
    return known in _KEPT or known.startswith(_KEPT_PREFIXES)
