"""The folder and the branch in which a thread was started."""

import re

from cloxy_hookspecs.logs.addresses import path_of_uri
from cloxy_hookspecs.logs.json_values import TEXT_LIMIT, Record, list_of, record_of, text_of

_ABSOLUTE = re.compile(r"/|[A-Za-z]:[\\/]|\\\\")
_BRANCHES = "refs/heads/"


def place_of(thread: Record) -> tuple[str | None, str | None]:
    """The folder and the branch of the first tree of a thread."""
    initial = record_of(record_of(thread.get("env")).get("initial"))
    for each in list_of(initial.get("trees")):
        tree = record_of(each)
        uri = tree.get("uri")
        folder = _path_of(uri) if isinstance(uri, str) else text_of(record_of(uri), "fsPath")
        if folder is not None:
            return folder, _branch_of(record_of(tree.get("repository")))
    return None, None


def _branch_of(repository: Record) -> str | None:
    ref = text_of(repository, "ref")
    if ref is None:
        return None
    branch = ref.removeprefix(_BRANCHES)
    return None if branch.startswith("refs/") else branch


def _path_of(address: str) -> str | None:
    """The path of a folder that a URI or a plain path names."""
    if len(address) > TEXT_LIMIT or not address.isprintable():
        return None
    if _ABSOLUTE.match(address):
        return address
    return path_of_uri(address)
