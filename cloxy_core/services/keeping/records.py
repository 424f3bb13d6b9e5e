"""Where a person put copies of the memory: a list in the data directory, one line a copy.

A file and no table, since backups and exports are made while another process writes the database,
and since the list must outlive a database that is replaced.
"""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from cloxy_core.runtime.paths import PRIVATE_FILE

FILE: Final = "copies.jsonl"
CopyKind = Literal["backup", "export"]


@dataclass(frozen=True, slots=True)
class KnownCopy:
    """A backup or an export that a person made.

    Attributes:
        kind: which of them.
        path: where it was put.
        at: when, milliseconds.
    """

    kind: CopyKind
    path: Path
    at: int


def note_copy(data: Path, copy: KnownCopy) -> None:
    """Add a copy to the list.

    Raises:
        OSError: the list cannot be written.
    """
    line = json.dumps({"kind": copy.kind, "path": str(copy.path), "at": copy.at})
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
    file = os.open(data / FILE, flags | getattr(os, "O_CLOEXEC", 0), PRIVATE_FILE)
    try:
        os.write(file, line.encode() + b"\n")
    finally:
        os.close(file)


def known_copies(data: Path) -> Sequence[KnownCopy]:
    """The copies that are still where they were put, each once, as it was made last."""
    try:
        lines = (data / FILE).read_text("utf-8", "replace").splitlines()
    except OSError:
        return ()
    found: dict[Path, KnownCopy] = {}
    for line in lines:
        copy = _read(line)
        if copy is not None and os.path.lexists(copy.path):
            found[copy.path] = copy
    return list(found.values())


def _read(line: str) -> KnownCopy | None:
    try:
        value = json.loads(line)
        kind, path, at = value["kind"], Path(value["path"]), int(value["at"])
    except (ValueError, TypeError, KeyError):
        return None
    return KnownCopy(kind, path, at) if kind in ("backup", "export") else None
