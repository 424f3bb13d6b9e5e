"""The data directory itself: whose it is, who can read it, room, and what was left lying."""

import os
import shutil
import stat
from pathlib import Path

from cloxy_core.runtime.lock import is_held, read_holder
from cloxy_core.runtime.paths import DataDirectory
from cloxy_core.runtime.wording import counted
from cloxy_core.services.doctor.findings import (
    SHOWN_DETAILS,
    Examined,
    Problem,
)
from cloxy_core.services.doctor.looking import abandoned, is_alive
from cloxy_core.services.holding import held_remedy, held_words
from cloxy_core.store.legacy.report import old_copies
from cloxy_core.store.reserve import MEBIBYTE, room
from cloxy_hookspecs import CloxyError

PART = "data directory"
_OTHERS = 0o077
# Only names that Cloxy gives: people keep files of their own here, too.
_LEFT = (
    "memory.db.new",
    "memory.db.new-*",
    "memory.db.recovering*",
    "memory.db.upgrading*",
    "backups/memory-*.db.partial",
)


def examine_directory(paths: DataDirectory) -> Examined:
    """Modes, owner, room, left files, and whether a server has it."""
    problems = [*_modes(paths.data), *_writable(paths.data), *_room(paths), *_left(paths)]
    problems += [*_held(paths.data), *_before_upgrades(paths.data)]
    return Examined(PART, f"{paths.data}; {_server(paths)}", tuple(problems))


def left_files(folder: Path) -> list[Path]:
    """Files and folders that a killed process left, which nobody needs any more."""
    files = [path for pattern in _LEFT for path in folder.glob(pattern)]
    return sorted({*files, *abandoned(folder)})


def running_server(paths: DataDirectory) -> str | None:
    """Who seems to have the data directory, in words; None when nobody."""
    holder = read_holder(paths.lock)
    if holder is None or holder.pid == os.getpid() or not is_alive(holder.pid):
        return None
    # Its number may be that of another process by now.
    if not is_held(paths.lock):
        return None
    where = f" at {holder.url}" if holder.url else ""
    return f"process {holder.pid}{where}"


def _server(paths: DataDirectory) -> str:
    holder = running_server(paths)
    return f"in use by {holder}" if holder else "no server runs"


def _modes(folder: Path) -> list[Problem]:
    if os.name != "posix":
        return []
    loose: list[Path] = []
    foreign: list[Path] = []
    for place, directories, files in os.walk(folder):
        for name in (".", *directories, *files):
            path = Path(os.path.normpath(Path(place, name)))
            try:
                found = path.lstat()
            except FileNotFoundError:
                continue
            if not (stat.S_ISDIR(found.st_mode) or stat.S_ISREG(found.st_mode)):
                continue
            if found.st_uid != os.geteuid():
                foreign.append(path)
            elif found.st_mode & _OTHERS:
                loose.append(path)
    problems = []
    if loose := sorted(set(loose)):
        problems.append(
            Problem(
                name="open-to-others",
                severity="error",
                message=f"{counted(len(loose), 'file or folder', 'files and folders')} can be "
                "read or changed by other users of this machine",
                count=len(loose),
                details=_named(loose),
                repair="takes the rights of others away",
            )
        )
    if foreign := sorted(set(foreign)):
        problems.append(
            Problem(
                name="foreign-owner",
                severity="error",
                message=f"{counted(len(foreign), 'file or folder', 'files and folders')} "
                "belong to another user",
                count=len(foreign),
                details=_named(foreign),
                remedy="give them to the user that runs Cloxy, with chown",
            )
        )
    return problems


def _writable(folder: Path) -> list[Problem]:
    if os.access(folder, os.W_OK):
        return []
    return [
        Problem(
            name="read-only",
            severity="error",
            message=f"{folder} cannot be written",
            remedy="check its permissions and the mount; nothing can be stored until then",
        )
    ]


def _room(paths: DataDirectory) -> list[Problem]:
    try:
        space = room(paths.data)
    except CloxyError as error:
        return [Problem(name="no-disk", severity="error", message=error.message)]
    problems = [
        Problem(
            name="little-room",
            severity="warning",
            message=words.removesuffix("."),
            remedy="make room on that disk",
        )
        for words in space.warnings()
    ]
    if paths.database.exists() and not paths.reserve.is_file():
        problems.append(
            Problem(
                name="no-reserve",
                severity="note",
                message="the space kept for a full disk is not there; the server makes it "
                f"again when more than {216 * MEBIBYTE // MEBIBYTE} MiB are free",
            )
        )
    return problems


def _left(paths: DataDirectory) -> list[Problem]:
    # A running server may be making a backup at this moment.
    folder = paths.data
    left = abandoned(folder) if running_server(paths) else left_files(folder)
    if not left:
        return []
    return [
        Problem(
            name="left-files",
            severity="warning",
            message=f"{counted(len(left), 'temporary file')} of a process that was killed",
            count=len(left),
            details=_named(left),
            repair="removes them",
        )
    ]


def _held(folder: Path) -> list[Problem]:
    words = held_words(folder)
    if words is None:
        return []
    return [
        Problem(
            name="logs-held-back",
            severity="warning",
            message=words,
            remedy=held_remedy(folder),
        )
    ]


def _before_upgrades(folder: Path) -> list[Problem]:
    """Copies of databases of Cloxy 5 and earlier, which hold what was taken out since."""
    kept = old_copies(folder / "backups")
    if not kept:
        return []
    return [
        Problem(
            name="kept-before-upgrade",
            severity="note",
            message=f"{counted(len(kept), 'copy', 'copies')} of a database from before its "
            "upgrade, with every secret that stood in it",
            count=len(kept),
            details=_named(kept),
            remedy="remove it when you are sure that you do not want to go back",
        )
    ]


def _named(paths: list[Path]) -> tuple[str, ...]:
    return tuple(str(path) for path in paths[:SHOWN_DETAILS])


def remove_left(folder: Path) -> int:
    """Remove what a killed process left; how many files and folders."""
    left = left_files(folder)
    for path in left:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    return len(left)
