r"""Spellings of a working directory: one key for all of them, and what a filter means by one.

`C:\Work\Shop`, `c:/work/shop/` and `/mnt/c/Work/Shop` are one folder. A key is the path with
forward slashes, without `.`, `..` and double or trailing slashes; below a Windows drive, where
case does not count, it is in lower case and begins with the letter: `c:/work/shop`. A share of
a Windows network is `//host/share`.
"""

import re
from typing import Final

_DRIVE: Final = re.compile(r"([A-Za-z]):(?=/|$)")
_WSL_DRIVE: Final = re.compile(r"/mnt/([A-Za-z])(?=/|$)")
_SHARE: Final = re.compile(r"//[^/]")
_LONG_PREFIX: Final = re.compile(r"//[?.]/(?:(UNC)/)?", re.IGNORECASE)


def project_key(path: str) -> str:
    """The canonical spelling of a path; it is not looked up on disk.

    Only a path with backslashes or a drive letter counts as one of Windows: in a POSIX path a
    backslash is an ordinary character, but so rare in a folder's name that a path which has one
    and no leading slash is read as Windows'.
    """
    text = path.strip()
    if _is_windows(text):
        text = _strip_long_prefix(text.replace("\\", "/"))
    drive = _DRIVE.match(text) or _WSL_DRIVE.match(text)
    if drive:
        return _join(f"{drive.group(1)}:", text[drive.end() :]).lower()
    if _SHARE.match(text):
        return ("/" + _join("", text)).lower()
    return _join("", text) if text.startswith("/") else _join("", "/" + text).lstrip("/")


def key_matches(filter_text: str, key: str) -> bool:
    """Tell whether a project is what a filter asks for.

    A filter with a slash, a backslash or a drive is a path: that folder and all below. Any other
    is a word: a whole component of the path, upper and lower case alike. There are no wildcards.

    Args:
        filter_text: As the user typed it.
        key: A key made by `project_key`.
    """
    wanted = filter_text.strip()
    if not wanted:
        return True
    if is_path(wanted):
        return _is_below(project_key(wanted), key)
    word = wanted.casefold()
    return any(part.casefold() == word for part in key.split("/") if part)


def is_path(filter_text: str) -> bool:
    """Tell whether a filter is meant as a path rather than as a word."""
    return "/" in filter_text or "\\" in filter_text or _DRIVE.match(filter_text) is not None


def _is_below(folder: str, key: str) -> bool:
    return folder == key or key.startswith(folder.rstrip("/") + "/")


def _is_windows(text: str) -> bool:
    if _DRIVE.match(text.replace("\\", "/")):
        return True
    return "\\" in text and not text.startswith("/")


def _strip_long_prefix(text: str) -> str:
    r"""`\\?\C:\Work` is `C:\Work`, `\\?\UNC\host\share` is `\\host\share`."""
    found = _LONG_PREFIX.match(text)
    if found is None:
        return text
    return ("//" if found.group(1) else "") + text[found.end() :]


def _join(root: str, rest: str) -> str:
    """Components put together again after the dots are resolved."""
    parts: list[str] = []
    for part in rest.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in {"", "."}:
            parts.append(part)
    return f"{root}/{'/'.join(parts)}"
