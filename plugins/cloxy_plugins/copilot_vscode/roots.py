"""The folders in which VS Code, and what is built from it, keeps a user's state."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from cloxy_hookspecs.logs.folders import absolute, application_data, named_folder

_PRODUCTS = ("Code", "Code - Insiders", "Code - OSS", "VSCodium", "VSCodium - Insiders")
_SERVERS = (
    ".vscode-server",
    ".vscode-server-insiders",
    ".vscode-remote",
    ".vscodium-server",
    ".vscodium-server-insiders",
)
_FLATPAKS = (
    ("com.visualstudio.code", "Code"),
    ("com.visualstudio.code.insiders", "Code - Insiders"),
    ("com.vscodium.codium", "VSCodium"),
)


def user_folders(environment: Mapping[str, str], home: Path, platform: str) -> Sequence[Path]:
    """The `User` folders of all products, existing or not.

    Args:
        environment: environment variables; `VSCODE_PORTABLE`, `VSCODE_APPDATA` and
            `VSCODE_AGENT_FOLDER` are VS Code's own.
        home: the user's home folder.
        platform: as `sys.platform` has it.
    """
    return absolute(_folders(environment, home, platform))


def _folders(environment: Mapping[str, str], home: Path, platform: str) -> Iterator[Path]:
    if portable := named_folder(environment, "VSCODE_PORTABLE", home):
        yield portable / "user-data" / "User"
    data = named_folder(environment, "VSCODE_APPDATA", home) or application_data(
        environment, home, platform
    )
    for product in _PRODUCTS:
        yield data / product / "User"
    if agent := named_folder(environment, "VSCODE_AGENT_FOLDER", home):
        yield agent / "data" / "User"
    for server in _SERVERS:
        yield home / server / "data" / "User"
    share = named_folder(environment, "XDG_DATA_HOME", home) or home / ".local" / "share"
    yield share / "code-server" / "User"
    if platform.startswith("linux"):
        for flatpak, product in _FLATPAKS:
            yield home / ".var" / "app" / flatpak / "config" / product / "User"
