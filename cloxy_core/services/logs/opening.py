"""Opening files and folders without following links below a trusted folder."""

import errno
import os
import stat
from pathlib import Path

from cloxy_core.services.logs.folders import Folder, identity_of, open_root
from cloxy_hookspecs import Parts


def open_folder_below(root: Path, parts: Parts) -> Folder:
    """Open a folder below a trusted one, one part of the path after the other.

    Raises:
        OSError: a part cannot be opened, is a link, or is no folder.
    """
    folder = open_root(root)
    for part in parts:
        try:
            inner = folder.folder(part)
        finally:
            folder.close()
        folder = inner
    return folder


def open_file_below(root: Path, parts: Parts, identity: str | None = None) -> int:
    """Open a regular file below a trusted folder, if it still is the one that was found.

    Args:
        root: the trusted folder.
        parts: path of the file below it.
        identity: what the found file is known by; any file when None.

    Raises:
        OSError: it cannot be opened, a part of its path is a link, it is no regular file, or
            it is another file than the one with this identity.
    """
    folder = open_folder_below(root, parts[:-1])
    try:
        file = folder.file(parts[-1])
    finally:
        folder.close()
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(root.joinpath(*parts)))
        if identity is not None and identity_of(status) != identity:
            raise OSError(errno.ESTALE, "another file stands here now", str(root.joinpath(*parts)))
    except OSError:
        os.close(file)
        raise
    return file


def parts_below(root: Path, path: Path) -> Parts | None:
    """The parts of a path below a folder; None when it is not inside.

    A path may also be spelled through the place that the folder's own links lead to.
    """
    plain = Path(os.path.abspath(path))  # noqa: PTH100  # resolve() would follow links
    if not plain.is_relative_to(root):
        root = Path(os.path.realpath(root))
        if not plain.is_relative_to(root):
            return None
    return plain.relative_to(root).parts
