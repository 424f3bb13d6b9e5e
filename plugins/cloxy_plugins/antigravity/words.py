"""What a person typed in a step, and what was put behind it."""

import re
from pathlib import PurePath
from urllib.parse import unquote, urlsplit

_OPENING, _CLOSING = "<USER_REQUEST>", "</USER_REQUEST>"
_BLOCK = re.compile(r"<([A-Z][A-Z_]{2,60})>")
_MODEL = re.compile(r"`Model Selection` from .{0,200}? to (.{1,200}?)\.(?=\s+No need\b|\s*<|\s*\Z)")
_PATH = re.compile(r"(?:file://)?(?:/|[A-Za-z]:[\\/])[^\s\"'`<>|]{1,1000}")
_DRIVE = re.compile(r"/[A-Za-z]:")
_PATHS = 50
_LIMIT = 4096


def request_of(content: str) -> str:
    """What a person typed; empty when all of it was put in."""
    if _OPENING in content:
        start = content.index(_OPENING) + len(_OPENING)
        end = content.rfind(_CLOSING)
        # Cut off before its end, it goes on to the end.
        return content[start : end if end >= start else len(content)].strip()
    endless: set[str] = set()
    for block in _BLOCK.finditer(content):
        if block[1] not in endless and f"</{block[1]}>" in content:
            return content[: block.start()].strip()
        endless.add(block[1])
    return content.strip()


def put_behind(content: str) -> str:
    """What was put behind what a person typed."""
    return content[max(content.rfind(_CLOSING), 0) :]


def model_chosen(content: str) -> str | None:
    """The model that was chosen with a prompt; None when none was."""
    found = _MODEL.search(put_behind(content))
    return found[1] if found is not None and found[1].isprintable() else None


def paths_in(text: str) -> list[str]:
    """Absolute paths that a text names."""
    found = [path_of(each[0]) for each, _ in zip(_PATH.finditer(text), range(_PATHS), strict=False)]
    return [each for each in found if each is not None]


def path_of(address: str) -> str | None:
    """The path that an address with the scheme `file`, or a path, names; else None."""
    if len(address) > _LIMIT or not address.isprintable():
        return None
    path = address
    if address.startswith("file:"):
        try:
            path = unquote(urlsplit(address).path, errors="replace")
        except ValueError:
            return None
        if _DRIVE.match(path):
            path = path[1:]
    absolute = path.startswith(("/", "\\\\")) or path[1:3] in (":\\", ":/")
    return path if absolute and PurePath(path).name else None
