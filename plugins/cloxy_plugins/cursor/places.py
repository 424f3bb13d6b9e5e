"""The folder of a workspace, from the addresses with which the editor names it."""

import hashlib
import re
from collections.abc import Iterable

from cloxy_hookspecs.logs.addresses import path_of_uri, plain_path
from cloxy_hookspecs.logs.json_values import decode, record_of

_SLUG = re.compile(r"[^A-Za-z0-9]+")


def folder_of(data: bytes) -> str | None:
    """The folder that a `workspace.json` names; a workspace of several folders has none."""
    try:
        folder = record_of(decode(data)).get("folder")
    except ValueError:
        return None
    return path_of_uri(folder) if isinstance(folder, str) else None


def folder_of_identifier(value: object) -> str | None:
    """The folder that a `workspaceIdentifier` names.

    Args:
        value: the identifier; one of several folders has a `configPath` instead of a `uri`.
    """
    uri = record_of(value).get("uri")
    if isinstance(uri, str):
        return path_of_uri(uri)
    parts = record_of(uri)
    external, scheme, path = parts.get("external"), parts.get("scheme"), parts.get("path")
    if isinstance(external, str) and external:
        return path_of_uri(external)
    if isinstance(path, str) and scheme in ("file", "vscode-remote"):
        return plain_path(path) if path.startswith("/") and path.isprintable() else None
    return None


def folder_of_slug(slug: str, folders: Iterable[str]) -> str | None:
    """The folder that a name below `projects` stands for; the name alone does not say it.

    Args:
        slug: the path with every `/` and `.` as `-`.
        folders: folders that it may be.
    """
    wanted = _slug(slug)
    found = {folder for folder in folders if _slug(folder) == wanted}
    return found.pop() if len(found) == 1 else None


def folder_of_digest(digest: str, folders: Iterable[str]) -> str | None:
    """The folder whose path has an MD5, as the command line names the folders of chats."""
    for folder in folders:
        name = hashlib.md5(folder.encode("utf-8", "replace"), usedforsecurity=False)
        if name.hexdigest() == digest:
            return folder
    return None


def _slug(path: str) -> str:
    return _SLUG.sub("-", path).strip("-").lower()
