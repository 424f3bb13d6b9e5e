"""Paths of folders, from the addresses with which editors name them."""

import re
from urllib.parse import unquote, urlsplit

from cloxy_hookspecs.logs.json_values import TEXT_LIMIT

_SCHEMES = ("file", "vscode-remote")
_DRIVE = re.compile(r"/([A-Za-z]):(?=/|\Z)")
_THIS_MACHINE = ("", "localhost")


def path_of_uri(address: str) -> str | None:
    """The path of a folder on this machine, or on the one that an editor is connected to.

    Args:
        address: a URI with the scheme `file` or `vscode-remote` (RFC 8089, and as VS Code writes
            them); others name no folder.
    """
    try:
        parts = urlsplit(address)
    except ValueError:
        return None
    path = unquote(parts.path, errors="replace")
    if parts.scheme not in _SCHEMES or len(address) > TEXT_LIMIT:
        return None
    if not path.startswith("/") or not path.isprintable():
        return None
    if parts.scheme == "file" and parts.netloc not in _THIS_MACHINE and not _DRIVE.match(path):
        share = path.replace("/", "\\")
        return f"\\\\{unquote(parts.netloc)}{share}"
    return plain_path(path)


def plain_path(path: str) -> str:
    r"""The path of a URI as its system writes it: `/c:/app` is `C:\app`, `/app/` is `/app`."""
    drive = _DRIVE.match(path)
    if drive:
        rest = path[drive.end() :].rstrip("/").replace("/", "\\")
        return f"{drive[1].upper()}:{rest or chr(92)}"
    return path.rstrip("/") or "/"
