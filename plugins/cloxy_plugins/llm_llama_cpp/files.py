"""GGUF files: one, or several that are one model."""

import re
from pathlib import Path

_SHARD = re.compile(r"(?P<stem>.*)-\d{5}-of-(?P<count>\d{5})\.gguf")
_PROJECTOR = "mmproj"
"""In the names of files that go with a model, and are none."""


def file_of(path: Path) -> Path | None:
    """The file to load: a file itself, or the first model in a folder; None without one."""
    if path.is_file():
        return path
    found = sorted(file for file in path.glob("*.gguf") if _PROJECTOR not in file.name.lower())
    return found[0] if found else None


def size_of(path: Path) -> int:
    """Bytes of a model, all its files together."""
    shard = _SHARD.fullmatch(path.name)
    if shard is None:
        return path.stat().st_size
    return sum(
        file.stat().st_size
        for file in path.parent.iterdir()
        if (other := _SHARD.fullmatch(file.name))
        and (other["stem"], other["count"]) == (shard["stem"], shard["count"])
    )
