"""The folder of a workspace, from the addresses with which VS Code names it."""

import re
from pathlib import PurePosixPath, PureWindowsPath
from urllib.parse import unquote

from cloxy_hookspecs.logs.addresses import path_of_uri
from cloxy_hookspecs.logs.json_values import decode, record_of

# A workspace that was never saved lies in VS Code's own folder.
_UNSAVED = re.compile(r"/Workspaces/\d+/workspace\.json\Z")


def folder_of(data: bytes) -> str | None:
    """The folder that a `workspace.json` names.

    A saved workspace of several folders counts as the folder in which its file lies; one that was
    never saved has none.
    """
    try:
        record = record_of(decode(data))
    except ValueError:
        return None
    folder, workspace = record.get("folder"), record.get("workspace")
    if isinstance(folder, str):
        return path_of_uri(folder)
    if isinstance(workspace, dict):
        workspace = workspace.get("configPath")
    if not isinstance(workspace, str) or _UNSAVED.search(unquote(workspace)):
        return None
    file = path_of_uri(workspace)
    if file is None:
        return None
    pure = PureWindowsPath(file) if "\\" in file else PurePosixPath(file)
    return str(pure.parent)
