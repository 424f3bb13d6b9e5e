"""The computer as far as it decides where a client keeps its configuration."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath, PurePosixPath, PureWindowsPath
from typing import Literal

from cloxy_core.connect.errors import ConnectError

Platform = Literal["darwin", "linux", "win32"]


@dataclass(frozen=True, slots=True)
class Machine:
    """Platform, environment and home; everything about places follows from these.

    Attributes:
        platform: the operating system.
        environ: environment variables.
        home_directory: the user's home; empty when it is not known.
    """

    platform: Platform
    environ: Mapping[str, str]
    home_directory: str

    def path(self, text: str) -> PurePath:
        """A path in this system's way of writing."""
        return PureWindowsPath(text) if self.platform == "win32" else PurePosixPath(text)

    @property
    def home(self) -> PurePath:
        """The user's home.

        Raises:
            ConnectError: it is not known.
        """
        if not self.home_directory:
            raise ConnectError("the home directory is not known", hint="set HOME")
        return self.path(self.home_directory)

    def folder(self, variable: str, *default: str) -> PurePath:
        """The folder that a variable names, else one in the home directory.

        An XDG variable that is not an absolute path does not count, as its rules say.
        """
        given = self.environ.get(variable, "").strip()
        if given and (not variable.startswith("XDG_") or self.path(given).is_absolute()):
            return self.path(given)
        return self.home.joinpath(*default)

    @property
    def application_data(self) -> PurePath:
        """Where programs keep a user's settings on this system."""
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support"
        if self.platform == "win32":
            return self.folder("APPDATA", "AppData", "Roaming")
        return self.folder("XDG_CONFIG_HOME", ".config")


def this_machine(environ: Mapping[str, str]) -> Machine:
    """The computer that this process runs on."""
    platform: Platform = "linux"
    if sys.platform in {"darwin", "win32"}:
        platform = "darwin" if sys.platform == "darwin" else "win32"
    home = os.path.expanduser("~")  # noqa: PTH111 - unlike Path.home it never fails
    return Machine(platform, environ, home if os.path.isabs(home) else "")  # noqa: PTH117
