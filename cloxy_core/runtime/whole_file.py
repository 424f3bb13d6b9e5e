"""Replacing a small file in one step, for whoever loads nothing but the standard library."""

import os
import secrets
from pathlib import Path


def replace_file(path: Path, contents: bytes, mode: int) -> None:
    """Write a file whole or not at all; what was there before stays until it is.

    Args:
        path: the file; its folder exists.
        contents: all of it, byte for byte.
        mode: rights of the file, of which the process's mask takes some.

    Raises:
        OSError: it cannot be written.
    """
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    for name in ("O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"):
        flags |= getattr(os, name, 0)
    try:
        with os.fdopen(os.open(draft, flags, mode), "wb") as file:
            file.write(contents)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
