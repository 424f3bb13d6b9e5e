"""The folders in which Cursor, the editor, and its command line keep their state."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from cloxy_hookspecs.logs.folders import absolute, application_data, named_folder

_PRODUCTS = ("Cursor", "Cursor Nightly")


def user_folders(environment: Mapping[str, str], home: Path, platform: str) -> Sequence[Path]:
    """The `User` folders of the editor, existing or not.

    Args:
        environment: environment variables; `VSCODE_PORTABLE` and `VSCODE_APPDATA` are those of
            VS Code, from which Cursor is made.
        home: the user's home folder.
        platform: as `sys.platform` has it.
    """
    data = named_folder(environment, "VSCODE_APPDATA", home) or application_data(
        environment, home, platform
    )
    found = [data / product / "User" for product in _PRODUCTS]
    if portable := named_folder(environment, "VSCODE_PORTABLE", home):
        found.insert(0, portable / "user-data" / "User")
    return absolute(found)


def agent_folders(environment: Mapping[str, str], home: Path) -> Sequence[Path]:
    """The folders of the command line, existing or not; the usual one is always among them.

    Args:
        environment: environment variables; `CURSOR_CONFIG_DIR` and `XDG_CONFIG_HOME` move it.
        home: the user's home folder.
    """
    found = [home / ".cursor"]
    if moved := named_folder(environment, "XDG_CONFIG_HOME", home):
        found.insert(0, moved / "cursor")
    if own := named_folder(environment, "CURSOR_CONFIG_DIR", home):
        found.insert(0, own)
    return absolute(found)
