"""Names of repositories of the hub, and of the files in them: what others wrote, checked."""

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from cloxy_hookspecs.errors import InputError

_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}/[A-Za-z0-9][A-Za-z0-9._-]{0,95}")
_PART: Final = re.compile(r"[A-Za-z0-9_+=,()\[\]@ .-]{1,200}")
_DEVICES: Final = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
_MAX_PATH: Final = 500
_HUB_PREFIX: Final = re.compile(r"(https?://)?(www\.)?(huggingface\.co|hf\.co)/")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What was asked for.

    Attributes:
        repo: id of a repository, `org/name`.
        selector: which file or quantization of it; None leaves it open.
    """

    repo: str
    selector: str | None = None

    @property
    def folder(self) -> str:
        """Name of the folder that its files go into."""
        return self.repo.replace("/", "--")


def parse_wanted(text: str) -> Wanted | None:
    """Read `org/name` or `org/name:what`, also as an address of the hub; None when it is neither.

    Raises:
        InputError: it looks like an id and is none.
    """
    bare = _HUB_PREFIX.sub("", text.strip())
    name, colon, selector = bare.partition(":")
    name = name.rstrip("/")
    if not _ID.fullmatch(name):
        if name.count("/") == 1 and not name.startswith((".", "/", "~")) and "\\" not in name:
            raise InputError(
                f"{name} is no Hugging Face id", hint="it has the form org/name, such as org/m-7b"
            )
        return None
    if not is_repo_id(name):
        raise InputError(f"{name} is no Hugging Face id", hint="it has the form org/name")
    if colon and not selector:
        raise InputError(f"{text} names no file behind its colon", hint="leave the colon out")
    return Wanted(name, selector or None)


def is_repo_id(name: str) -> bool:
    """Whether a text is the id of a repository, `org/name`."""
    return (
        _ID.fullmatch(name) is not None
        and ".." not in name
        and "--" not in name
        and not name.endswith((".git", ".ipynb", ".", "-"))
    )


def is_safe_path(path: str) -> bool:
    """Whether a file's name in a repository may become one below a folder of ours."""
    if not path or len(path) > _MAX_PATH or "\\" in path or path.startswith("/"):
        return False
    parts = path.split("/")
    # No part ends with a dot, which `.` and `..` do as well.
    return all(
        _PART.fullmatch(part)
        and not part.startswith((" ", "-"))
        and not part.endswith((" ", ".", ".part"))
        and not _DEVICES.fullmatch(part)
        for part in parts
    )


def safe_path(path: str) -> PurePosixPath:
    """A file's name in a repository, as a relative path.

    Raises:
        InputError: it may not become one of ours.
    """
    if not is_safe_path(path):
        raise InputError(
            f"the repository has a file with the unsafe name {path!r}",
            hint="do not use this repository",
        )
    return PurePosixPath(path)
