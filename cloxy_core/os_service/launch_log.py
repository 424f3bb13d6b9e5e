"""The two streams of a server that has no terminal: one small file, kept small.

The server has its own log. Here is what it prints when it starts or refuses to, and what a library
or a plugin prints against all manners, for however long that goes on.
"""

import errno
import os
import stat
import sys
import threading
from pathlib import Path
from typing import Final

FILE_NAME: Final = "launch.log"
OLDER_NAME: Final = "launch.log.1"
LIMIT_BYTES: Final = 256 * 1024
_LOOK_SECONDS: Final = 20.0
_FILE_MODE: Final = 0o600
_FOLDER_MODE: Final = 0o700


def launch_log(data_dir: Path) -> Path:
    """Where the streams of a server without a terminal go."""
    return data_dir / "logs" / FILE_NAME


def redirect_streams(data_dir: Path) -> Path:
    """Send both streams of this process to the launch log, and keep that file small from now on.

    Raises:
        OSError: the file cannot be opened, or it or its folder is a link.
    """
    path = launch_log(data_dir)
    make_folder(path.parent)
    _put_away(path)
    descriptor = open_launch_log(path)
    for number in (1, 2):
        os.dup2(descriptor, number)
    os.close(descriptor)
    _rebuild_streams()
    keeper = threading.Thread(target=_keep_small, name="cloxy launch log", daemon=True)
    keeper.start()
    return path


def make_folder(folder: Path) -> None:
    """Have the folder of the log, and see that it is one; a link may lead anywhere.

    Raises:
        OSError: it cannot be made, or is a link.
    """
    if folder.is_symlink():
        raise OSError(errno.ELOOP, "it is a link, not a folder; remove the link", str(folder))
    folder.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)


def open_launch_log(path: Path) -> int:
    """Open for appending, so that a cut file is written on from its new end."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    descriptor = os.open(path, flags, _FILE_MODE)
    if hasattr(os, "fchmod"):
        os.fchmod(descriptor, _FILE_MODE)
    return descriptor


def _put_away(path: Path) -> None:
    """Begin a new file when the old one has its size."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if stat.S_ISREG(found.st_mode) and found.st_size > LIMIT_BYTES // 2:
        path.replace(path.with_name(OLDER_NAME))


def _rebuild_streams() -> None:
    """Give a process that began without streams (`pythonw.exe`) some."""
    for number, name in ((1, "stdout"), (2, "stderr")):
        if getattr(sys, name) is None:
            stream = os.fdopen(
                number, "w", encoding="utf-8", errors="backslashreplace", closefd=False
            )
            setattr(sys, name, stream)


def _keep_small() -> None:
    never = threading.Event()
    while not never.wait(_LOOK_SECONDS):
        cut_if_large()


def cut_if_large(limit: int = LIMIT_BYTES) -> bool:
    """Empty the file behind standard error when it has grown beyond a limit; whether it was."""
    if os.fstat(2).st_size <= limit:
        return False
    os.ftruncate(2, 0)
    os.write(2, b"(what stood here was cut, because it was too much)\n")
    return True
