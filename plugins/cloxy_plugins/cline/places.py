"""The folders in which the agents keep their tasks."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from cloxy_hookspecs.logs.folders import absolute, application_data, named_folder
from cloxy_plugins.cline.products import Product

TASKS = "tasks"
SESSIONS = "sessions"

_EDITORS = (
    "Code",
    "Code - Insiders",
    "Code - OSS",
    "VSCodium",
    "VSCodium - Insiders",
    "Cursor",
    "Cursor Nightly",
    "Windsurf",
    "Windsurf - Next",
    "Antigravity",
    "Kiro",
    "Trae",
    "Positron",
)
_SERVERS = (
    ".vscode-server",
    ".vscode-server-insiders",
    ".vscode-remote",
    ".vscodium-server",
    ".vscodium-server-insiders",
    ".cursor-server",
    ".windsurf-server",
)
_FLATPAKS = (
    ("com.visualstudio.code", "Code"),
    ("com.visualstudio.code.insiders", "Code - Insiders"),
    ("com.vscodium.codium", "VSCodium"),
)
_STORAGE = "globalStorage"


def task_folders(
    product: Product, environment: Mapping[str, str], home: Path, platform: str
) -> Sequence[Path]:
    """Folders that hold a folder for each task, existing or not.

    Args:
        product: the agent.
        environment: environment variables; `VSCODE_PORTABLE`, `VSCODE_APPDATA` and
            `VSCODE_AGENT_FOLDER` are VS Code's own, `CLINE_DIR` and `CLINE_DATA_DIR` Cline's.
        home: the user's home folder.
        platform: as `sys.platform` has it.
    """
    found = [
        user / _STORAGE / extension / TASKS
        for user in user_folders(environment, home, platform)
        for extension in product.extensions
    ]
    if product.home == ".cline":
        found.append(_cline_data(environment, home) / TASKS)
    found.extend(home.joinpath(product.home, *store, TASKS) for store in product.stores)
    return absolute(found)


def session_folder(environment: Mapping[str, str], home: Path) -> Path:
    """The folder with a folder for each session of Cline since version 4.

    Args:
        environment: environment variables; `CLINE_SESSION_DATA_DIR`, `CLINE_DATA_DIR` and
            `CLINE_DIR` move it.
        home: the user's home folder.
    """
    named = named_folder(environment, "CLINE_SESSION_DATA_DIR", home)
    return absolute([named or _cline_data(environment, home) / SESSIONS])[0]


def _cline_data(environment: Mapping[str, str], home: Path) -> Path:
    named = named_folder(environment, "CLINE_DATA_DIR", home)
    return named or (named_folder(environment, "CLINE_DIR", home) or home / ".cline") / "data"


def user_folders(environment: Mapping[str, str], home: Path, platform: str) -> Iterator[Path]:
    """The `User` folders of VS Code, of what is built from it, and of their servers.

    The arguments are those of `task_folders`.
    """
    if portable := named_folder(environment, "VSCODE_PORTABLE", home):
        yield portable / "user-data" / "User"
    data = named_folder(environment, "VSCODE_APPDATA", home)
    data = data or application_data(environment, home, platform)
    for editor in _EDITORS:
        yield data / editor / "User"
    if agent := named_folder(environment, "VSCODE_AGENT_FOLDER", home):
        yield agent / "data" / "User"
    for server in _SERVERS:
        yield home / server / "data" / "User"
    share = named_folder(environment, "XDG_DATA_HOME", home) or home / ".local" / "share"
    yield share / "code-server" / "User"
    if platform.startswith("linux"):
        for flatpak, editor in _FLATPAKS:
            yield home / ".var" / "app" / flatpak / "config" / editor / "User"
