"""Where files of models lie, and what is known of them: a folder for each repository."""

import contextlib
import errno
import json
import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cloxy_core.local_models.catalogue import ModelFormat
from cloxy_core.runtime.lock_file import try_lock
from cloxy_core.runtime.paths import PRIVATE_DIRECTORY, PRIVATE_FILE
from cloxy_core.runtime.whole_file import replace_file
from cloxy_hookspecs.errors import ConfigError, ConflictError, StoreFullError

FOLDER: Final = "models"
MANIFEST: Final = "cloxy-model.json"
LOCK: Final = ".cloxy-download.lock"
SPARE_BYTES: Final = 500_000_000
"""What stays free on the disk behind a download."""
_MAX_MANIFEST: Final = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A file that was downloaded and checked.

    Attributes:
        path: its name below the folder.
        size: bytes.
        digest: of its contents, in hexadecimal digits.
        kind: `sha256`, or `git-sha1` for a small file.
    """

    path: str
    size: int
    digest: str
    kind: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a folder holds.

    Attributes:
        repo: id of the repository.
        commit: its commit.
        licence: as its page names it.
        format: form of the model.
        files: the files that make it.
    """

    repo: str
    commit: str
    licence: str
    format: ModelFormat
    files: tuple[KnownFile, ...]


def model_folder(data_dir: Path, name: str) -> Path:
    """The folder of a repository, made if there is none; nobody else can read it.

    Raises:
        ConfigError: it cannot be made, or is a link or no folder.
    """
    folder = data_dir / FOLDER / name
    for each in (folder.parent, folder):
        make_folder(each)
    return folder


def make_folder(path: Path) -> None:
    """Make a private folder unless it is there.

    Raises:
        ConfigError: it cannot be made, or is a link or no folder.
    """
    try:
        path.mkdir(mode=PRIVATE_DIRECTORY, exist_ok=True)
        mode = path.lstat().st_mode
    except OSError as error:
        raise ConfigError(
            f"the folder {path} cannot be made: {error.strerror or error}",
            hint="check whose it is and whether the disk is read-only",
        ) from error
    if not stat.S_ISDIR(mode):
        raise ConfigError(f"{path} is no folder of its own", hint="move it away")


@contextlib.contextmanager
def only_download(folder: Path) -> Iterator[None]:
    """Let no second program download into a folder.

    Raises:
        ConflictError: one does.
    """
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    descriptor = os.open(folder / LOCK, flags, PRIVATE_FILE)
    try:
        if not try_lock(descriptor):
            raise ConflictError(
                f"another `cloxy init` downloads into {folder} at this moment",
                hint="wait for its end",
            )
        yield
    finally:
        os.close(descriptor)


def check_room(folder: Path, needed: int) -> None:
    """Make sure that so many bytes find room, with something left behind.

    Raises:
        StoreFullError: they do not.
    """
    free = shutil.disk_usage(folder).free
    if needed + SPARE_BYTES > free:
        raise StoreFullError(
            f"{needed / 1e9:.1f} GB are to be downloaded and {free / 1e9:.1f} GB are free at "
            f"{folder}",
            hint="free some space, choose a smaller model, or set CLOXY_DATA_DIR to another disk",
        )


@contextlib.contextmanager
def disk_errors_told(folder: Path) -> Iterator[None]:
    """Turn what goes wrong with a disk into words.

    Raises:
        StoreFullError: it is full.
        ConfigError: something else is wrong with it.
    """
    try:
        yield
    except OSError as error:
        if error.errno in {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}:
            raise StoreFullError(
                f"the disk of {folder} is full",
                hint="free some space, then run the same command again; what came is kept",
            ) from error
        raise ConfigError(
            f"{error.filename or folder} cannot be used: {error.strerror or error}",
            hint="check whose it is and whether the disk is well",
        ) from error


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Note what a folder holds; files of another choice of the same commit stay noted."""
    before = read_manifest(folder)
    files = {file.path: file for file in manifest.files}
    if before is not None and before.commit == manifest.commit:
        files = {file.path: file for file in before.files} | files
    contents = {
        "repo": manifest.repo,
        "commit": manifest.commit,
        "licence": manifest.licence,
        "format": manifest.format,
        "files": [
            {"path": each.path, "size": each.size, "digest": each.digest, "kind": each.kind}
            for each in files.values()
        ],
    }
    replace_file(folder / MANIFEST, (json.dumps(contents, indent=2) + "\n").encode(), PRIVATE_FILE)


def read_manifest(folder: Path) -> Manifest | None:
    """What a folder holds; None when nothing is noted, or the note is damaged."""
    try:
        with (folder / MANIFEST).open("rb") as file:
            found = json.loads(file.read(_MAX_MANIFEST))
        kind: ModelFormat = "mlx" if found["format"] == "mlx" else "gguf"
        return Manifest(
            repo=str(found["repo"]),
            commit=str(found["commit"]),
            licence=str(found["licence"]),
            format=kind,
            files=tuple(
                KnownFile(
                    path=str(each["path"]),
                    size=int(each["size"]),
                    digest=str(each["digest"]),
                    kind=str(each["kind"]),
                )
                for each in found["files"]
            ),
        )
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def missing_or_short(folder: Path, files: Sequence[KnownFile]) -> tuple[str, ...]:
    """Names of files that are not there or have another size than they should."""
    return tuple(each.path for each in files if size_of(folder / each.path) != each.size)


def size_of(path: Path) -> int | None:
    """Bytes of a real file; None when there is none."""
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) else None
