"""Which file system a folder lies on; SQLite's log needs memory that all its users share."""

import os
from pathlib import Path
from typing import Final

_MOUNTS: Final = Path("/proc/self/mountinfo")
_NETWORK: Final = frozenset(
    {
        "9p",
        "afs",
        "beegfs",
        "ceph",
        "cifs",
        "davfs",
        "fhgfs",
        "glusterfs",
        "gpfs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
        "smb2",
        "smb3",
        "smbfs",
        "vboxsf",
        "virtiofs",
    }
)
_LOCAL_FUSE: Final = frozenset({"fuseblk", "fuse.portal"})


def file_system(folder: Path, mounts: Path = _MOUNTS) -> str:
    """The type of the file system of a folder, as Linux names it; empty when unknown."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return ""
    place = os.path.realpath(folder)
    best, name = -1, ""
    for line in lines:
        fields, _, described = line.partition(" - ")
        point = _unescape(fields.split(" ")[4])
        inside = place == point or place.startswith(point.rstrip("/") + "/")
        # Of two mounts on one place the later one is on top.
        if inside and len(point) >= best:
            best, name = len(point), described.split(" ")[0]
    return name


def is_shared(name: str) -> bool:
    """Tell whether a type of file system is one that other machines may write to."""
    return name in _NETWORK or (name.startswith("fuse") and name not in _LOCAL_FUSE)


def warnings(folder: Path) -> tuple[str, ...]:
    """What `status` says about the place of the data directory."""
    name = file_system(folder)
    if not is_shared(name):
        return ()
    return (
        f"The data directory is on a network or shared file system ({name}), where SQLite can "
        "damage a database; set CLOXY_DATA_DIR to a local disk.",
    )


def _unescape(point: str) -> str:
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        point = point.replace(code, character)
    return point
